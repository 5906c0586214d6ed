import { signal } from "@preact/signals";

/** Where the viewer is, as the browser says. */
export interface Position {
  lat: number;
  lon: number;
  accM: number;
}

/** The last position that was asked for. */
export const position = signal<Position | null>(null);

export type Located = Position | "denied" | "unknown";

const patienceMs = 10_000;
const freshMs = 30_000;

/** Asks the browser where it is; the viewer may refuse. */
export function locate(): Promise<Located> {
  return new Promise((done) => {
    if (navigator.geolocation === undefined) return done("unknown");
    // A question that the viewer never answers must not hold up a mark.
    const timer = setTimeout(() => done("unknown"), patienceMs * 2);
    navigator.geolocation.getCurrentPosition(
      ({ coords }) => {
        clearTimeout(timer);
        const found = { lat: coords.latitude, lon: coords.longitude, accM: coords.accuracy };
        position.value = found;
        done(found);
      },
      ({ code, PERMISSION_DENIED }) => {
        clearTimeout(timer);
        done(code === PERMISSION_DENIED ? "denied" : "unknown");
      },
      { enableHighAccuracy: true, timeout: patienceMs, maximumAge: freshMs },
    );
  });
}
