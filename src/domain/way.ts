import { type Box, boxAround, distanceM, type Point, wrapLongitude } from "#src/domain/geo.ts";

/** Longest piece for which the globe is flat enough: the error is below a hundredth of the distance. */
const pieceM = 10_000;

/** A straight piece of the way. `fromM`: metres from the beginning. */
interface Stretch {
  a: Point;
  b: Point;
  fromM: number;
  lengthM: number;
}

/** Length of a line, metres. */
export const lengthOf = (line: readonly Point[]): number =>
  line.reduce((sum, point, i) => sum + (i === 0 ? 0 : distanceM(line[i - 1]!, point)), 0);

/** The pieces of a line, each at most `longestM` long. */
export function* stretchesOf(line: readonly Point[], longestM = pieceM): Generator<Stretch> {
  let fromM = 0;
  for (let i = 1; i < line.length; i += 1) {
    const [from, to] = [line[i - 1]!, line[i]!];
    const wholeM = distanceM(from, to);
    const count = Math.max(1, Math.ceil(wholeM / longestM));
    const at = (part: number): Point => ({
      lat: from.lat + (to.lat - from.lat) * part,
      lon: wrapLongitude(from.lon + wrapLongitude(to.lon - from.lon) * part),
    });
    for (let n = 0; n < count; n += 1) {
      const lengthM = wholeM / count;
      yield { a: at(n / count), b: at((n + 1) / count), fromM, lengthM };
      fromM += lengthM;
    }
  }
}

/** The rectangle around both ends and their surroundings; longer by a hundredth, because the measure is not exact. */
export function boxOf({ a, b }: Stretch, bufferM: number): Box {
  const [first, last] = wrapLongitude(b.lon - a.lon) >= 0 ? [a, b] : [b, a];
  const [left, right] = [boxAround(first, bufferM * 1.01), boxAround(last, bufferM * 1.01)];
  const isWhole = (box: Box): boolean => box.west === -180 && box.east === 180;
  const round = isWhole(left) || isWhole(right);
  return {
    south: Math.min(left.south, right.south),
    north: Math.max(left.north, right.north),
    west: round ? -180 : left.west,
    east: round ? 180 : right.east,
  };
}

const metresPerDegree = distanceM({ lat: 0, lon: 0 }, { lat: 1, lon: 0 });

/** Gives the place on the stretch nearest to a point, and its distance, on a plane. */
export function measureFrom({ a, b, fromM, lengthM }: Stretch) {
  const narrow = Math.cos((((a.lat + b.lat) / 2) * Math.PI) / 180);
  const x = (lon: number): number => wrapLongitude(lon - a.lon) * narrow * metresPerDegree;
  const y = (lat: number): number => (lat - a.lat) * metresPerDegree;
  const [bx, by] = [x(b.lon), y(b.lat)];
  const square = bx * bx + by * by;
  return (lat: number, lon: number): { atM: number; offM: number } => {
    const [px, py] = [x(lon), y(lat)];
    const part = square === 0 ? 0 : Math.min(1, Math.max(0, (px * bx + py * by) / square));
    return { atM: fromM + part * lengthM, offM: Math.hypot(px - part * bx, py - part * by) };
  };
}
