import { signal } from "@preact/signals";
import type { Box } from "#src/domain/geo.ts";
import type { FuelBlock } from "#src/domain/state.ts";
import { minuteMs } from "#src/domain/units.ts";
import { ask, type Station } from "#web/widget/api.ts";
import { isPast, joinParts, type Part, withoutOldChances } from "#web/widget/joined.ts";
import { toldAt } from "#web/widget/offline/told-at.ts";
import type { Told } from "#web/widget/told.ts";
import { contains, nameOf, overlap, quarters, rectanglesFor } from "#web/widget/rectangles.ts";

const refreshMs = minuteMs;
const emptyRefreshMs = 600_000;
const retryMs = 5000;
// A mark that waits in the queue has its outcome within seconds.
const queuedMs = 5000;
const atOnce = 4;
const deepest = 5;
const keptRectangles = 60;
// Rectangles out of view are shown for so long after their answer.
const shownMs = 180_000;
// Without answers stations are shown anew so often.
const republishMs = 10 * minuteMs;

/** A rectangle in memory. When it is split, its quarters are asked for instead. */
export interface Loaded extends Part<Station> {
  etag: string | null;
  stations: Station[];
  /** Known to be out of date, however young. */
  due?: boolean;
}

/** Why stations cannot be renewed just now. */
export type Trouble =
  | { kind: "offline" }
  | { kind: "unavailable" }
  | { kind: "limited"; untilMs: number }
  | { kind: "refused" };

/** All stations in memory by id; replaced as a whole whenever something of it changes. */
export const stations = signal<ReadonlyMap<string, Station>>(new Map());
export const trouble = signal<Trouble | null>(null);
/** Questions under way for the first time: there may be stations that are not shown yet. */
export const loading = signal(false);
/** Some rectangle of the view holds more than could be asked for. */
export const incomplete = signal(false);
/** Time of the answers that the view shows, ms by this browser's clock; null when it shows none. */
export const shownFrom = signal<number | null>(null);

const loaded = new Map<string, Loaded>();
/** Questions without an answer yet, by rectangle. */
const underWay = new Map<
  string,
  { box: Box; stop: AbortController; taken: Promise<boolean | null> }
>();
let publishedMs = 0;
let roots: Box[] = [];
let view: readonly Box[] = [];
let stop = new AbortController();
let timer: ReturnType<typeof setTimeout> | undefined;
/** The last view, while nobody has said where: the whole country would be asked for (decisions 15.43). */
let paused: Parameters<typeof look> | null = null;
let isPaused = false;

/** Asks for nothing until `resume`. */
export const pause = (): void => void (isPaused = true);

/** Asks again for what is seen; with `isLeft` only for the next view, because this one is about to be left. */
export function resume(isLeft = false): void {
  isPaused = false;
  if (paused !== null && !isLeft) look(...paused);
}

/** Sets the viewer's view, two boxes across 180°, and asks for its missing stations. */
export function look(at: readonly Box[], zoom: number): void {
  if (isPaused) {
    paused = [at, zoom];
    return;
  }
  paused = null;
  view = at;
  const found = at.flatMap((box) => rectanglesFor(box, zoom, roots));
  const next = [...new Map(found.map((box) => [nameOf(box), box])).values()];
  const same =
    next.length === roots.length && next.every((box, n) => nameOf(box) === nameOf(roots[n]!));
  roots = next;
  // Of a split rectangle only the quarters in view were asked for.
  if (same && !roots.some((box) => loaded.get(nameOf(box))?.split)) return;
  // Stations in memory are shown until the answer comes, or instead of it.
  if (!same) publish();
  void refresh(true);
}

/** All rectangles in memory, the newest last, to be kept for a start without the service. */
export const heldParts = (): readonly Loaded[] => [...loaded.values()];

/** Puts back kept rectangles, except where a newer one is in memory. All kept ones are asked for again. */
export function restoreParts(parts: readonly Loaded[]): void {
  const newer = [...loaded.values()];
  loaded.clear();
  // A clock that was put back must not make them newer than what comes now.
  const at = Date.now();
  for (const part of parts)
    loaded.set(nameOf(part.box), { ...part, at: Math.min(part.at, at), due: true });
  for (const part of newer) loaded.set(nameOf(part.box), part);
  publish();
}

/** Everything that is held, also outside of the view. */
export const heldStations = (): Map<string, Station> => joined([...loaded.values()]);

const joined = (parts: readonly Loaded[]): Map<string, Station> =>
  joinParts(parts.map((part) => withoutOldChances(part, Date.now())));

/** A station that is held. */
export const heldStation = (id: string): Station | undefined =>
  stations.peek().get(id) ?? heldStations().get(id);

/** Asks for everything in view that is older than a minute; after a move not again for what is under way. */
export async function refresh(isMoved = false): Promise<void> {
  if (view.length === 0) return;
  clearTimeout(timer);
  for (const { box, stop: end } of underWay.values()) if (!isMoved || !isAskedFor(box)) end.abort();
  stop.abort();
  stop = new AbortController();
  const { signal: stopped } = stop;
  if (pauseMs() === 0) await round(stopped);
  if (!stopped.aborted && !document.hidden) timer = setTimeout(() => void refresh(), nextInMs());
}

async function round(stopped: AbortSignal): Promise<void> {
  const line = [...roots.map((box) => ({ box, depth: 0 }))];
  loading.value = line.some(({ box }) => !loaded.has(nameOf(box)));
  let cut = false;
  let failed = false;
  let asked = false;
  const work = async (): Promise<void> => {
    for (let next = line.shift(); next !== undefined; next = line.shift()) {
      if (stopped.aborted || failed) return;
      const { box, depth } = next;
      if (depth > 0 && !isSeen(box)) continue;
      const known = loaded.get(nameOf(box));
      if (known === undefined || (!known.split && isOld(known))) {
        if (known === undefined) loading.value = true;
        const isTaken = await askFor(box, known);
        if (stopped.aborted || isTaken === null) return;
        asked = true;
        failed ||= !isTaken;
        if (failed) return;
      }
      if (loaded.get(nameOf(box))?.split !== true) continue;
      if (depth < deepest)
        line.push(...quarters(box).map((part) => ({ box: part, depth: depth + 1 })));
      else cut = true;
    }
  };
  // Quarters of one that is under way may come when another has run out of work.
  while (line.length > 0 && !stopped.aborted && !failed)
    await Promise.all(Array.from({ length: atOnce }, work));
  if (stopped.aborted) return;
  loading.value = false;
  if (failed) return;
  // Without a request there is no information about the network.
  if (asked) trouble.value = null;
  incomplete.value = cut;
  // Stations of split rectangles are in their quarters now.
  for (const part of loaded.values()) if (part.split && !cut) part.stations = [];
}

const isSeen = (box: Box): boolean => view.some((seen) => overlap(box, seen));

/** Whether a round asks for that rectangle: one of the view, or a part in view of one that is split. */
const isAskedFor = (box: Box): boolean =>
  isSeen(box) &&
  roots.some(
    (root) =>
      nameOf(root) === nameOf(box) ||
      (contains(root, box) && loaded.get(nameOf(root))?.split === true),
  );

/** Asks, or waits for who has asked; false when there was no answer to keep, null when nobody wants it any more. */
function askFor(box: Box, known: Loaded | undefined): Promise<boolean | null> {
  const name = nameOf(box);
  const before = underWay.get(name);
  if (before !== undefined && !before.stop.signal.aborted) return before.taken;
  const end = new AbortController();
  const taken = ask<Answer>(`/stations?bbox=${name}`, {
    etag: known?.etag ?? null,
    signal: end.signal,
  }).then((told) => {
    if (underWay.get(name)?.stop === end) underWay.delete(name);
    return told.kind === "aborted" || end.signal.aborted ? null : take(box, known, told);
  });
  underWay.set(name, { box, stop: end, taken });
  return taken;
}

interface Answer {
  stations: Station[];
  truncated: boolean;
}

/** Keeps an answer; false when there was none to keep. */
function take(box: Box, known: Loaded | undefined, told: Told<Answer>): boolean {
  const at = Date.now();
  if (told.kind === "same" && known !== undefined) {
    const wasPast = isPast(known, at);
    known.at = at;
    known.due = false;
    if (wasPast) publish();
    else shownFrom.value = toldAt([...loaded.values()], view);
    return true;
  }
  if (told.kind === "ok") {
    const { stations: found, truncated } = told.body;
    loaded.delete(nameOf(box));
    loaded.set(nameOf(box), { box, etag: told.etag, stations: found, split: truncated, at });
    forgetOldest();
    publish();
    return true;
  }
  trouble.value = troubleOf(told);
  // What is shown grows old by itself.
  if (Date.now() - publishedMs > republishMs) publish();
  return false;
}

function troubleOf(told: Told<unknown>): Trouble {
  if (told.kind !== "refused") return { kind: "offline" };
  if (told.status === 429)
    return { kind: "limited", untilMs: Date.now() + (told.retryAfterS ?? 60) * 1000 };
  return told.status === 401 || told.status === 403 ? { kind: "refused" } : { kind: "unavailable" };
}

const isOld = ({ at, due, stations: held }: Loaded): boolean =>
  due === true || Date.now() - at >= (held.length === 0 ? emptyRefreshMs : refreshMs) - 1000;

const pauseMs = (): number =>
  trouble.value?.kind === "limited" ? Math.max(0, trouble.value.untilMs - Date.now()) : 0;

function nextInMs(): number {
  if (trouble.value === null) return refreshMs;
  return trouble.value.kind === "refused" ? refreshMs : Math.max(retryMs, pauseMs());
}

function forgetOldest(): void {
  for (const name of loaded.keys()) {
    if (loaded.size <= keptRectangles) return;
    if (!roots.some((box) => overlap(box, loaded.get(name)!.box))) loaded.delete(name);
  }
}

/** Shows the stations in memory. */
function publish(): void {
  publishedMs = Date.now();
  shownFrom.value = toldAt([...loaded.values()], view);
  const since = Date.now() - shownMs;
  stations.value = joined(
    [...loaded.values()].filter(
      ({ at, box }) => at >= since || roots.some((root) => overlap(root, box)),
    ),
  );
}

/** Puts in the API's answer to a mark, and asks for the other changes that it made. */
export function note(id: string, fuel: FuelBlock): void {
  for (const part of holding(id)) {
    part.stations = part.stations.map((one) => (one.id === id ? { ...one, fuel } : one));
    // The part is no longer the answer that its ETag names.
    part.etag = null;
  }
  publish();
  askAgain(id);
}

/** Asks at once for the surroundings of a station, whose status may have changed. */
export function askAgain(id: string): void {
  for (const part of holding(id)) part.due = true;
  void refresh();
}

/** Asks for them when what waits in the queue there has its outcome. */
export const askSoon = (id: string): void => void setTimeout(() => askAgain(id), queuedMs);

const holding = (id: string): Loaded[] =>
  [...loaded.values()].filter(({ stations: held }) => held.some((one) => one.id === id));

/** Goes on by itself: each minute while the page can be seen, and when it is seen or connected again. */
export function keepFresh(): void {
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) clearTimeout(timer);
    else void refresh();
  });
  window.addEventListener("online", () => {
    for (const part of loaded.values()) part.due = true;
    // Where nothing is asked for yet, no answer would say that the network is back.
    if (view.length === 0) trouble.value = null;
    void refresh();
  });
  window.addEventListener("offline", () => {
    trouble.value = { kind: "offline" };
  });
}
