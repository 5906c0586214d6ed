import type { Queue } from "bullmq";
import { ExitError } from "#cli/output.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { slices } from "#src/infrastructure/lists.ts";
import { createLog } from "#src/infrastructure/log.ts";
import type { QueueName } from "#src/infrastructure/queue-state.ts";
import type { MarksJob } from "#src/infrastructure/queues.ts";
import { createRedis, isRedisAway } from "#src/infrastructure/redis.ts";
import { renewEpoch } from "#src/feed/cache-generations.ts";

const patienceMs = 5000;
const briefMs = 1000;
const wakeStations = 200;

/** Runs `work` on the instance's queues. Refuses with a sentence when Redis does not answer. */
export async function withQueues<T>(
  config: Config,
  work: (queue: (name: QueueName) => Queue) => Promise<T>,
): Promise<T> {
  if (config.redisUrl === "")
    throw new ExitError("no instance found: start one with `npm start`, or set REDIS_URL", 1);
  const answer = await attempt(config, patienceMs, work);
  if ("result" in answer) return answer.result;
  if (!isRedisAway(answer.error)) throw answer.error;
  throw new ExitError(`Redis does not answer (${(answer.error as Error).message})`, 1);
}

/** Wakes the marks workers for stations. Without Redis they find the work by themselves, seconds later. */
export async function wakeMarks(config: Config, stationIds: readonly string[]): Promise<void> {
  if (config.redisUrl === "" || stationIds.length === 0) return;
  const jobs = [...slices(stationIds, wakeStations)].map((some) => {
    return { name: "wake", data: { stationIds: some } satisfies MarksJob };
  });
  await attempt(config, briefMs, (queue) => queue("marks").addBulk(jobs));
}

type Answer<T> = { result: T } | { error: unknown };

/** Tries until the connection is ready or patience ends, because it refuses at once before. */
async function attempt<T>(
  config: Config,
  patience: number,
  work: (queue: (name: QueueName) => Queue) => Promise<T>,
): Promise<Answer<T>> {
  // Loaded only here: it takes as long as all the rest, and most commands need no queue.
  const { createProducer } = await import("#src/infrastructure/queues.ts");
  const producer = createProducer(config, createLog({ logLevel: "silent" }, "operator"));
  try {
    for (const end = performance.now() + patience; ;) {
      try {
        producer.queue("marks");
        break;
      } catch (error) {
        if (performance.now() > end) return { error };
        await new Promise((resume) => setTimeout(resume, 20));
      }
    }
    return { result: await work(producer.queue) };
  } catch (error) {
    return { error };
  } finally {
    await producer.close();
  }
}

/**
 * Drops all cached rectangles, after a command that changes many stations. Without Redis it does nothing: the web
 * processes also drop changed rectangles by themselves.
 */
export async function dropRectangles(config: Config): Promise<void> {
  if (config.redisUrl === "") return;
  const redis = createRedis(config, createLog({ logLevel: "silent" }, "operator"));
  try {
    if (redis.status !== "ready")
      await new Promise<void>((resolve, reject) => {
        redis.once("ready", resolve);
        setTimeout(() => reject(new Error("Redis does not answer")), briefMs).unref();
      });
    await renewEpoch(redis, config.redisPrefix);
  } catch {
    // The command itself has succeeded.
  } finally {
    redis.disconnect();
  }
}
