import { setTimeout as sleep } from "node:timers/promises";
import { Queue } from "bullmq";
import { Redis } from "ioredis";
import { expect } from "chai";
import { until } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { type Load, sendMark, startLoad } from "#test/fault/load.ts";
import { expectAnswers, expectInEffectOnce } from "#test/fault/proof.ts";
import { openStage, type Stage } from "#test/fault/stage.ts";
import { holdStation } from "#test/fault/station-hold.ts";
import type { MarksJob } from "#src/infrastructure/queues.ts";

describe("fault: a marks worker dies or stands still", function () {
  let stage: Stage;
  let load: Load;
  let redis: Redis;
  let queue: Queue<MarksJob>;
  beforeEach(async () => {
    stage = await openStage({ workers: 1 });
    redis = new Redis(stage.env["REDIS_URL"]!, { maxRetriesPerRequest: null });
    queue = new Queue("marks", { connection: redis, prefix: stage.env["REDIS_PREFIX"]! });
    load = startLoad(stage.clients);
  });
  afterEach(async () => {
    await queue.close();
    redis.disconnect();
    await stage.close();
  });

  /** The job that some worker has begun for the station. */
  const begun = async (stationId: string) =>
    (await queue.getActive()).find((job) => job?.data.stationIds.includes(stationId));

  it("does a job that was killed with its worker three times", async () => {
    await sleep(2000);
    const station = 7;
    const { id: stationId } = placeOf(station);
    const hold = await holdStation(stage.env["DATABASE_URL"]!, stationId);
    const answering = sendMark(stage.clients[0]!, 1_000_000, station);
    const first = await until(
      () => begun(stationId),
      (job) => job !== undefined,
    );
    for (let kill = 1; kill <= 3; kill++) {
      await until(
        async () => (await queue.getJob(first!.id!))?.attemptsStarted ?? 0,
        (starts) => starts >= kill,
      );
      await stage.workers.at(-1)!.kill9();
      await stage.startWorker();
    }
    await hold.release();
    await until(
      () => queue.getJob(first!.id!),
      (job) => job === undefined,
    );
    await sleep(2000);
    await load.stop();
    await load.retryAll();
    const all = [...load.sent, await answering];
    expectAnswers(all, {});
    await expectInEffectOnce(stage, all);
  });

  it("frees the stations of a worker that stands still in a transaction, and lets it do nothing twice when it goes on", async () => {
    await sleep(2000);
    const station = 7;
    const hold = await holdStation(stage.env["DATABASE_URL"]!, placeOf(station).id);
    const answering = sendMark(stage.clients[0]!, 1_000_000, station);
    await until(
      () => hold.waiting(),
      (count) => count > 0,
    );
    const [frozen] = stage.workers;
    frozen!.freeze();
    // Now the frozen worker's transaction gets the lock and keeps it.
    await hold.release();
    await stage.startWorker();
    await sleep(20_000);
    frozen!.thaw();
    await sleep(5000);
    await load.stop();
    await load.retryAll();
    const all = [...load.sent, await answering];
    expectAnswers(all, {});
    await expectInEffectOnce(stage, all);
    expect(frozen!.lines.filter((line) => line.includes('"level":60'))).to.deep.equal([]);
  });
});
