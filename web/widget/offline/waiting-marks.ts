import { dayMs } from "#src/domain/units.ts";
import { database } from "#web/widget/offline/database.ts";
import {
  isFinal,
  isOutdated,
  type Sent,
  sentOf,
  type WaitingEntry,
} from "#web/widget/offline/waiting-entry.ts";
import type { Refused, Told } from "#web/widget/told.ts";

const countsMs = dayMs;
const tooOld: Refused = {
  ...{ kind: "refused", status: 422, code: "too-old", window: "", retryAfterS: null },
};
// Stands in for a missing database, for as long as the page is open.
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
 * Sends a mark that waits, in one tab or worker at a time. A mark that has arrived is dropped; one that will not be
 * taken is kept as refused; any other goes on waiting. Undefined when it does not wait any more: another tab has sent
 * it, the viewer has dropped it, or a newer one goes before it and takes its place.
 *
 * @param post asks the API; never rejects
 */
export function attempt<T>(
  id: string,
  post: (entry: WaitingEntry, sent: Sent) => Promise<Told<T>>,
): Promise<Told<T> | undefined> {
  return alone(`fuelmark mark ${id}`, async () => {
    const entry = await findEntry(id);
    if (entry === undefined || entry.refused !== null) return undefined;
    // It waits for what becomes of the newer one.
    if (isOutdated(entry, await allEntries(), Date.now())) return undefined;
    const tried = { ...entry, tries: entry.tries + 1 };
    await putEntry(tried);
    const now = Date.now() + (entry.aheadMs ?? 0);
    const isOld = entry.what !== "suggest" && now - entry.saidAt > countsMs;
    const told = isOld ? tooOld : await post(tried, sentOf(tried, now));
    if (told.kind === "ok") {
      for (const one of await allEntries())
        if (isOutdated(one, [tried], Date.now())) await dropEntry(one.id);
      await dropEntry(id);
    } else if (told.kind === "refused" && isFinal(told))
      await putEntry({ ...tried, refused: told });
    return told;
  });
}

/** Browsers have locks on safe addresses alone; elsewhere the ids see to it that nothing counts twice. */
const alone = <T>(name: string, work: () => Promise<T>): Promise<T> =>
  "locks" in navigator ? (navigator.locks.request(name, work) as Promise<T>) : work();
