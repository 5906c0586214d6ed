export interface Point {
  lat: number;
  lon: number;
}

const earthRadiusM = 6_371_008.8;
const radians = (degrees: number): number => (degrees * Math.PI) / 180;

/** Great-circle distance in metres (haversine). */
export function distanceM(a: Point, b: Point): number {
  const dLat = radians(b.lat - a.lat);
  const dLon = radians(b.lon - a.lon);
  const h =
    Math.sin(dLat / 2) ** 2 +
    Math.cos(radians(a.lat)) * Math.cos(radians(b.lat)) * Math.sin(dLon / 2) ** 2;
  return 2 * earthRadiusM * Math.asin(Math.min(1, Math.sqrt(h)));
}

/** A place as a point of the unit sphere: x, y, z. */
export function directionOf({ lat, lon }: Point): [x: number, y: number, z: number] {
  const around = Math.cos(radians(lat));
  const east = radians(lon);
  return [around * Math.cos(east), around * Math.sin(east), Math.sin(radians(lat))];
}

/** Tests whether a direction is within `radiusM` of `centre`, with the result of `distanceM` at a lower cost. */
export function circleAround(
  centre: Point,
  radiusM: number,
): (x: number, y: number, z: number) => boolean {
  const [toX, toY, toZ] = directionOf(centre);
  const least = Math.cos(Math.min(Math.PI, radiusM / earthRadiusM));
  return (x, y, z) => x * toX + y * toY + z * toZ >= least;
}

/** A rectangle; west > east when it crosses 180°. */
export interface Box {
  south: number;
  west: number;
  north: number;
  east: number;
}

/** The smallest rectangle that holds the circle around `centre`; crosses 180° and covers a pole where it must. */
export function boxAround(centre: Point, radiusM: number): Box {
  const dLat = ((radiusM / earthRadiusM) * 180) / Math.PI;
  const south = Math.max(-90, centre.lat - dLat);
  const north = Math.min(90, centre.lat + dLat);
  const sine = Math.sin(radiusM / earthRadiusM) / Math.cos(radians(centre.lat));
  if (south === -90 || north === 90 || sine >= 1) return { south, west: -180, north, east: 180 };
  const dLon = (Math.asin(sine) * 180) / Math.PI;
  const [west, east] = [wrapLongitude(centre.lon - dLon), wrapLongitude(centre.lon + dLon)];
  return { south, west, north, east };
}

/** Degrees of longitude from -180 to 180. */
export const wrapLongitude = (lon: number): number =>
  lon < -180 ? lon + 360 : lon > 180 ? lon - 360 : lon;
