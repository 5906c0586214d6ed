import { expect } from "chai";
import fc from "fast-check";
import { view } from "#src/domain/view.ts";
import { hourMs } from "#src/domain/units.ts";
import { loadConfig } from "#src/infrastructure/config.ts";
import { cases } from "#bench/trust/cases.ts";
import { createProduct } from "#bench/trust/product.ts";
import { createMeasurer } from "#bench/trust/row.ts";
import { simulate } from "#bench/trust/simulate.ts";
import { together } from "#bench/trust/traffic.ts";
import { sized } from "#test/harness/long.ts";
import { makeWorld, type World } from "#bench/trust/world.ts";

const config = loadConfig({ DATABASE_URL: "postgres://127.0.0.1/unused" });
const size = { stations: 15, hours: 36 };
const seeds = fc.integer({ min: 1, max: 1e6 });
const someCase = fc.constantFrom(...cases);

const trafficOf = (world: World, { attack }: (typeof cases)[number]) => {
  const made = attack?.({ ...world.scene, random: world.attackRandom() });
  return made === undefined ? world.honest : together(world.honest, made.traffic);
};

describe("bench trust: the simulation", function () {
  it("is the same for the same seed, and another for another", () =>
    fc.assert(
      fc.property(seeds, someCase, (seed, one) => {
        const row = createMeasurer(seed, size, config)(one);
        expect(createMeasurer(seed, size, config)(one)).to.deep.equal(row);
        expect(createMeasurer(seed + 1, size, config)(one)).to.not.deep.equal(row);
      }),
      { numRuns: sized(1, 10) },
    ));

  it("sends in order of time, from people at possible places", () =>
    fc.assert(
      fc.property(seeds, someCase, (seed, one) => {
        const world = makeWorld(seed, one.honest, size);
        const { marks, known } = trafficOf(world, one);
        const times = marks.map(({ at }) => at);
        expect(times).to.deep.equal([...times].sort((a, b) => a - b));
        expect(new Set(known.map(({ reporter }) => reporter.name)).size).to.equal(known.length);
        const { answered } = simulate(world.scene.country, config, world.honest, world.scene.until);
        for (const { sent, admission } of answered)
          if (admission.kind === "accepted")
            expect(admission.remote, "honest people are where they say").to.equal(
              sent.position === null,
            );
      }),
      { numRuns: sized(1, 10) },
    ));

  it("keeps what reads would have shown at every moment", () =>
    fc.assert(
      fc.property(
        seeds,
        someCase,
        fc.double({ min: 0, max: 1, noNaN: true }),
        (seed, one, part) => {
          const world = makeWorld(seed, one.honest, size);
          const { country, from, until } = world.scene;
          const { marks, known } = trafficOf(world, one);
          const { timelines } = simulate(country, config, { marks, known }, until);
          const moment = Math.floor(from + part * (until - from));
          const product = createProduct(country, config, known);
          for (const mark of marks) if (mark.at <= moment) product.send(mark);
          country.stations.forEach((_, station) => {
            const shown = timelines[station]!.findLast(({ at }) => at <= moment)?.fuel;
            if (shown !== undefined)
              expect(shown).to.deep.equal(
                view(product.stateOf(station), moment, config.statusLifetimeMs),
              );
          });
        },
      ),
      { numRuns: sized(2, 15) },
    ));

  it("holds the twenty-first `no` of a key's newcomers in an hour, as the product does", () => {
    const world = makeWorld(1, "usual", { stations: 60, hours: 36 });
    const at = world.scene.attackAt;
    const marks = Array.from({ length: 30 }, (_, n) => ({
      at: at + n * 1000,
      station: n,
      status: "no" as const,
      reporter: { name: `new-${n}`, partnerId: 1, keyId: 1, viewer: null },
      position: null,
      honest: false,
    }));
    const run = simulate(world.scene.country, config, { marks, known: [] }, at + hourMs);
    const held = run.answered.filter(
      ({ admission }) => admission.kind === "accepted" && admission.review === "held",
    );
    expect(held.length).to.equal(10);
  });
});
