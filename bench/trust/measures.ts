import { minuteMs } from "#src/domain/units.ts";
import { family } from "#src/domain/vocabulary.ts";
import type { Timelines } from "#bench/trust/timeline.ts";
import type { SentMark } from "#bench/trust/traffic.ts";
import type { Spell, Truth } from "#bench/trust/truth.ts";

/** From `from` to before `until`, ms. */
export interface Window {
  from: number;
  until: number;
}

export interface Agreement {
  /** Share of station time in which the served family was the true one; nothing served agrees with nothing. */
  agreement: number;
  /** Share of the time with fuel in which `no` was served. */
  falseNo: number;
  /** Share of the time without fuel in which fuel was served. */
  falseFuel: number;
}

/** Served against true, by time. */
export function agreementOf(truth: Truth, timelines: Timelines, window: Window): Agreement {
  const sums = { all: 0, right: 0, fuel: 0, falseNo: 0, empty: 0, falseFuel: 0 };
  truth.forEach((spells, station) => {
    for (const spell of spells) {
      const part = clip(spell, window);
      const ms = Math.max(0, part.until - part.from);
      const served = servedIn(timelines, station, part);
      sums.all += ms;
      sums.right += spell.fuel ? served.fuel : served.no;
      sums[spell.fuel ? "fuel" : "empty"] += ms;
      if (spell.fuel) sums.falseNo += served.no;
      else sums.falseFuel += served.fuel;
    }
  });
  return {
    agreement: sums.right / sums.all,
    falseNo: sums.falseNo / sums.fuel,
    falseFuel: sums.falseFuel / sums.empty,
  };
}

const clip = (spell: Window, window: Window): Window => ({
  from: Math.max(spell.from, window.from),
  until: Math.min(spell.until, window.until),
});

/** For how long, ms, a station served fuel and `no` within a window. */
function servedIn(
  timelines: Timelines,
  station: number,
  window: Window,
): { fuel: number; no: number } {
  const served = { fuel: 0, no: 0 };
  const list = timelines[station]!;
  list.forEach(({ at, fuel: { status } }, index) => {
    const until = list[index + 1]?.at ?? Number.POSITIVE_INFINITY;
    const part = clip({ from: at, until }, window);
    if (status === "nodata" || part.until <= part.from) return;
    served[family(status) === "has" ? "fuel" : "no"] += part.until - part.from;
  });
  return served;
}

export interface Lag {
  /** Minutes from the first honest mark that says so until `no` was served; null when no `no` came to be served. */
  p50: number | null;
  p90: number | null;
  /** Share of the reported times without fuel in which `no` was never served. */
  never: number;
}

/** How late a true `no` is served, over the times without fuel that began and were reported within the window. */
export function lagOf(
  truth: Truth,
  timelines: Timelines,
  marks: readonly SentMark[],
  window: Window,
): Lag {
  const reports = truth.map((): SentMark[] => []);
  for (const mark of marks)
    if (mark.honest && mark.status === "no") reports[mark.station]!.push(mark);
  const lags: number[] = [];
  let never = 0;
  truth.forEach((spells, station) => {
    for (const spell of spells) {
      if (spell.fuel || spell.from <= window.from || spell.from >= window.until) continue;
      const first = reports[station]!.find(({ at }) => at >= spell.from && at < spell.until);
      if (first === undefined || first.at >= window.until) continue;
      const at = firstNo(timelines, station, { ...clip(spell, window), from: first.at });
      if (at === null) never += 1;
      else lags.push((at - first.at) / minuteMs);
    }
  });
  lags.sort((a, b) => a - b);
  const quantile = (share: number): number | null => lags[Math.floor(lags.length * share)] ?? null;
  return { p50: quantile(0.5), p90: quantile(0.9), never: never / (never + lags.length) };
}

/** The first moment of a window at which a station served `no`. */
function firstNo(
  timelines: Timelines,
  station: number,
  { from, until }: Pick<Spell, "from" | "until">,
): number | null {
  const list = timelines[station]!;
  for (const [index, { at, fuel }] of list.entries()) {
    const end = list[index + 1]?.at ?? Number.POSITIVE_INFINITY;
    if (fuel.status === "no" && end > from && at < until) return Math.max(at, from);
  }
  return null;
}
