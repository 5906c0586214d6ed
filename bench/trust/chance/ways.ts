import { type ChanceNumbers } from "#src/domain/chance/numbers.ts";
import { createChances } from "#src/domain/chance/chances.ts";
import type { ChanceMark } from "#src/domain/chance/mark.ts";
import { hourMs } from "#src/domain/units.ts";
import { family } from "#src/domain/vocabulary.ts";
import type { Country } from "#bench/trust/country.ts";
import type { Timelines } from "#bench/trust/timeline.ts";
import type { SentMark } from "#bench/trust/traffic.ts";
import { localHours } from "#bench/trust/truth.ts";

/**
 * What may be believed of a station, each a chance from 0 to 1: the published status taken as true, the last mark that was
 * sent taken as true, a decay of it, and the model.
 */
export const ways = ["published", "last", "decay", "chance"] as const;
export type Way = (typeof ways)[number];
/** By station. */
export type Said = Readonly<Record<Way, Float64Array>>;

/** What happened in a simulation. */
export interface Heard {
  /** All marks that were sent. */
  sent: readonly SentMark[];
  /** Those that were counted, as the model hears them. */
  counted: readonly ChanceMark[];
  timelines: Timelines;
}

/** Share of time with fuel: what is believed where nothing is known, or no more. */
const usual = 0.28;
/** Long lives: with 12 and 24 h the decay was worse on seed 1, honest. */
const decayMs = { fuel: 24 * hourMs, none: 96 * hourMs };

/** What each way says of all stations, asked in order of time. */
export function createWays(
  { stations }: Country,
  { sent, counted, timelines }: Heard,
  numbers: ChanceNumbers,
) {
  const chances = createChances(numbers, () => localHours * hourMs);
  const blank = () => new Float64Array(stations.length).fill(usual);
  const said: Said = { published: blank(), last: blank(), decay: blank(), chance: blank() };
  const isKnown: boolean[] = stations.map(() => false);
  const lastMarks = new Map<number, SentMark>();
  const shown = stations.map(() => 0);
  const next = { sent: 0, counted: 0 };

  const published = (station: number, at: number): number => {
    const list = timelines[station]!;
    while (shown[station]! < list.length && list[shown[station]!]!.at <= at) shown[station]! += 1;
    const status = list[shown[station]! - 1]?.fuel.status ?? "nodata";
    return status === "nodata" ? usual : Number(family(status) === "has");
  };
  const decayed = ({ at: since, status }: SentMark, at: number): number => {
    const fuel = status !== "no";
    const kept = Math.exp((since - at) / decayMs[fuel ? "fuel" : "none"]);
    return usual + (Number(fuel) - usual) * kept;
  };

  return {
    /** True once a mark of the station has been counted: before it, no way is measured there. */
    isKnown: (station: number): boolean => isKnown[station]!,
    at(at: number): Said {
      for (; (sent[next.sent]?.at ?? Infinity) <= at; next.sent += 1)
        lastMarks.set(sent[next.sent]!.station, sent[next.sent]!);
      const from = next.counted;
      while ((counted[next.counted]?.at ?? Infinity) <= at) next.counted += 1;
      chances.take(counted.slice(from, next.counted));
      stations.forEach(({ id }, station) => {
        const chance = chances.chanceAt(id, at);
        isKnown[station] = chance !== null;
        said.chance[station] = chance ?? usual;
        said.published[station] = published(station, at);
        const last = lastMarks.get(station);
        if (last === undefined) return;
        said.last[station] = Number(last.status !== "no");
        said.decay[station] = decayed(last, at);
      });
      return said;
    },
  };
}
