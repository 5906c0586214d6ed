import { formatTime } from "#src/domain/time.ts";
import { knownHours } from "#test/oracle/hours.ts";
import fc from "fast-check";
import { emptyState, type StationState } from "#src/domain/state.ts";
import { grades, queues, statuses } from "#src/domain/vocabulary.ts";
import type { FeedRow } from "#src/feed/feed.ts";
import type { Area } from "#snapshots/model/block-list.ts";
import type { Filters } from "#snapshots/model/filters.ts";

export const lifetimeMs = 24 * 3600_000;
export const startMs = Date.UTC(2026, 4, 1, 12);

/** Times around the start, mostly such that something expires soon after it. */
const timeMs = fc
  .oneof(
    fc.integer({ min: -lifetimeMs - 5000, max: -lifetimeMs + 120_000 }),
    fc.integer({ min: -30 * 3600_000, max: 0 }),
  )
  .map((offset) => startMs + offset);

const position = fc.record({ at: timeMs, id: fc.integer({ min: 1, max: 99 }) });
const someGrades = fc.subarray([...grades]);
const status = fc.constantFrom(...statuses);

const served = fc.record({
  status,
  updated: timeMs,
  confirmations: fc.nat(9),
  realCount: fc.nat(9),
  details: fc.record({
    fuelsNow: someGrades,
    fuelsNo: someGrades,
    queue: fc.constantFrom("" as const, ...queues),
    limitL: fc.option(fc.integer({ min: 1, max: 100 })),
    noCash: fc.boolean(),
    fuelCardsOnly: fc.boolean(),
  }),
});

const versions = fc.array(
  fc.record({ status, count: fc.nat(5), newest: position, disputed: fc.constant(null) }),
  { maxLength: 2 },
);
const prices = fc.array(
  fc.record({
    grade: fc.constantFrom(...grades),
    price: fc.constantFrom(58.1, 62.5),
    from: position,
  }),
  { maxLength: 2 },
);

const settled = fc
  .record({
    served: fc.option(served),
    versions,
    prices,
    lastUpdated: fc.option(timeMs),
  })
  .map((some): StationState => ({ ...emptyState, ...some }));

export const state: fc.Arbitrary<StationState> = fc.oneof(
  { weight: 2, arbitrary: fc.constant(emptyState) },
  { weight: 4, arbitrary: settled },
  {
    weight: 1,
    arbitrary: fc
      .record({ now: settled, at: fc.integer({ min: 0, max: 120_000 }), later: settled })
      .map(({ now, at, later }): StationState => ({
        ...now,
        next: { at: startMs + at, state: later },
      })),
  },
);

// Few places, close together and at the edges of the map, so that ties, crossings and full blocks happen.
const lat = fc.oneof(
  fc.double({ min: 54, max: 56, noNaN: true }),
  fc.constantFrom(-90, 0, 55, 89.9, 90),
);
const lon = fc.oneof(
  fc.double({ min: 82, max: 84, noNaN: true }),
  fc.double({ min: 179, max: 180, noNaN: true }),
  fc.double({ min: -180, max: -179, noNaN: true }),
  fc.constantFrom(-180, 0, 83, 180),
);

export const row = (ids: number): fc.Arbitrary<FeedRow> =>
  fc.record({
    id: fc.integer({ min: 1, max: ids }).map((n) => `n${n}`),
    lat,
    lon,
    brand: fc.constantFrom("", "Лукойл", "ЛУКОЙЛ", "Lukoil", "Ёлка", "Shell", "OK"),
    name: fc.constantFrom("", "АЗС №1", "Берёзка", 'Quote " and \\'),
    addr: fc.constantFrom("", "Красный проспект, 1", "шоссе\nЭнтузиастов"),
    grades_sold: fc.constantFrom("", "92,95,ДТ", "95,98"),
    opening_hours: fc.constantFrom(...Object.keys(knownHours)),
    closed: fc.constantFrom(
      "",
      "",
      "",
      "/",
      `${formatTime(startMs + 60_000)}/`,
      `/${formatTime(startMs)}`,
    ),
    seq: fc.constant(1),
    at: fc.integer({ min: -3600_000, max: 120_000 }).map((offset) => startMs + offset),
    removed: fc.boolean().chain((maybe) => (maybe ? fc.boolean() : fc.constant(false))),
    state,
    chance: fc.option(fc.integer({ min: 0, max: 20 }).map((steps) => steps * 5)),
  });

export const area: fc.Arbitrary<Area> = fc.oneof(
  fc.constant({ kind: "all" as const }),
  fc.record({ a: lat, b: lat, west: lon, east: lon }).map(({ a, b, west, east }) => ({
    kind: "box" as const,
    box: { south: Math.min(a, b), north: Math.max(a, b), west, east },
  })),
  fc.record({
    kind: fc.constant("circle" as const),
    centre: fc.record({ lat, lon }),
    radiusM: fc.double({ min: 1, max: 120_000, noNaN: true }),
  }),
);

const filter = fc.record(
  {
    statuses: fc.subarray([...statuses, "nodata" as const]),
    grades: fc.subarray([...grades], { maxLength: 2 }),
    queues: fc.subarray([...queues]),
    brand: fc.constantFrom("", "лукойл", "LUKOIL", "ёлка", "Shell", "Шелл", "ok", "Nobody"),
    priced: fc.boolean(),
    freshH: fc.constantFrom(1, 12, 24),
    words: fc.subarray(
      ["азс", "берез", "красный", "1", "лук", "елк", "энтуз", "lukoil", "шелл", "лукойл"],
      { maxLength: 2 },
    ),
    sold: fc.subarray([...grades], { maxLength: 2 }),
    mayHave: fc.constantFrom(...grades),
    opened: fc.boolean(),
    chanceMin: fc.integer({ min: 0, max: 100 }),
  } satisfies Record<keyof Filters, fc.Arbitrary<unknown>>,
  { requiredKeys: [] },
);
export const filters: fc.Arbitrary<Filters> = fc.oneof(fc.constant({}), filter);
