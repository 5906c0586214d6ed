import { expect } from "chai";
import { createClock } from "#src/infrastructure/clock.ts";
import { rows } from "#src/infrastructure/db.ts";
import { createLog } from "#src/infrastructure/log.ts";
import type { StationState } from "#src/domain/state.ts";
import { view } from "#src/domain/view.ts";
import { countUnprocessed } from "#test/flow/refold.ts";
import { sized } from "#test/harness/long.ts";
import { crowd, say } from "#test/workers/busy-station.ts";
import { type ProcessDeps, processStations } from "#workers/marks/process.ts";
import { useStage } from "#test/flow/stage.ts";

/** 10,000 in the long tests: more than a refold reads in both. */
const live = sized(1500, 10_000);

describe("worker: a station with more live marks than a refold reads", function () {
  this.timeout(120_000);
  const { instance, country } = useStage(4, []);
  let deps: ProcessDeps;
  let busy: string;
  let others: string[];
  before(async () => {
    [busy, ...others] = country.stationIds as [string, ...string[]];
    const { config } = instance;
    const log = createLog({ logLevel: "silent" }, "test");
    deps = { db: country.db, config, clock: createClock(config), log };
    await crowd(country.db, busy, live);
  });

  it("is processed in one call, however many of them wait", async () => {
    const { processed } = await processStations(deps, [busy]);
    expect(processed).to.equal(live);
    expect(await countUnprocessed(country.db)).to.equal(0);
  });

  it("keeps the opinions that count, the newest", async () => {
    const [kept] = await rows<{ count: number; newest: number }>(
      country.db,
      `select count(*), count(*) filter (where mark_id in
         (select id from marks where station_id = ? order by effective_at desc limit 500)) as newest
       from opinions where station_id = ?`,
      [busy, busy],
    );
    expect(kept).to.deep.equal({ count: 500, newest: 500 });
  });

  it("takes its late mark after the marks of the others, and ends where it was", async () => {
    const before = await stateOf();
    const late = await say(country.db, busy, 600);
    const inOrder = await Promise.all(others.map((id) => say(country.db, id, 0)));
    const { processed } = await processStations(deps, country.stationIds);
    expect(processed).to.equal(1 + inOrder.length);
    const done = await rows<{ id: number; outcome: string }>(
      country.db,
      "select id, outcome from marks where id = any(?::bigint[]) order by processed_at",
      [[late, ...inOrder]],
    );
    expect(done.at(-1)).to.deep.equal({ id: late, outcome: "superseded" });
    expect(shown(await stateOf())).to.deep.equal(shown(before));
  });

  it("counts a late mark that is among the newest", async () => {
    const before = await stateOf();
    await say(country.db, busy, 1);
    await processStations(deps, [busy]);
    const { served } = await stateOf();
    expect(served!.confirmations).to.be.oneOf([
      before.served!.confirmations,
      before.served!.confirmations + 1,
    ]);
    const sql = "select count(*) from opinions where station_id = ?";
    expect(await rows(country.db, sql, [busy])).to.deep.equal([{ count: 500 }]);
  });

  it("is folded anew after a review to the state that it had", async () => {
    const before = await stateOf();
    await rows(country.db, "update station_status set refold = true where station_id = ?", [busy]);
    await processStations(deps, country.stationIds);
    expect(shown(await stateOf())).to.deep.equal(shown(before));
  });

  /** Where a cut history begins, its first status is published anew; what is served is the same. */
  const shown = (state: StationState) =>
    view(state, deps.clock(), instance.config.statusLifetimeMs);

  const stateOf = async (): Promise<StationState> => {
    const sql = "select state from station_status where station_id = ?";
    return (await rows<{ state: StationState }>(country.db, sql, [busy]))[0]!.state;
  };
});
