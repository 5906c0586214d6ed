import type { Point } from "#src/domain/geo.ts";

/**
 * Reads an encoded polyline of five decimals (Google's format, as most routers give it). Null when the text is
 * no polyline, or a point is out of range.
 */
export function decodePolyline(text: string): Point[] | null {
  const numbers = readNumbers(text);
  if (numbers === null || numbers.length % 2 !== 0) return null;
  const points: Point[] = [];
  let [lat, lon] = [0, 0];
  for (let i = 0; i < numbers.length; i += 2) {
    lat += numbers[i]!;
    lon += numbers[i + 1]!;
    if (Math.abs(lat) > 90 * scale || Math.abs(lon) > 180 * scale) return null;
    points.push({ lat: lat / scale, lon: lon / scale });
  }
  return points;
}

const scale = 1e5;
/** 360° take 26 bits and one for the sign: six characters of five bits. */
const longest = 6;

/** Differences: five bits a character, the lowest first, the sixth bit says that more follow; the sign is the last bit. */
function readNumbers(text: string): number[] | null {
  const numbers: number[] = [];
  let value = 0;
  let count = 0;
  for (let i = 0; i < text.length; i += 1) {
    const bits = text.charCodeAt(i) - 63;
    if (bits < 0 || bits > 63 || count === longest) return null;
    value |= (bits & 31) << (5 * count);
    count += 1;
    if (bits >= 32) continue;
    numbers.push(value & 1 ? ~(value >> 1) : value >> 1);
    value = count = 0;
  }
  return count === 0 ? numbers : null;
}
