import { dayMs } from "#src/domain/units.ts";
import { recall, remember } from "#web/kit/storage.ts";

const name = "device";
const marksName = "marks";
const rememberedMs = dayMs;

/** This browser's anonymous id: random, told to nobody but the service, which keeps only a hash of it. */
export function deviceId(): string {
  const known = recall(name);
  if (known !== null) return known;
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const id = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  remember(name, id);
  return id;
}

interface OwnMark {
  status: string;
  at: number;
}

/** Notes what this device has said about a station. */
export function noteOwnMark(stationId: string, status: string): void {
  remember(marksName, JSON.stringify({ ...ownMarks(), [stationId]: { status, at: Date.now() } }));
}

/** Whether this device has said that about the station in the last 24 hours. */
export const isOwnMark = (stationId: string, status: string): boolean =>
  ownMarks()[stationId]?.status === status;

function ownMarks(): Record<string, OwnMark> {
  try {
    const known = JSON.parse(recall(marksName) ?? "{}") as Record<string, OwnMark>;
    const since = Date.now() - rememberedMs;
    return Object.fromEntries(Object.entries(known).filter(([, { at }]) => at > since));
  } catch {
    return {};
  }
}
