import { dayMs } from "#src/domain/units.ts";
import { ask } from "#web/widget/api.ts";
import { forgetCooldowns } from "#web/widget/cooldown.ts";
import { recall, remember } from "#web/kit/storage.ts";

const name = "device";
const marksName = "marks";
const rememberedMs = dayMs;

/** This browser's anonymous id: random, told to nobody but the service, which keeps only a hash of it. */
export function deviceId(): string {
  const known = recall(name);
  if (known !== null) return known;
  const id = randomId();
  remember(name, id);
  return id;
}

/** 128 random bits in hex. */
export function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * Has the service erase this device, then forgets its id and its marks here (decisions 19.5): the next mark is
 * somebody else's. False when the service could not be asked: the id stays, because without it nobody could ask again.
 */
export async function forgetDevice(): Promise<boolean> {
  const device = recall(name);
  if (device !== null) {
    const told = await ask("/widget/forget", { body: { device } });
    if (told.kind !== "ok") return false;
  }
  remember(name, null);
  remember(marksName, null);
  remember("taken-back", null);
  forgetCooldowns();
  return true;
}

interface OwnMark {
  status: string;
  at: number;
}

/** Notes a mark of this device on a station. */
export function noteOwnMark(stationId: string, status: string): void {
  remember(marksName, JSON.stringify({ ...ownMarks(), [stationId]: { status, at: Date.now() } }));
}

/** Forgets a mark of this device on a station: it was taken back. */
export function forgetOwnMark(stationId: string): void {
  const { [stationId]: _gone, ...others } = ownMarks();
  remember(marksName, JSON.stringify(others));
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
