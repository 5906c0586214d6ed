import { randomUUID } from "node:crypto";
import { checkedText, tellDamage, withChecksum } from "#src/infrastructure/checksum.ts";
import type { Content } from "#src/domain/sentinel.ts";
import { createPolled } from "#src/infrastructure/polled.ts";
import { runScript, scriptOf } from "#src/infrastructure/redis.ts";
import type { Resources } from "#src/infrastructure/resources.ts";

/** The facts that a process publishes about itself. All times in ms by the time that it follows. */
export interface Peer {
  role: string;
  at: number;
  /** Time of Postgres's last answer; null before the first. */
  postgresAt: number | null;
  /** Number of the last change that it has applied; null if it follows no changes. */
  seq: number | null;
  /** Time of the read of Postgres that its keys come from; null without keys. */
  keysAt: number | null;
  /** Summary of the stations that it serves, as of a moment; null if it serves none. */
  content: Content | null;
  /** Where it answers HTTP, the likeliest first; absent if it does not. */
  urls?: string[];
  /** How far the clocks of its servers are ahead of its own, ms. */
  clock: { postgresMs: number | null; redisMs: number | null } | null;
}

export type Peers = ReturnType<typeof createPeers>;

const everyMs = 2000;
/** A process that has published nothing for this time, by Redis's clock, is gone. */
const keptMs = 15_000;

// Each value begins with Redis's time in ms, so that the age needs no clock of a process.
const sayScript = scriptOf(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('HSET', KEYS[1], ARGV[1], string.format('%d ', now) .. ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
local said, others = redis.call('HGETALL', KEYS[1]), {}
for i = 1, #said, 2 do
  local at, text = said[i + 1]:match('^(%d+) (.*)$')
  if not at or math.abs(now - tonumber(at)) > tonumber(ARGV[3]) then
    redis.call('HDEL', KEYS[1], said[i])
  elseif said[i] ~= ARGV[1] then
    others[#others + 1] = text
  end
end
return others`);

/**
 * Exchanges facts between the processes of all roles through Redis (decisions 21.15). Each process publishes its facts
 * every two seconds, and reads those of the others in the same call.
 */
export function createPeers(
  deps: Pick<Resources, "config" | "log" | "clock" | "db" | "redis"> & {
    role: string;
  },
) {
  const { role, config, log, clock, db, redis } = deps;
  const key = `${config.redisPrefix}:peers`;
  const id = randomUUID();
  const facts: (() => Partial<Peer>)[] = [];
  let others: readonly Peer[] = [];
  let heardMs = -Infinity;
  /** Time of the newest facts, by their process's clock. */
  let newestAt = NaN;

  const own = (): Peer => {
    const { answeredAt } = db.pool;
    const at = clock();
    const postgresAt = answeredAt === null ? null : at - (performance.now() - answeredAt);
    const nothing = { seq: null, keysAt: null, content: null, clock: null };
    return Object.assign({ role, at, postgresAt, ...nothing }, ...facts.map((say) => say()));
  };

  const look = async (): Promise<void> => {
    const began = performance.now();
    const values = [id, withChecksum(key, JSON.stringify(own())), keptMs];
    const found = (await runScript(redis, sayScript, [key], values)) as Buffer[];
    const texts = found.map((one) => checkedText(key, one.toString()));
    if (texts.includes(null)) tellDamage(redis, "peers");
    others = texts.flatMap((text) => (text === null ? [] : [JSON.parse(text) as Peer]));
    const newest = Math.max(...others.map(({ at }) => at));
    if (others.length > 0 && newest !== newestAt) [newestAt, heardMs] = [newest, began];
  };
  const looks = createPolled({
    ...{ everyMs, look },
    // The connection has logged that Redis is away.
    onError: (err) => log.debug({ err }, "no look at the other processes"),
  });

  return {
    /** From now on this process also publishes these facts. */
    tell: (say: () => Partial<Peer>): void => void facts.push(say),
    /** The others' facts, as of the last look that succeeded. */
    others: (): readonly Peer[] => others,
    /** Time of the last new facts, by the monotonic clock in ms; -Infinity before the first. */
    heardMs: (): number => heardMs,
    /** Looks now. Facts published before the call are known afterwards, unless Redis is away. */
    look: looks.refresh,
    start: looks.start,
    async stop(): Promise<void> {
      await looks.stop();
      await redis.hdel(key, id).catch(() => undefined);
    },
  };
}
