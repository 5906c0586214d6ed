import { expect } from "chai";
import fc from "fast-check";
import type { Filters } from "#snapshots/model/filters.ts";
import { createReadModel } from "#snapshots/model/model.ts";
import type { FeedRow } from "#src/feed/feed.ts";
import { servedStatuses } from "#src/domain/vocabulary.ts";
import { lifetimeMs, row, startMs } from "#test/snapshots/arbitraries.ts";
import { sized } from "#test/harness/long.ts";

const most = 60;
const drawn = fc.sample(row(1_000_000), { numRuns: most, seed: 3 });
/** Ids that differ in length and case, so that their order is not that of their numbers. */
const idOf = (n: number): string => `${n % 3 === 0 ? "N" : "n"}${n * 7}${"-a".repeat(n % 2)}`;
const n = fc.nat({ max: most - 1 });

describe("a walk over the pages of /stations/all", () => {
  it("ends at the last station, and has each that stays once, whatever comes, goes and moves meanwhile", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(n),
        fc.array(fc.array(fc.record({ n, removed: fc.boolean(), as: n }), { maxLength: 6 }), {
          maxLength: 30,
        }),
        fc.integer({ min: 1, max: 7 }),
        fc.option(fc.subarray([...servedStatuses], { minLength: 1 })),
        (first, changes, limit, statuses) => {
          const model = createReadModel({ lifetimeMs, plainBytes: Infinity });
          const filters: Filters = statuses === null ? {} : { statuses };
          const now = startMs;
          let seq = 0;
          const put = (which: number, as: number, removed: boolean): FeedRow => ({
            ...drawn[as]!,
            ...{ id: idOf(which), seq: ++seq, removed },
          });
          model.apply(
            first.map((one) => put(one, one, false)),
            now,
          );
          const touched = new Set<string>();
          const page = (after: string, size: number) => {
            const found = model.page({ filters, after, limit: size, now });
            const list = Buffer.concat(found.pieces().map(({ bytes }) => bytes)).toString();
            const ids = (JSON.parse(`[${list}]`) as { id: string }[]).map(({ id }) => id);
            return { ids, next: found.next };
          };
          const walked: string[] = [];
          for (let [after, turn] = ["", 0]; ; turn += 1) {
            const { ids, next } = page(after, limit);
            walked.push(...ids);
            if (next === "") break;
            expect(ids.length).to.equal(limit);
            after = next;
            const now2 = changes[turn] ?? [];
            model.apply(
              now2.map((one) => put(one.n, one.as, one.removed)),
              now,
            );
            for (const one of now2) touched.add(idOf(one.n));
          }
          const stay = page("", most).ids.filter((id) => !touched.has(id));
          expect(walked.filter((id) => !touched.has(id))).to.deep.equal(stay);
          expect(new Set(walked).size).to.equal(walked.length);
        },
      ),
      { numRuns: sized(300, 5000) },
    );
  });
});
