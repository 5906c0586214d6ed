import { expect } from "chai";
import { type Db, rows } from "#src/infrastructure/db.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { decide } from "#src/domain/decide.ts";
import { emptyState } from "#src/domain/state.ts";
import { markColumns, type MarkRow, msOf, toMark } from "#src/marks/marks.ts";
import { until } from "#test/flow/client.ts";
import { countUnprocessed } from "#test/flow/refold.ts";
import { startLoad } from "#test/fault/load.ts";
import { expectAnswers, expectInEffectOnce } from "#test/fault/proof.ts";
import { openStage, type Stage } from "#test/fault/stage.ts";

describe("flow: the marks role runs as 0, 1 and 4 processes", function () {
  let stage: Stage;
  before(async () => {
    stage = await openStage({ workers: 0, settings: { WAIT_MS: "1000" } });
  });
  after(() => stage.close());

  it("queues marks without a worker, loses none, and keeps each station's order with one and with four", async () => {
    const { db } = stage.country;
    const load = startLoad(stage.clients);
    await until(
      () => Promise.resolve(load.sent.length),
      (answered) => answered > 50,
    );
    const queued = [...load.sent];
    for (const { status, body } of queued) {
      expect(status).to.equal(202);
      expect(body).to.deep.include({ accepted: true, duplicate: false });
      expect(body.published).to.include({ outcome: "queued" });
    }
    expect(await countUnprocessed(db)).to.be.at.least(queued.length);

    const numberOf = async (which: string): Promise<number> =>
      (await rows<{ n: number }>(db, `select count(*)::int as n from marks where ${which}`))[0]!.n;
    const fiftyMore = async () => {
      const stored = await numberOf("true");
      await until(
        () => numberOf("processed_at is not null"),
        (count) => count > stored + 50,
      );
    };
    await stage.startWorker();
    await fiftyMore();
    await Promise.all([stage.startWorker(), stage.startWorker(), stage.startWorker()]);
    await fiftyMore();
    await load.stop();
    expectAnswers(load.sent, {});
    await expectInEffectOnce(stage, load.sent);
    await expectOrderKept(stage.country.db, stage.config);
  });
});

/** Each mark's outcome is what it is when the station's marks are taken one by one in the order they were stored. */
async function expectOrderKept(db: Db, config: Config): Promise<void> {
  const marks = await rows<MarkRow & { outcome: string; outcome_have: number }>(
    db,
    `select ${markColumns}, outcome, outcome_have from marks order by id`,
  );
  const reporters = await rows<{ id: number; seen: number }>(
    db,
    `select id, ${msOf("first_seen")} as seen from reporters`,
  );
  const seen = new Map(reporters.map((row) => [row.id, row.seen]));
  for (const stationId of new Set(marks.map((row) => row.station_id))) {
    let facts = { state: emptyState, opinions: [] as ReturnType<typeof toMark>[], history: null };
    for (const row of marks.filter((each) => each.station_id === stationId)) {
      const mark = toMark(row);
      const arrivals = { marks: [mark], seeds: [] };
      const decision = decide(facts, arrivals, (id) => seen.get(id) ?? 0, mark.at, config);
      const { outcome, have } = decision.outcomes.get(mark.id)!;
      expect([row.outcome, row.outcome_have], `mark ${row.id} of ${stationId}`).to.deep.equal([
        outcome,
        have,
      ]);
      facts = { state: decision.state, opinions: [...decision.opinions.values()], history: null };
    }
  }
}
