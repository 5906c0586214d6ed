import { expect } from "chai";
import fc from "fast-check";
import { writeCsv } from "#snapshots/model/csv.ts";
import { writeFeatures, writeLines } from "#snapshots/model/features.ts";

const station = fc.record({
  id: fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/),
  lat: fc.double({ min: -90, max: 90, noNaN: true }),
  lon: fc.double({ min: -180, max: 180, noNaN: true }),
  brand: fc.string({ unit: "grapheme" }),
  name: fc.constantFrom(
    '"updated":""',
    '},{"id":"n1","lat":1,"lon":2,',
    '"}',
    "АЗС, №1",
    "\\",
    "},{",
  ),
  fuel: fc.record({
    prices: fc.constantFrom("92=58.10,95=62.50"),
    updated: fc.constantFrom("", "2026-01-31 18:05:07"),
    pending_status: fc.constantFrom("", "no", "queue"),
    pending_count: fc.oneof(fc.nat({ max: 3 }), fc.nat({ max: Number.MAX_SAFE_INTEGER })),
    resolution_reason: fc.constantFrom("published", "unconfirmed", "conflict", "no_data"),
    conflict: fc.constantFrom(null, {
      versions: ["yes", "queue"].map((status) => ({
        status,
        count: 12,
        updated: "2026-01-31 18:05:07",
      })),
    }),
  }),
});
const stations = fc.array(station, { minLength: 1, maxLength: 6 });

/** Null in place of an empty time. */
const exported = <One extends { fuel: { updated: string } }>(one: One) => ({
  ...one,
  fuel: { ...one.fuel, updated: one.fuel.updated || null },
});

describe("forms of stations", () => {
  for (const end of ["", ","])
    it(`are what JSON says, whatever a name holds; ending ${end === "" ? "so" : "with a comma"}`, () => {
      fc.assert(
        fc.property(stations, (list) => {
          const json = Buffer.from(list.map((one) => JSON.stringify(one)).join(",") + end);
          const features = writeFeatures(json).toString();
          const around = [Buffer.from("<head>"), Buffer.from("<tail>")] as const;
          for (const write of [writeFeatures, writeLines, writeCsv])
            expect(write(json, ...around).toString()).to.equal(
              `<head>${write(json).toString()}<tail>`,
            );
          expect(features.endsWith(",")).to.equal(end === ",");
          expect(JSON.parse(`[${end === "" ? features : features.slice(0, -1)}]`)).to.deep.equal(
            list.map(exported).map(({ id, lat, lon, ...properties }) =>
              JSON.parse(
                JSON.stringify({
                  ...{ type: "Feature", id },
                  geometry: { type: "Point", coordinates: [lon, lat] },
                  properties,
                }),
              ),
            ),
          );
          const lines = writeLines(json).toString();
          expect(lines).to.equal(
            list.map((one) => JSON.stringify(exported(one))).join("\n") + (end === "" ? "" : "\n"),
          );
        }),
      );
    });
});
