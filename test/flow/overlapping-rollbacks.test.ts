import { expect } from "chai";
import fc from "fast-check";
import { isRefusal } from "#src/contract/refusals.ts";
import { rows } from "#src/infrastructure/db.ts";
import { decideBatch } from "#src/marks/bulk-decisions.ts";
import { erasePerson } from "#src/marks/erasure.ts";
import type { Selection } from "#src/marks/mark-selection.ts";
import { deviceReporter } from "#src/marks/marks.ts";
import { undoDecision } from "#src/marks/undo-decision.ts";
import { sized } from "#test/harness/long.ts";
import { useInstance } from "#test/harness/use.ts";

const [people, stations] = [3, 3];
const quiet = () => undefined;

type Deed = { roll: number } | { undo: number } | { erase: number };
const nat = fc.nat({ max: 1000 });
const deed: fc.Arbitrary<Deed> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ roll: nat }) },
  { weight: 4, arbitrary: fc.record({ undo: nat }) },
  { weight: 1, arbitrary: fc.record({ erase: nat }) },
);

/** Decisions 4.23. */
describe("flow: rollbacks that overlap", function () {
  const instance = useInstance();
  let reporters: number[];
  let selections: Selection[];

  beforeEach(async () => {
    const { db, config } = instance;
    await rows(
      db,
      "truncate marks, mark_batches, mark_batch_marks, station_status, stations, reporters cascade",
    );
    await rows(
      db,
      `insert into stations (id, source, lat, lon, brand, name, addr)
       select 's' || n, 'osm', 50 + n, 30, '', '', '' from generate_series(0, ?::int - 1) n`,
      [stations],
    );
    await rows(db, "insert into station_status (station_id) select id from stations");
    reporters = await Promise.all(
      Array.from({ length: people }, async (_, n) => {
        const sql =
          "insert into reporters (hash, first_seen) values (decode(?, 'hex'), server_now()) returning id";
        const hash = deviceReporter(config.reporterPepper, `device ${n}`);
        return (await rows<{ id: number }>(db, sql, [hash]))[0]!.id;
      }),
    );
    await rows(
      db,
      `insert into marks (id, station_id, reporter_id, source, status, received_at, effective_at, remote, needed, rule,
         comment, processed_at, outcome, review)
       select next_mark_id(server_now()), s.id, r.id, 'widget', status, server_now(), server_now(), false, 1, 'geolocated',
         'word', case status when 'low' then null else server_now() end, case status when 'low' then null else 'published' end,
         case status when 'queue' then 'approved' else 'none' end
       from stations s, reporters r, unnest('{yes,low,queue}'::text[]) status`,
    );
    const since = 0;
    selections = [
      ...reporters.map((reporter) => ({ reporter })),
      ...Array.from({ length: stations }, (_, n) => ({ station: `s${n}` })),
      ...(["yes", "low"] as const).map((status) => ({ since, status })),
      { since },
      { reporter: reporters[0]!, station: "s1" },
    ];
  });

  /** Each mark's review, and the rollbacks in force whose conditions it fits. */
  const marks = () =>
    rows<{ id: number; review: string; by: number[] }>(
      instance.db,
      `select id, review, array(select b.id from mark_batches b where b.undo_at is null
         and coalesce(b.selection ->> 'reporter', m.reporter_id::text) = m.reporter_id::text
         and coalesce(b.selection ->> 'station', m.station_id) = m.station_id
         and coalesce(b.selection ->> 'status', m.status) = m.status order by 1) as by from marks m order by id`,
    );
  const columns =
    "id, review, processed_at, failed_at, outcome, outcome_status, outcome_reason, needed, rule";
  const verdicts = () => rows(instance.db, `select ${columns} from marks order by id`);
  const roll = (n: number) =>
    decideBatch(instance.db, "olga", "rollback", selections[n % selections.length]!, quiet);
  const undo = (id: number) => undoDecision(instance.db, "olga", ["rollback"], id, quiet);

  const act = async (one: Deed): Promise<void> => {
    if ("roll" in one) await roll(one.roll);
    else if ("erase" in one)
      await erasePerson(instance.db, instance.config, { device: `device ${one.erase % people}` });
    else {
      const all = await rows<{ id: number }>(
        instance.db,
        "select id from mark_batches order by id",
      );
      if (all.length > 0) await undo(all[one.undo % all.length]!.id);
    }
  };

  it("withdraw a mark exactly while one of them is in force, in any order, also at the same time", async function () {
    this.timeout(300_000);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(deed, { minLength: 1, maxLength: 3 }), { maxLength: 8 }),
        async (turns) => {
          await rows(instance.db, "delete from mark_batches");
          const before = await verdicts();
          // Those of one turn at the same time.
          for (const turn of turns) {
            await Promise.all(turn.map(act));
            for (const { id, review, by } of await marks())
              expect(review === "withdrawn", `mark ${id}`).to.equal(by.length > 0);
          }
          const left = await rows<{ id: number }>(
            instance.db,
            "select id from mark_batches where undo_at is null order by md5(id::text)",
          );
          for (const { id } of left) await undo(id);
          expect(await verdicts()).to.deep.equal(before);
          const kept = await rows(instance.db, "select from mark_batch_marks");
          expect(kept).to.have.length(0);
        },
      ),
      { numRuns: sized(15, 300) },
    );
  });

  it("say how many marks stay withdrawn, and by which others", async () => {
    const made = [];
    for (const n of [0, 3, 8]) {
      const done = await roll(n);
      if (isRefusal(done)) throw new Error("refused");
      made.push(done);
    }
    expect(made.map(({ marks: n }) => n)).to.deep.equal([9, 6, 12]);
    const [first, second, third] = made.map(({ id }) => id!) as [number, number, number];
    expect(await undo(first)).to.deep.equal({
      ...{ id: first, marks: 0, stations: 0 },
      ...{ still_withdrawn: 9, withdrawn_by: [second, third] },
    });
    expect(await undo(first)).to.include({ code: "already-done" });
    expect(await undo(third)).to.deep.equal({
      ...{ id: third, marks: 18, stations: 2 },
      ...{ still_withdrawn: 9, withdrawn_by: [second] },
    });
    expect(await undo(second)).to.deep.equal({ id: second, marks: 9, stations: 1 });
    // One that finds nothing left leaves no record: a repeated call does not cover the first.
    const again = await roll(8);
    expect(await roll(8)).to.deep.equal({ id: null, marks: 0, stations: 0 });
    if (isRefusal(again)) throw new Error("refused");
    expect(await undo(again.id!)).to.deep.equal({ id: again.id, marks: 27, stations: 3 });
  });
});
