import { computed, signal } from "@preact/signals";
import { minuteMs } from "#src/domain/units.ts";
import { ask, serverNow } from "#web/widget/api.ts";
import { deviceId, forgetOwnMark, randomId } from "#web/widget/device.ts";
import { heldStation } from "#web/widget/loader.ts";
import { type Arrived, channelName, syncTag } from "#web/widget/offline/background-sync.ts";
import { allEntries, attempt, dropEntry, putEntry } from "#web/widget/offline/waiting-marks.ts";
import type { WaitingEntry } from "#web/widget/offline/waiting-entry.ts";
import { page } from "#web/widget/page.ts";
import type { Said } from "#web/widget/sending.ts";
import { stationName } from "#web/widget/station-name.ts";
import type { Report, Told } from "#web/widget/told.ts";

// Longer than it can be undone and a position is asked for.
const ownPageMs = 20_000;
const retryMs = minuteMs;

const entries = signal<readonly WaitingEntry[]>([]);
const underWay = new Set<string>();
/** Marks that wait for the network, and those that were refused while nobody looked; the oldest first. */
export const outbox = computed(() =>
  entries.value.filter(({ tries, refused }) => tries > 0 || refused !== null),
);

let written: Promise<unknown> = Promise.resolve();
const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
  const done = written.then(work);
  written = done.catch(() => {});
  return done;
};

/** Stores a driver's mark before anything is sent, so that no closed browser loses it. Returns its id. */
export function enter({ stationId, what, statement }: Said): string {
  const id = randomId();
  const station = heldStation(stationId);
  const entry: WaitingEntry = {
    ...{ id, stationId, what, status: statement.status, api: page.api, key: page.key },
    title: station === undefined ? stationId : stationName(station),
    body: { ...statement, device: deviceId() },
    ...said(),
    notBefore: Date.now() + ownPageMs,
    ...{ tries: 0, refused: null },
  };
  store(entry);
  return id;
}

/** The same of what a driver says of a station itself (decisions 15.47), which is no mark. */
export function enterSuggestion(title: string, body: object): string {
  const id = randomId();
  const entry: WaitingEntry = {
    ...{ id, title, body, stationId: "", what: "suggest", status: null },
    ...{ api: page.root.replace(/\/$/, ""), key: page.key, ...said() },
    ...{ notBefore: Date.now() + ownPageMs, tries: 0, refused: null },
  };
  store(entry);
  return id;
}

const said = (): Pick<WaitingEntry, "saidAt" | "aheadMs"> => {
  const saidAt = serverNow();
  return { saidAt, aheadMs: saidAt - Date.now() };
};

/** A page that is closed at once may send nothing: the worker is woken for each. */
function store(entry: WaitingEntry): void {
  void inTurn(() => putEntry(entry)).then(askForSync);
}

/** Stores the mark's new content; for `forMs` only this page may send it. */
export function amend({ id, statement }: Said & { id: string }, forMs = ownPageMs): void {
  void inTurn(async () => {
    const entry = (await allEntries()).find((one) => one.id === id);
    if (entry === undefined) return;
    const body = { ...statement, device: deviceId() };
    await putEntry({ ...entry, body, notBefore: Date.now() + forMs });
  });
}

/** Nothing of it is to be sent, and it is no mark of the driver's, or nobody needs to see it any more. */
export async function drop(id: string): Promise<void> {
  await inTurn(async () => {
    const entry = (await allEntries()).find((one) => one.id === id);
    if (entry?.refused === null) forgetOwnMark(entry.stationId, id);
    await dropEntry(id);
  });
  await look();
}

/** Nothing that waits is to be sent. */
export async function dropAll(): Promise<void> {
  await inTurn(async () => {
    for (const { id } of await allEntries()) await dropEntry(id);
  });
  await look();
}

/** Sends the mark now, with further facts (`more`: the position). Undefined when it has gone out already. */
export async function deliver(id: string, more: object): Promise<Told<Report> | undefined> {
  underWay.add(id);
  try {
    await inTurn(async () => {
      const entry = (await allEntries()).find((one) => one.id === id);
      if (entry === undefined) return;
      await putEntry({ ...entry, notBefore: 0, body: { ...entry.body, ...more } });
    });
    return await sendOne(id);
  } finally {
    underWay.delete(id);
    await look();
  }
}

const sendOne = (id: string): Promise<Told<Report> | undefined> =>
  attempt(id, ({ api }, { path, body }) => ask<Report>(path, { body, api }));

/** Reads the waiting marks; asks the browser to wake the worker for them. */
async function look(): Promise<void> {
  const all = await allEntries();
  // What was refused, also by the worker, counts nowhere: others may be confirmed.
  for (const { id, stationId, refused } of all)
    if (refused !== null && refused.code !== "own-mark") forgetOwnMark(stationId, id);
  entries.value = all.filter(({ id }) => !underWay.has(id));
  if (outbox.peek().some(({ refused }) => refused === null)) await askForSync();
}

interface Syncing {
  sync?: { register(tag: string): Promise<void> };
}

async function askForSync(): Promise<void> {
  try {
    const worker = await navigator.serviceWorker?.getRegistration(page.root);
    await (worker as Syncing | undefined)?.sync?.register(syncTag);
  } catch {
    // The browser lacks it or forbids it: the page sends the marks when it is open.
  }
}

/**
 * Sends waiting marks: at the start, when the browser is connected or looked at again, and each minute.
 *
 * @param onArrived called with the API's answer to each mark that arrives
 */
export function keepSending(onArrived: (entry: WaitingEntry, body: Report) => void): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = async (): Promise<void> => {
    clearTimeout(timer);
    const waits = (await allEntries()).filter(
      ({ id, refused }) => refused === null && !underWay.has(id),
    );
    const now = Date.now();
    const later = waits.map(({ notBefore }) => notBefore).filter((at) => at > now);
    timer = setTimeout(() => void flush(), Math.min(retryMs, Math.min(...later) - now));
    if (navigator.onLine)
      for (const entry of waits.filter(({ notBefore }) => notBefore <= now)) {
        const told = await sendOne(entry.id);
        if (told?.kind === "ok") onArrived(entry, told.body);
        if (told?.kind === "offline") break;
      }
    await look();
  };
  addEventListener("online", () => void flush());
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) void flush();
  });
  if ("BroadcastChannel" in window)
    new BroadcastChannel(channelName).addEventListener(
      "message",
      ({ data }: MessageEvent<Arrived[]>) => {
        // A worker of an earlier release says nothing else than that something has changed.
        for (const { entry, report } of Array.isArray(data) ? data : []) onArrived(entry, report);
        void look();
      },
    );
  void flush();
}
