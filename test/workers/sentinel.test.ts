import { expect } from "chai";
import type { Content } from "#src/domain/sentinel.ts";
import { emptyState, type StationState } from "#src/domain/state.ts";
import type { Grade, Status } from "#src/domain/vocabulary.ts";
import { rows } from "#src/infrastructure/db.ts";
import { createLog } from "#src/infrastructure/log.ts";
import { createPeers } from "#src/infrastructure/peers.ts";
import { createProducer, type Producer } from "#src/infrastructure/queues.ts";
import { createWorkerRedis } from "#src/infrastructure/redis.ts";
import { createDumpStore } from "#snapshots/dumps/dump-store.ts";
import { until } from "#test/flow/client.ts";
import { sized } from "#test/harness/long.ts";
import { startRole } from "#test/harness/roles.ts";
import { useStage } from "#test/flow/stage.ts";
import { useRoles } from "#test/harness/use.ts";

const log = createLog({ logLevel: "silent" }, "test");
const count = 60;

/** A state as the fold stores it. */
const stateOf = (status: Status): string => {
  const fuels: Grade[] = [];
  const details = {
    fuelsNow: fuels,
    fuelsNo: fuels,
    queue: "",
    limitL: null,
    noCash: false,
  } as const;
  const state: StationState = {
    ...emptyState,
    served: {
      ...{ status, updated: Date.now(), confirmations: 1, realCount: 1 },
      details: { ...details, fuelCardsOnly: false },
    },
  };
  return JSON.stringify(state);
};

describe("worker: the sentinel", function () {
  this.timeout(300_000);
  const { instance, country } = useStage(count, []);
  let producer: Producer;
  let redis: ReturnType<typeof createWorkerRedis>;
  let peers: ReturnType<typeof createPeers>;
  let slot = 0;

  before(async () => {
    const { config } = instance;
    await setStates(count, stateOf("yes"), "yes");
    await stamp();
    producer = createProducer(config, log);
    redis = createWorkerRedis(config, log);
    peers = createPeers({
      ...{ role: "test", config, log, redis },
      db: country.db,
      clock: Date.now,
    });
    void peers.start();
  });
  const roles = useRoles(["web", "web", "snapshots", "upkeep"], instance);
  after(async () => {
    await peers?.stop();
    redis?.disconnect();
    await producer?.close();
  });

  const run = async (queue: "upkeep" | "snapshots", duty: string): Promise<void> => {
    slot += 1;
    await producer.addSlot(queue, { duty, slot } as never);
    const job = async () => (await producer.queue(queue).getJob(`${duty}-s${slot}`)) ?? null;
    await until(job, (found) => found === null || found.finishedOn !== undefined);
  };
  const look = (): Promise<void> => run("upkeep", "sentinel");
  const alarms = (): Promise<{ kind: string; subject: string }[]> =>
    rows(country.db, "select kind, subject from alarms order by id");
  /** How many alarms there are after each of three looks. */
  const threeLooks = async (): Promise<number[]> => {
    const counts: number[] = [];
    for (let n = 0; n < 3; n += 1) {
      await look();
      counts.push((await alarms()).length);
    }
    return counts;
  };
  const setStates = (first: number, state: string | null, status: string) =>
    rows(
      country.db,
      `insert into station_status (station_id, state, status) select id, ?::jsonb, ? from unnest(?::text[]) s(id)
       on conflict (station_id) do update set state = excluded.state, status = excluded.status`,
      [state, status, country.stationIds.slice(0, first)],
    );
  const stamp = () => rows(country.db, "select feed_stamp(?::text[])", [country.stationIds]);
  /** What the three say once each has said it of a moment that is not over yet, and of one moment in common. */
  const said = (ready: (contents: Content[]) => boolean = () => true): Promise<Content[]> => {
    const now = Date.now();
    return until(
      async () => peers.others().flatMap(({ content }) => content ?? []),
      (all) =>
        all.length === 3 &&
        Math.min(...all.map(({ asOfMs }) => asOfMs)) >
          Math.max(now, ...all.map(({ sinceMs }) => sinceMs - 1)) &&
        ready(all),
    );
  };

  it("finds nothing in a healthy country, also while it changes", async () => {
    for (let n = 0; n < sized(1, 2); n += 1) {
      const all = await said((contents) => contents.every(({ known }) => known === count));
      expect(new Set(all.map(({ sum }) => sum)).size).to.equal(1);
      await run("snapshots", "dump");
      await rows(country.db, "update stations set name = ?", [`name ${n}`]);
      await stamp();
      await look();
    }
    expect(await alarms()).to.deep.equal([]);
  });

  it("raises an alarm when a process serves something else at the same change, whoever looks, and says when it is over", async () => {
    // A row that was changed by hand, without a number: only who starts now reads it.
    await setStates(1, stateOf("low"), "low");
    await roles[1]!.stop();
    roles[1] = await startRole("web", instance.env);
    const all = await said();
    expect(new Set(all.map(({ seq, sum }) => `${seq} ${sum}`)).size).to.equal(2);
    await look();
    await look();
    expect(await alarms()).to.deep.equal([]);
    // The third look is that of another process.
    await roles[3]!.stop();
    roles[3] = await startRole("upkeep", instance.env);
    await look();
    expect(await alarms()).to.deep.equal([{ kind: "copies-differ", subject: "processes" }]);
    await roles[3]!.waitForLine(/"reason":"processes differ".*the sentinel has found something/);
    await stamp();
    await said((contents) => new Set(contents.map(({ sum }) => sum)).size === 1);
    await look();
    await roles[3]!.waitForLine(/"reason":"processes differ".*finds it no more/);
  });

  it("raises one when the stored dump, or the database, says something else", async () => {
    const store = createDumpStore(redis, instance.config.redisPrefix, 600_000);
    await run("snapshots", "dump");
    const dump = (await store.load())!;
    await store.save({ ...dump, sum: "0".repeat(24), builtAtMs: dump.builtAtMs + 1 });
    await rows(country.db, "update station_status set status = 'nodata'");
    // Two moments with the same content, around the making of the dump.
    await said((all) =>
      all.every(({ seq, asOfMs }) => seq === dump.seq && asOfMs > dump.builtAtMs),
    );
    expect(await threeLooks()).to.deep.equal([1, 1, 3]);
    expect((await alarms()).slice(1)).to.deep.equal(
      ["database", "dump"].map((subject) => ({ kind: "copies-differ", subject })),
    );
  });

  it("raises one when a fifth of the statuses is gone at once", async () => {
    await setStates(count, stateOf("yes"), "yes");
    await stamp();
    await said((all) => all.every(({ known }) => known === count));
    const before = await alarms();
    await setStates(20, null, "nodata");
    await stamp();
    await said((all) => all.every(({ known }) => known === count - 20));
    await look();
    expect((await alarms()).slice(before.length)).to.deep.equal([
      { kind: "statuses-lost", subject: "stations" },
    ]);
    const [alarm] = await rows(country.db, "select details from alarms order by id desc limit 1");
    expect(alarm).to.deep.equal({ details: { before: count, after: count - 20 } });
  });
});
