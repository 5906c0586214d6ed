import { Worker } from "bullmq";
import { Redis } from "ioredis";
import { expect } from "chai";
import { retry } from "#cli/queues.ts";
import { rows } from "#src/infrastructure/db.ts";
import { createLog } from "#src/infrastructure/log.ts";
import { createProducer } from "#src/infrastructure/queues.ts";
import { until } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { useStage } from "#test/flow/stage.ts";
import { runOperator } from "#test/harness/operator.ts";
import { startPrivateRedis } from "#test/harness/servers.ts";

describe("flow: failed marks and the operator's queues", function () {
  const { instance, country, workers, operator, client } = useStage(20, ["web", "marks"], {
    KEYS_REFRESH_MS: "15000",
  });
  let users = 0;
  /** A mark of a new user at a new station; without coordinates unless told. */
  const mark = (body: object) => {
    users += 1;
    return client.mark(placeOf(users), `user ${users}`, { status: "yes", ...body });
  };

  it("has a failed mark processed again", async () => {
    const { body } = await mark({});
    const id = Number(body.report_id);
    await country.db.raw(
      "update marks set processed_at = null, outcome = null, failed_at = now(), failure = 'no' where id = ?",
      [id],
    );
    const failed = await operator("marks", "failed");
    expect(failed.json).to.have.length(1);
    expect(failed.json[0]).to.include({ id, status: "yes", failure: "no" });
    const depth = await operator("queues");
    expect(depth.json.find((one: { queue: string }) => one.queue === "marks")).to.include({
      unprocessed_marks: 0,
      oldest_mark_age_s: null,
      failed_marks: 1,
    });
    expect((await operator("marks", "retry", String(id))).json).to.deep.include({ id });
    await until(
      () => client.get(`/reports/${id}`),
      (answer) => answer.body.state === "processed",
    );
    expect((await operator("marks", "retry", String(id))).code).to.equal(1);
    const log = await rows(country.db, "select id from operator_log where action = 'mark.retry'");
    expect(log).to.have.length(1);
  });

  it("has all failed marks processed again, in any number of transactions", async () => {
    const { body } = await mark({});
    await country.db.raw(
      `insert into marks (id, station_id, reporter_id, source, status, received_at, effective_at, remote, needed, rule,
         failed_at, failure)
       select next_mark_id(received_at), station_id, reporter_id, source, status, received_at, effective_at, remote, needed,
         rule, now(), 'no'
       from marks, generate_series(1, 1100) where id = ?`,
      [Number(body.report_id)],
    );
    const neither = await operator("marks", "retry");
    expect([neither.code, (await operator("marks", "retry", "1", "--all")).code]).to.deep.equal([
      2, 2,
    ]);
    const { json } = await operator("marks", "retry", "--all");
    expect(json).to.deep.equal({ retried_marks: 1100, stations: 1 });
    const waiting = "select id from marks where processed_at is null";
    await until(
      () => rows(country.db, waiting),
      (found) => found.length === 0,
    );
    const log = "select subject from operator_log where subject like '% marks' order by id";
    const subjects = ["500 marks", "500 marks", "100 marks"].map((subject) => ({ subject }));
    expect(await rows(country.db, log)).to.deep.equal(subjects);
    expect((await operator("marks", "retry", "--all")).json).to.deep.equal({
      retried_marks: 0,
      stations: 0,
    });
  });

  it("shows a station whose refold fails, says why in the log, and folds it when that is over", async () => {
    const [marks] = workers;
    const station = placeOf(0).id;
    await country.db.raw(`create function broken() returns trigger language plpgsql as
      $$ begin raise exception 'broken on purpose'; end $$`);
    await country.db.raw(`create trigger broken before update on station_status for each row
      when (new.station_id = '${station}') execute function broken()`);
    // Only now: a sweep may come at once.
    await country.db.raw("insert into station_status (station_id, refold) values (?, true)", [
      station,
    ]);
    const told = await marks!.waitForLine(/could not be folded anew/);
    expect(told).to.include(station).and.include("broken on purpose");
    const waiting = (await operator("queues", "refolds")).json as { station_id: string }[];
    expect(waiting.map((one) => one.station_id)).to.deep.equal([station]);
    const alarms = await until(
      () => operator("alarm", "list"),
      ({ json }) => json.length > 0,
    );
    expect(alarms.json[0]).to.include({ kind: "station-stuck", subject: `station ${station}` });
    await country.db.raw("drop trigger broken on station_status");
    await until(
      () => operator("queues", "refolds"),
      (answer) => answer.json.length === 0,
    );
  });

  it("names no count of processes where Redis does not list its clients", async () => {
    const server = await startPrivateRedis({ settings: { "rename-command": 'client ""' } });
    try {
      const shown = await runOperator(
        { ...instance.env, REDIS_URL: server.url },
        "queues",
        "--json",
      );
      const counts = (shown.json as { workers: null }[]).map(({ workers: count }) => count);
      expect(new Set(counts), shown.err).to.deep.equal(new Set([null]));
    } finally {
      await server.drop();
    }
  });

  it("shows each queue's depth, oldest age and failures, and retries failed jobs", async () => {
    const { config } = instance;
    const producer = createProducer(config, createLog({ logLevel: "silent" }, "test"));
    const connection = new Redis(instance.redisUrl, { maxRetriesPerRequest: null });
    const worker = new Worker(
      "upkeep",
      () => {
        throw new Error("broken on purpose");
      },
      { connection, prefix: instance.redisPrefix },
    );
    try {
      await until(
        async () => {
          try {
            return producer.queue("upkeep");
          } catch {
            return null;
          }
        },
        (queue) => queue !== null,
      );
      const queue = producer.queue("upkeep");
      const timestamp = Date.now() - 90_000;
      await queue.add("bad", {}, { attempts: 1, jobId: "bad-1" });
      await queue.add("bad", {}, { attempts: 1, jobId: "bad-2" });
      await until(
        () => queue.getFailedCount(),
        (count) => count === 2,
      );
      await worker.close();
      await queue.add("good", {}, { timestamp });
      await queue.add("good", {});

      const shown = await operator("queues");
      const depths = shown.json as Record<string, number>[];
      const upkeep = depths.find((one) => String(one["queue"]) === "upkeep")!;
      expect(upkeep).to.include({ depth: 2, active: 0, failed: 2, workers: 0 });
      expect(shown.err).to.include("no process takes jobs of upkeep: is its role up?");
      expect(depths.find((one) => String(one["queue"]) === "marks")).to.include({ workers: 1 });
      expect(upkeep["oldest_age_s"]).to.be.within(90, 600);
      expect(depths.find((one) => String(one["queue"]) === "snapshots")).to.include({
        depth: 0,
        oldest_age_s: null,
      });
      const failed = (await operator("queues", "failed", "upkeep")).json as {
        id: string;
        reason: string;
      }[];
      expect(failed.map((job) => job.id).sort()).to.deep.equal(["bad-1", "bad-2"]);
      expect(failed[0]!.reason).to.equal("broken on purpose");
      const stale = await queue.getFailed();

      expect((await operator("queues", "retry", "upkeep", "bad-1")).json).to.deep.include({
        retried: 1,
        jobs: ["bad-1"],
      });
      expect((await operator("queues", "retry", "upkeep", "bad-1")).code).to.equal(1);
      expect((await operator("queues", "retry", "upkeep")).code).to.equal(2);
      expect((await operator("queues", "retry", "upkeep", "--all")).json).to.deep.include({
        retried: 1,
        jobs: ["bad-2"],
      });
      expect(await queue.getFailedCount()).to.equal(0);
      expect(await queue.getWaitingCount()).to.equal(4);
      // One is gone since the list was read, and one waits already.
      await queue.remove("bad-1");
      const done = { jobs: [], missed: 0 };
      await retry(stale, done);
      expect(done).to.deep.equal({ jobs: [], missed: 2 });
      const log = await rows<{ subject: string }>(
        country.db,
        "select subject from operator_log where action = 'queue.retry'",
      );
      expect(log).to.deep.equal([{ subject: "queue upkeep" }, { subject: "queue upkeep" }]);
    } finally {
      await worker.close();
      connection.disconnect();
      await producer.close();
    }
  });
});
