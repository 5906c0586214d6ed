import { dayMs } from "#src/domain/units.ts";
import { ask } from "#web/widget/api.ts";
import { cooldowns } from "#web/widget/cooldown.ts";
import { keptByStation } from "#web/widget/kept-by-station.ts";
import { recall, remember } from "#web/kit/storage.ts";

const name = "device";

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
  ownMarks.forget();
  takenBack.forget();
  cooldowns.forget();
  return true;
}

/** Stations at which a mark of this device was taken back (decisions 15.35), until that may be done again. */
export const takenBack = keptByStation<TakenBack>("taken-back");

interface TakenBack {
  /** When, ms by the service's clock; 0 where it was too late for it. */
  atMs: number;
  untilMs: number;
}

/** Marks of this device on stations, for 24 hours. */
const ownMarks = keptByStation<OwnMark>("marks");

interface OwnMark {
  status: string;
  id: string;
  untilMs: number;
  /** The one before it, which still stands when this one is refused. */
  before: OwnMark | null;
}

/** Notes a mark by its id in the outbox, before it is sent: no page may be there when it arrives. */
export function noteOwnMark(stationId: string, status: string, id: string): void {
  const known = ownMarks.of(stationId);
  const before = known === null || known.id === id ? null : { ...known, before: null };
  const untilMs = Date.now() + dayMs;
  ownMarks.keep(stationId, { status, id, untilMs, before: before ?? known?.before ?? null });
}

/** Forgets the mark of this device on a station that was taken back, or the one of that id, which was refused. */
export function forgetOwnMark(stationId: string, id?: string): void {
  const known = ownMarks.of(stationId);
  if (id !== undefined && known?.id !== id) return;
  const before = id === undefined ? null : (known?.before ?? null);
  if (before === null) ownMarks.drop(stationId);
  else ownMarks.keep(stationId, { ...before, before: null });
}

/** Whether this device has said that about the station in the last 24 hours. */
export const isOwnMark = (stationId: string, status: string): boolean =>
  ownMarks.of(stationId)?.status === status;
