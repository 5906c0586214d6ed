import type { Condition } from "#src/infrastructure/parts.ts";
import { minuteMs } from "#src/domain/units.ts";
import { createPolled } from "#src/infrastructure/polled.ts";
import { infoOfMasters } from "#src/infrastructure/redis.ts";
import type { Resources } from "#src/infrastructure/resources.ts";

const wanted = "noeviction";

/**
 * Watches Redis's policy for a full memory, for `/readyz` and `/metrics`. Any policy except `noeviction` removes keys:
 * queues lose jobs, and counters of limits begin anew.
 */
export function createEvictionWatch({ log, redis }: Pick<Resources, "log" | "redis">) {
  let policy: string | null = null;
  /** Redis answers, but its user may not ask. */
  let isForbidden = false;

  const look = async (): Promise<void> => {
    const before = policy;
    const wasForbidden = isForbidden;
    policy = await infoOfMasters(redis, "memory").then(
      (infos) => {
        isForbidden = false;
        const found = infos.map((info) => /^maxmemory_policy:(\S+)/m.exec(info)?.[1] ?? null);
        return found.find((one) => one !== null && one !== wanted) ?? found[0] ?? null;
      },
      // Redis is away, or forbids its clients to read this.
      (error: unknown) => {
        isForbidden = error instanceof Error && error.message.startsWith("NOPERM");
        return null;
      },
    );
    if (isForbidden && !wasForbidden)
      log.warn("the user of redis may not run INFO: add +info to its rights");
    if (policy !== null && policy !== wanted && policy !== before)
      log.warn({ reason: policy }, `redis evicts keys: set its maxmemory-policy to ${wanted}`);
  };
  const looks = createPolled({ everyMs: minuteMs, look });
  const again = (): void => void looks.refresh();

  return {
    /** Keeps looking. Does not wait for Redis. */
    start(): void {
      redis.on("ready", again);
      void looks.start();
    },
    async stop(): Promise<void> {
      redis.off("ready", again);
      await looks.stop();
    },
    /** 1 when Redis evicts keys; NaN when unknown. */
    evicts: (): number => (policy === null ? NaN : Number(policy !== wanted)),
    /** For `/readyz`. */
    condition: (): Condition => ({
      ok: !isForbidden && (policy === null || policy === wanted),
      says: [
        isForbidden
          ? { code: "redis-right", right: "+info" }
          : policy === null
            ? { code: "unknown" }
            : { code: "eviction", policy },
      ],
    }),
  };
}
