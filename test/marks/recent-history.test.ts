import { expect } from "chai";
import fc from "fast-check";
import { decide } from "#src/domain/decide.ts";
import { emptyState, type FuelBlock } from "#src/domain/state.ts";
import { dayMs, hourMs } from "#src/domain/units.ts";
import { view } from "#src/domain/view.ts";
import { inTransaction, rows } from "#src/infrastructure/db.ts";
import {
  countedNow,
  type History,
  loadFirstSeen,
  loadHistories,
  loadRecent,
} from "#src/marks/histories.ts";
import { useStage } from "#test/flow/stage.ts";
import { sized } from "#test/harness/long.ts";

const days = 60;
const stations = sized(60, 400);
const reporters = 6;

interface Told {
  hoursAgo: number;
  reporter: number;
  status: "yes" | "low" | "no" | "queue";
  withdrawn: boolean;
}

/** Close together, and with gaps of days between. */
const told = fc.record<Told>({
  hoursAgo: fc.oneof(fc.integer({ min: 0, max: 70 }), fc.integer({ min: 0, max: 24 * days - 24 })),
  reporter: fc.nat({ max: reporters - 1 }),
  status: fc.constantFrom("yes", "low", "no", "queue"),
  withdrawn: fc.boolean(),
});

describe("the recent history of a station", function () {
  this.timeout(120_000);
  const { country, instance } = useStage(stations, [], { RETENTION_DAYS: String(days) });
  let now: number;
  before(async () => {
    now = Date.now();
    await rows(country.db, "select ensure_mark_partitions(current_date - ?::int, ?::int)", [
      days,
      days,
    ]);
    const people = await rows<{ id: number }>(
      country.db,
      `insert into reporters (hash, first_seen)
       select sha256(convert_to('one' || n, 'UTF8')), server_now() - n * interval '30 days' from generate_series(1, ?::int) n
       returning id`,
      [reporters],
    );
    const all = fc.sample(fc.array(told, { maxLength: 12 }), { numRuns: stations, seed: 7 });
    const marks = all.flatMap((some, n) =>
      some.map((one) => ({
        station: country.stationIds[n]!,
        reporter: people[one.reporter]!.id,
        status: one.status,
        at: new Date(now - one.hoursAgo * hourMs - 1000),
        review: one.withdrawn ? "withdrawn" : "none",
      })),
    );
    await rows(
      country.db,
      `insert into marks (id, station_id, reporter_id, source, status, received_at, effective_at, remote, needed, rule,
         review, processed_at, outcome, prices)
       select next_mark_id(at), station, reporter, 'partner', status, at, at, false, case when reporter % 2 = 0 then 1 else 2 end, 'geolocated', review, at, 'pending',
         case when reporter % 3 = 0 then '{"95": 60}'::jsonb end
       from jsonb_to_recordset(?::jsonb) m (station text, reporter bigint, status text, at timestamptz, review text)`,
      [JSON.stringify(marks)],
    );
  });

  const shown = async (
    histories: ReadonlyMap<string, History>,
  ): Promise<Map<string, Omit<FuelBlock, "updated"> & { updated: string | null }>> => {
    const { config } = instance;
    const firstSeen = await loadFirstSeen(
      country.db,
      [...histories.values()].flatMap(({ marks }) => marks),
    );
    return new Map(
      [...histories].map(([id, history]) => {
        const facts = { state: emptyState, opinions: [], history };
        const { state } = decide(facts, { marks: [], seeds: [] }, firstSeen, now, config);
        // What nobody has served lately is looked for elsewhere (src/marks/effects.ts).
        const known = state.lastUpdated === null ? { updated: null } : {};
        return [id, { ...view(state, now, config.statusLifetimeMs), ...known }];
      }),
    );
  };

  it("is folded to what the whole history is", async () => {
    const { db, stationIds } = country;
    const which = "processed and waiting";
    const everything = { sql: "true", bindings: [] };
    for (const counted of [countedNow, everything]) {
      const recent = await loadRecent(db, stationIds, instance.config, now, { counted });
      const whole = await loadHistories(db, stationIds, 0, which, { counted });
      expect([...recent.keys()]).to.have.members(stationIds);
      const [ofRecent, ofWhole] = [await shown(recent), await shown(whole)];
      let served = 0;
      for (const id of stationIds) {
        const [one, other] = [ofRecent.get(id)!, ofWhole.get(id)!];
        if (one.updated !== null) served += 1;
        expect(one, id).to.deep.equal(one.updated === null ? { ...other, updated: null } : other);
      }
      expect(served).to.be.greaterThan(stations / 4);
      const sizes = [recent, whole].map((some) =>
        [...some.values()].reduce((sum, { marks }) => sum + marks.length, 0),
      );
      expect(sizes[0]).to.be.lessThan(sizes[1]! * 0.8);
    }
  });

  it("begins before a mark that is still to come in", async () => {
    const { db, stationIds } = country;
    const arriving = new Map(stationIds.map((id) => [id, now - 20 * dayMs]));
    const recent = await loadRecent(db, stationIds, instance.config, now, {
      changing: arriving,
    });
    const whole = await loadHistories(db, stationIds, 0, "processed and waiting");
    for (const id of stationIds)
      for (const one of whole.get(id)!.marks.filter(({ at }) => at > now - 20 * dayMs))
        expect(recent.get(id)!.marks.map((mark) => mark.id)).to.include(one.id);
  });

  it("locks the months of the last marks alone", async () => {
    const { db, stationIds } = country;
    const [busy] = stationIds;
    await rows(
      db,
      `insert into marks (id, station_id, reporter_id, source, status, received_at, effective_at, remote, needed, rule,
         processed_at, outcome)
       select next_mark_id(at), ?, (select min(id) from reporters), 'partner', 'yes', at, at, false, 2, 'geolocated', at,
         'pending'
       from (select server_now() - n * interval '30 hours' as at from generate_series(0, 2) n) m`,
      [busy],
    );
    const locked = await inTransaction(db, async (tx) => {
      await loadRecent(tx, [busy!], instance.config, now);
      const [found] = await rows<{ days: number }>(
        tx,
        `select count(*) as days from pg_locks l join pg_class c on c.oid = l.relation
         where l.pid = pg_backend_pid() and c.relname ~ '^marks_[0-9]{6}$'`,
      );
      return found!.days;
    });
    expect(locked).to.be.within(1, 3);
  });
});
