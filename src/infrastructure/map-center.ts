/** A point and the zoom to show it at. */
export interface Center {
  lat: number;
  lon: number;
  zoom: number;
}

/** Reads `lat,lon,zoom` (degrees; zoom 0 to 22); null for anything else. */
export function parseCenter(text: string): Center | null {
  const parts = text.split(",").map((part) => part.trim());
  if (parts.length !== 3 || !parts.every((part) => /^-?\d+(\.\d+)?$/.test(part))) return null;
  const [lat = 0, lon = 0, zoom = 0] = parts.map(Number);
  const fits = Math.abs(lat) <= 90 && Math.abs(lon) <= 180 && zoom >= 0 && zoom <= 22;
  return fits ? { lat, lon, zoom } : null;
}
