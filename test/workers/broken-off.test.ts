import { expect } from "chai";
import { rows } from "#src/infrastructure/db.ts";
import { until } from "#test/flow/client.ts";
import { useStage } from "#test/flow/stage.ts";
import { countUnprocessed } from "#test/flow/refold.ts";
import { type RunningRole, startRole } from "#test/harness/roles.ts";
import { say } from "#test/workers/busy-station.ts";

interface Ready {
  degraded: string[];
  checks: { folding: { ok: boolean; detail: string } };
}

const faults = [
  {
    code: "57014",
    words: "statement timeout",
    act: "perform pg_sleep(5);",
    settings: { QUERY_TIMEOUT_MS: "3000" },
  },
  {
    code: "25P03",
    words: "idle in transaction",
    // As Postgres itself says it; the session lives on, which makes no difference to the station.
    act: "raise exception 'terminating connection' using errcode = '25P03';",
    settings: {},
  },
];

for (const { code, words, act, settings } of faults)
  describe(`worker: a station whose refold Postgres breaks off (${words})`, () => {
    const { instance, country } = useStage(5, [], { SWEEP_MS: "200", SLOT_MS: "500" });
    let worker: RunningRole;
    let web: RunningRole;
    let bad: string;
    let others: string[];
    before(async () => {
      [bad, ...others] = country.stationIds as [string, ...string[]];
      await country.db.raw(
        `create function break_off() returns trigger language plpgsql as $$ begin ${act} return new; end $$`,
      );
      await country.db.raw(
        `create trigger break_off before update of state on station_status for each row
         when (new.station_id = '${bad}') execute function break_off()`,
      );
      [worker, web] = await Promise.all([
        // The worker's alone: nothing else may be broken off on a busy machine.
        startRole("marks", { ...instance.env, ...settings }),
        startRole("web", instance.env),
      ]);
    });
    after(() => Promise.all([worker.stop(), web.stop()]));

    const ready = async (): Promise<Ready> =>
      (await (await fetch(`${web.baseUrl}/readyz`)).json()) as Ready;

    const alarms = () => rows(country.db, "select 1 from alarms where kind = 'station-stuck'");

    it("does not hold up the others, and is named as what it is", async () => {
      for (const stationId of [bad, ...others]) await say(country.db, stationId, 0);
      await until(
        () => countUnprocessed(country.db),
        (count) => count === 1,
      );
      const waiting = await rows<{ station_id: string; failed_at: Date | null }>(
        country.db,
        "select station_id, failed_at from marks where processed_at is null",
      );
      expect(waiting).to.deep.equal([{ station_id: bad, failed_at: null }]);
      const { degraded, checks } = await until(ready, (found) => !found.checks.folding.ok);
      expect(degraded).to.include("folding");
      expect(checks.folding.detail).to.match(
        new RegExp(`^${bad}: Postgres broke off its refold \\(${code}\\) since `),
      );
      const metrics = await (await fetch(`${web.baseUrl}/metrics`)).text();
      expect(metrics).to.match(/^fuelmark_stations_unfoldable 1$/m);
      const logged = worker.lines.filter((line) => line.includes("could not be folded anew"));
      expect(logged.map((line) => JSON.parse(line).level)).to.deep.equal([50]);
    });

    it("rests while others come, and heals by itself when the cause is gone", async () => {
      await Promise.all(others.map((stationId) => say(country.db, stationId, 0)));
      await until(
        () => countUnprocessed(country.db),
        (count) => count === 1,
      );
      await until(alarms, (found) => found.length > 0);
      await country.db.raw("drop trigger break_off on station_status");
      await until(
        () => countUnprocessed(country.db),
        (count) => count === 0,
      );
      const { degraded } = await until(ready, (found) => found.checks.folding.ok);
      expect(degraded).not.to.include("folding");
    });

    it("tells nobody when it was broken off once, as a busy machine does", async () => {
      await country.db.raw("delete from alarms");
      await country.db.raw(
        `create sequence folds;
         create function break_once() returns trigger language plpgsql as $$ begin
           if nextval('folds') = 1 then ${act} end if; return new; end $$;
         create trigger break_once before update of state on station_status for each row
         when (new.station_id = '${bad}') execute function break_once()`,
      );
      await say(country.db, bad, 0);
      await until(
        () => countUnprocessed(country.db),
        (count) => count === 0,
      );
      const [folds] = await rows<{ count: number }>(
        country.db,
        "select last_value as count from folds",
      );
      expect(folds!.count).to.be.greaterThan(1);
      expect(await alarms()).to.deep.equal([]);
    });
  });

describe("worker: an alarm of a station whose refold Postgres breaks off each time", () => {
  const { instance, country } = useStage(3, [], { SWEEP_MS: "1000" });
  const workers: RunningRole[] = [];
  before(() =>
    country.db.raw(
      `create function hang() returns trigger language plpgsql as $$ begin perform pg_sleep(5); return new; end $$;
       create trigger hang before update of state on station_status for each row execute function hang();
       select ensure_mark_partitions((server_now() at time zone 'UTC')::date - 6, 3)`,
    ),
  );
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.stop()));
    await country.db.raw("delete from alarms; delete from marks");
  });
  const alarmComes = async (processes: number): Promise<void> => {
    const env = { ...instance.env, QUERY_TIMEOUT_MS: "3000" };
    for (let n = 0; n < processes; n += 1) workers.push(await startRole("marks", env));
    await until(
      () => rows(country.db, "select 1 from alarms where kind = 'station-stuck'"),
      ({ length }) => length > 0,
    );
  };

  it("comes from two processes, each of which finds it in the other's hands", async () => {
    await say(country.db, country.stationIds[0]!, 0);
    await alarmComes(2);
  });

  it("comes when only a mark of days ago waits there, for which few sweeps look", async () => {
    await say(country.db, country.stationIds[1]!, 0, "server_now() - interval '5 days'");
    await alarmComes(1);
  });
});
