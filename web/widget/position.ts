import { signal } from "@preact/signals";
import { minuteMs } from "#src/domain/units.ts";
import { page } from "#web/widget/page.ts";

/** The viewer's position, as the browser says it. */
export interface Position {
  lat: number;
  lon: number;
  accM: number;
}

/** The last position that was asked for. */
export const position = signal<Position | null>(null);

/** False where the page around the map does not let it ask: a button for it would only say no. */
export const mayLocate = signal(isAllowed());

function isAllowed(): boolean {
  if (navigator.geolocation === undefined) return false;
  const { featurePolicy } = document as { featurePolicy?: FeaturePolicy };
  if (featurePolicy !== undefined) return featurePolicy.allowsFeature("geolocation");
  // Without that policy, browsers answer in a frame as if the viewer had refused.
  if (page.framed)
    navigator.permissions
      ?.query({ name: "geolocation" })
      .then(({ state }) => (mayLocate.value = state !== "denied"))
      .catch(() => {});
  return true;
}

interface FeaturePolicy {
  allowsFeature(name: string): boolean;
}

export type Located = Position | "denied" | "unknown";

const patienceMs = 10_000;
const freshMs = 30_000;
const markPatienceMs = 3000;
const goodForMarkMs = 2 * minuteMs;
let foundAt = 0;

/** Asks the browser where it is; the viewer may refuse, or never answer: then it is unknown after a while. */
export function locate(waitMs = patienceMs * 2): Promise<Located> {
  return new Promise((done) => {
    if (navigator.geolocation === undefined) return done("unknown");
    const timer = setTimeout(() => done("unknown"), waitMs);
    navigator.geolocation.getCurrentPosition(
      ({ coords }) => {
        clearTimeout(timer);
        const found = { lat: coords.latitude, lon: coords.longitude, accM: coords.accuracy };
        position.value = found;
        foundAt = Date.now();
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

/** The state of the question for a mark's position. */
export const markPosition = signal<"asking" | "found" | "denied" | "without">("without");
let asked: Promise<void> = Promise.resolve();

/** Asks where the viewer is as soon as a mark is begun: three seconds, then it goes without. */
export function askForMark(): void {
  markPosition.value = "asking";
  asked = locate(markPatienceMs).then((found) => {
    markPosition.value = found === "denied" ? "denied" : found === "unknown" ? "without" : "found";
  });
}

/** The position that `askForMark` has found, even after its three seconds; null without one. */
export async function positionForMark(): Promise<Position | null> {
  await asked;
  return Date.now() - foundAt < goodForMarkMs ? position.value : null;
}
