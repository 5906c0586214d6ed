import type { Random } from "#demo/country/random.ts";
import { dayMs, hourMs } from "#src/domain/units.ts";
import type { Country } from "#bench/trust/country.ts";
import type { Selector } from "#bench/trust/rollback.ts";
import type { Traffic } from "#bench/trust/traffic.ts";
import { hadFuel, type Truth } from "#bench/trust/truth.ts";

/** What an attacker knows and has: the country, what is true there, and the moment at which it begins. */
export interface Scene {
  random: Random;
  country: Country;
  truth: Truth;
  /** ms; everything is measured from here to `until`. */
  from: number;
  until: number;
  /** ms; a morning's rush, 34 hours after the first mark of all. */
  attackAt: number;
  /** Honest marks from `from` to `until`. */
  honestMarks: number;
}

/** What is sent, and with which selectors an operator would undo it. */
export interface Attack {
  traffic: Traffic;
  selectors: readonly Selector[];
}

/** How an attack is laid out: with claimed positions or without any, at once or over a day. */
export interface Manner {
  positions: boolean;
  /** ms */
  lasts: number;
}

export const overADay = dayMs;

/** The time of the `index`th of `count` marks spread evenly. */
export const evenly = (from: number, lasts: number, index: number, count: number): number =>
  Math.floor(from + (lasts * index) / count);

/** The time an operator would name: whole hours around the attack, for nobody knows its first second. */
export const during = ({ marks }: Traffic, since: number): { since: number; until: number } => ({
  since: Math.floor(since / hourMs) * hourMs,
  until: (Math.floor(Math.max(...marks.map(({ at }) => at)) / hourMs) + 1) * hourMs,
});

/** A station that has fuel, or has none, at `at`, ms; any where none is like that. */
export function stationWith({ random, country, truth }: Scene, fuel: boolean, at: number): number {
  const all = country.stations.map((_, index) => index);
  const fitting = all.filter((index) => hadFuel(truth, index, at) === fuel);
  return random.pick(fitting.length > 0 ? fitting : all);
}

/** The same numbers in another order. */
export function shuffled(random: Random, numbers: readonly number[]): number[] {
  return numbers
    .map((number) => ({ number, by: random.next() }))
    .sort((a, b) => a.by - b.by)
    .map(({ number }) => number);
}
