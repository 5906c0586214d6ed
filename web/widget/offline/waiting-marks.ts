import { dayMs, minuteMs } from "#src/domain/units.ts";
import type { Status } from "#src/domain/vocabulary.ts";
import { database } from "#web/widget/offline/database.ts";
import type { Refused, Told } from "#web/widget/told.ts";

/** A mark from when it is said until it has arrived, in the browser's own database (docs/decisions.md 15.21). */
export interface WaitingEntry {
  /** Random; the service takes a mark of this id once. */
  id: string;
  stationId: string;
  /** Of the station, for the viewer. */
  title: string;
  status: Status;
  what: "report" | "confirm";
  /** Without what it is sent with. */
  body: object;
  /** The API's address and key, for the service worker, which has no page. */
  api: string;
  key: string;
  /** When it was said, by the service's clock, ms. */
  saidAt: number;
  /** Nobody but the page in which it was said may send it before, ms by this browser's clock. */
  notBefore: number;
  tries: number;
  /** Why it will not be taken; it stays until the viewer has seen that. */
  refused: Refused | null;
}

/** What else a mark is sent with. */
export interface Sent {
  path: string;
  body: object;
}

const lateMs = minuteMs;
const countsMs = dayMs;
const tooOld: Refused = {
  ...{ kind: "refused", status: 422, code: "too-old", window: "", retryAfterS: null },
};
// In place of a database, where there is none: for as long as the page is open.
const memory = new Map<string, WaitingEntry>();

/** All that wait or were refused, the oldest first. */
export async function allEntries(): Promise<WaitingEntry[]> {
  const stored = await database()
    .then((db) => db.getAll("marks"))
    .catch(() => []);
  return [...stored, ...memory.values()].sort((a, b) => a.saidAt - b.saidAt);
}

export async function putEntry(entry: WaitingEntry): Promise<void> {
  try {
    await (await database()).put("marks", entry);
  } catch {
    memory.set(entry.id, entry);
  }
}

export async function dropEntry(id: string): Promise<void> {
  memory.delete(id);
  await database()
    .then((db) => db.delete("marks", id))
    .catch(() => {});
}

async function findEntry(id: string): Promise<WaitingEntry | undefined> {
  const stored = await database()
    .then((db) => db.get("marks", id))
    .catch(() => undefined);
  return stored ?? memory.get(id);
}

/**
 * Sends a mark that waits, in one tab or worker at a time. What has arrived goes; what will not be taken is kept as
 * refused; anything else goes on waiting. Undefined when it does not wait any more: another tab has sent it, or the
 * viewer has dropped it.
 *
 * @param post asks the API; never rejects
 */
export function attempt<T>(
  id: string,
  now: () => number,
  post: (entry: WaitingEntry, sent: Sent) => Promise<Told<T>>,
): Promise<Told<T> | undefined> {
  return alone(`fuelmark mark ${id}`, async () => {
    const entry = await findEntry(id);
    if (entry === undefined || entry.refused !== null) return undefined;
    const tried = { ...entry, tries: entry.tries + 1 };
    await putEntry(tried);
    const isOld = now() - entry.saidAt > countsMs;
    const told = isOld ? tooOld : await post(tried, sentOf(tried, now()));
    if (told.kind === "ok") await dropEntry(id);
    else if (told.kind === "refused" && isFinal(told)) await putEntry({ ...tried, refused: told });
    return told;
  });
}

/**
 * A second try, or a late one, carries its time, and is a report also where a pending status was confirmed: that has
 * not to be pending any more, but what the driver saw stays.
 */
export function sentOf(entry: WaitingEntry, now: number): Sent {
  const { id, stationId, what, body, tries, saidAt } = entry;
  const isLate = tries > 1 || now - saidAt > lateMs;
  return {
    path: `/widget/stations/${encodeURIComponent(stationId)}/${isLate ? "report" : what}`,
    body: {
      ...body,
      external_id: id,
      ...(isLate ? { observed_at: new Date(saidAt).toISOString() } : {}),
    },
  };
}

/** False where the same mark may be taken later: the service is away or busy, or its key is just being changed. */
export const isFinal = ({ status, code }: Refused): boolean =>
  status < 500 &&
  ![401, 403, 408].includes(status) &&
  !["rate-limit-exceeded", "daily-quota-exceeded"].includes(code) &&
  // Without a code it is the word of somebody in between.
  code !== "";

/** Browsers have locks on safe addresses alone; elsewhere the ids see to it that nothing counts twice. */
const alone = <T>(name: string, work: () => Promise<T>): Promise<T> =>
  "locks" in navigator ? (navigator.locks.request(name, work) as Promise<T>) : work();
