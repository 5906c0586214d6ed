import fc from "fast-check";
import { grades, queues, statuses } from "#src/domain/vocabulary.ts";
import type { PlainCity, Place, Shown, Wanted } from "#test/oracle/reads.ts";

export type ReadForm = "json" | "geojson" | "ndjson";

/** A request as it is sent, and what it means. */
export interface ReadRequest {
  form: ReadForm;
  /** By how much time passes before it, ms. */
  stepMs: number;
  /** Which of the processes gets it. */
  web: number;
  /** Ask once more with `If-None-Match`. */
  again: boolean;
  what:
    | { kind: "area"; path: string; place: Place; wanted: Wanted; sort: string }
    | { kind: "all"; path: string; wanted: Wanted; limit: number }
    | { kind: "delta"; backMs: number }
    | { kind: "one"; id: string }
    | { kind: "cities"; path: string; q: string; limit: number; offset: number }
    | { kind: "no-city"; path: string };
}

const spelt = (text: string): fc.Arbitrary<string> =>
  fc.constantFrom(text, text.toUpperCase(), text.toLowerCase(), text.replaceAll("ё", "е"));

const gradeSpellings: Record<string, readonly string[]> = {
  ДТ: ["ДТ", "дт", "dt", "DT", "дизель", "Дизель"],
};
const grade = fc
  .constantFrom(...grades)
  .chain((name) =>
    fc.constantFrom(...(gradeSpellings[name] ?? [name])).map((text) => ({ name, text })),
  );

/** Requests about these stations and cities: their words, brands and places, so that most find something. */
export function readRequests(
  stations: readonly Shown[],
  cities: readonly PlainCity[],
): fc.Arbitrary<ReadRequest> {
  const station = fc.constantFrom(...stations);
  const text = station.chain(({ name, brand, addr }) =>
    fc.constantFrom(...[name, brand, addr].flatMap((one) => one.split(/\s+/))),
  );
  const word = fc
    .tuple(text, fc.nat(8), fc.integer({ min: 2, max: 8 }))
    .map(([whole, from, length]) =>
      whole.slice(from % Math.max(1, whole.length - 1)).slice(0, length),
    )
    // What reads as a grade is one.
    .filter((part) => part.trim() !== "" && !/^(92|95|98|100|дт|dt|дизель)$/i.test(part))
    .chain(spelt);
  const rare = <T>(arbitrary: fc.Arbitrary<T>, none: T, weight = 4) =>
    fc.oneof({ weight, arbitrary: fc.constant(none) }, { weight: 1, arbitrary });

  const filters = fc
    .record({
      words: rare(fc.array(word, { minLength: 1, maxLength: 2 }), []),
      inWords: rare(
        grade.map((one) => [one]),
        [],
        12,
      ),
      statuses: rare(fc.subarray([...statuses, "nodata"], { minLength: 1 }), []),
      grades: rare(fc.array(grade, { minLength: 1, maxLength: 2 }), []),
      brand: rare(
        station.chain(({ brand }) => spelt(brand)),
        "",
        6,
      ),
      hasPrice: rare(fc.constantFrom("true", "1", "false"), "", 6),
      queues: rare(fc.subarray([...queues], { minLength: 1 }), [], 6),
      freshH: rare<number | null>(fc.integer({ min: 1, max: 24 }), null, 6),
      sells: rare(fc.array(grade, { minLength: 1, maxLength: 2 }), [], 6),
      opened: rare(fc.constantFrom("true", "1", "false"), "", 6),
      chanceMin: rare<number | null>(fc.integer({ min: 0, max: 100 }), null, 6),
    })
    .map((one) => {
      const query = new URLSearchParams();
      const set = (name: string, value: string): void =>
        void (value !== "" && query.set(name, value));
      set("q", [...one.words, ...one.inWords.map(({ text }) => text)].join("  "));
      set("status", one.statuses.join(", "));
      set("fuel", one.grades.map(({ text }) => text).join(","));
      set("brand", one.brand);
      set("has_price", one.hasPrice);
      set("queue", one.queues.join(","));
      set("fresh_h", String(one.freshH ?? ""));
      set("sells", one.sells.map(({ text }) => text).join(","));
      set("opened", one.opened);
      set("chance_min", String(one.chanceMin ?? ""));
      const wanted: Wanted = {
        ...{ words: one.words, statuses: one.statuses, queues: one.queues, freshH: one.freshH },
        ...{ brand: one.brand, hasPrice: ["true", "1"].includes(one.hasPrice) },
        grades: [...one.grades, ...one.inWords].map(({ name }) => name),
        sold: one.sells.map(({ name }) => name),
        opened: one.opened === "" ? null : one.opened !== "false",
        chanceMin: one.chanceMin,
      };
      // A plus in a query string is a blank: `20 ` is understood all the same.
      return { wanted, query: query.toString().replaceAll("20%2B", "20+") };
    });

  const degrees = fc.double({ min: -3, max: 1, noNaN: true }).map((power) => 10 ** power);
  const clamp = (value: number, most: number): number =>
    Math.max(-most, Math.min(most, Number(value.toFixed(5))));
  const boxes = fc.oneof(
    {
      weight: 20,
      arbitrary: fc
        .tuple(station, degrees, degrees, fc.double({ min: 0, max: 1, noNaN: true }))
        .map(([{ lat, lon }, high, wide, share]): readonly [number, number, number, number] => [
          clamp(lat - high * share, 90),
          clamp(lon - wide * share, 180),
          clamp(lat + high * (1 - share), 90),
          clamp(lon + wide * (1 - share), 180),
        ]),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        [-90, -180, 90, 180] as const,
        [50, 60, 70, 30] as const,
        [40, 170, 80, -170] as const,
        [0, 0, 0, 0] as const,
      ),
    },
    // From the east of one station round the world to the west of another.
    {
      weight: 1,
      arbitrary: fc.tuple(station, station).map(([a, b]) => [-90, a.lon, 90, b.lon] as const),
    },
  );
  const city = fc.constantFrom(...cities);
  const places: fc.Arbitrary<{ place: Place; query: string }> = fc.oneof(
    {
      weight: 2,
      arbitrary: boxes.map((box) => ({ place: { box }, query: `bbox=${box.join(",")}` })),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(
          city,
          rare<number | null>(
            fc.integer({ min: 1, max: 600 }).map((tenth) => tenth / 10),
            null,
            1,
          ),
        )
        .chain(([{ name }, radius]) =>
          spelt(name).map((written) => {
            // Homonyms: the largest is meant.
            const meant = cities
              .filter((one) => sameName(one.name, name))
              .reduce((a, b) => (b.population > a.population ? b : a));
            const query = `city=${encodeURIComponent(written)}${radius === null ? "" : `&radius_km=${radius}`}`;
            return {
              place: { centre: { lat: meant.lat, lon: meant.lon }, radiusKm: radius ?? 25 },
              query,
            };
          }),
        ),
    },
  );

  const what: fc.Arbitrary<ReadRequest["what"]> = fc.oneof(
    {
      weight: 14,
      arbitrary: fc
        .tuple(places, filters, rare(fc.constantFrom("distance", "chance"), "", 2))
        .map(([{ place, query: area }, { wanted, query }, sort]) => ({
          ...{ kind: "area" as const, place, wanted, sort },
          path: `/stations?${area}&${query}&sort=${sort}`,
        })),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(filters, fc.integer({ min: Math.ceil(stations.length / 4), max: 30_000 }))
        .map(([{ wanted, query }, limit]) => ({
          ...{ kind: "all" as const, wanted, limit },
          path: `/stations/all?limit=${limit}&${query}`,
        })),
    },
    {
      weight: 1,
      arbitrary: fc
        .oneof(fc.integer({ min: 0, max: 300_000 }), fc.integer({ min: 0, max: 47 * 3600_000 }))
        .map((backMs) => ({ kind: "delta" as const, backMs })),
    },
    { weight: 1, arbitrary: station.map(({ id }) => ({ kind: "one" as const, id })) },
    {
      weight: 3,
      arbitrary: fc
        .tuple(
          fc.oneof(
            fc.constant(""),
            city.chain(({ name }) =>
              fc
                .tuple(fc.nat(name.length - 1), fc.integer({ min: 1, max: 6 }))
                .chain(([from, length]) => spelt(name.slice(from).slice(0, length).trim() || name)),
            ),
          ),
          fc.integer({ min: 1, max: 200 }),
          rare(fc.nat(100), 0),
        )
        .map(([q, limit, offset]) => ({
          ...{ kind: "cities" as const, q, limit, offset },
          path: `/cities?q=${encodeURIComponent(q)}&limit=${limit}&offset=${offset}`,
        })),
    },
    {
      weight: 1,
      arbitrary: city.map(({ name }) => ({
        kind: "no-city" as const,
        path: `/stations?city=${encodeURIComponent(`${name}-Дальний-2`)}`,
      })),
    },
  );
  return fc.record({
    form: fc.constantFrom<ReadForm[]>("json", "json", "geojson", "ndjson"),
    stepMs: fc.oneof(fc.constant(0), fc.nat(150)),
    web: fc.nat(1),
    again: fc.nat(7).map((one) => one === 0),
    what,
  });
}

const sameName = (a: string, b: string): boolean => fold(a) === fold(b);
const fold = (name: string): string => name.toLowerCase().replaceAll("ё", "е");
