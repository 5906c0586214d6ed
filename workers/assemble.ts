import { clockAlarm, rowsAlarm } from "#src/alarms/raise.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { createDamageWatch } from "#src/infrastructure/checksum.ts";
import { createDb } from "#src/infrastructure/db.ts";
import type { Log } from "#src/infrastructure/log.ts";
import { createParts } from "#src/infrastructure/parts.ts";
import { createPeers } from "#src/infrastructure/peers.ts";
import { createQuarantine } from "#src/infrastructure/quarantine.ts";
import { createProducer } from "#src/infrastructure/queues.ts";
import { createRedis, createWorkerRedis } from "#src/infrastructure/redis.ts";
import { createServerTime } from "#src/infrastructure/server-time.ts";
import type { Tracer } from "#src/infrastructure/tracing.ts";
import { createClockRole } from "#workers/clock/role.ts";
import { createImportsRole } from "#workers/imports/role.ts";
import { createMarksRole } from "#workers/marks/role.ts";
import type { Role, RoleDeps } from "#workers/role.ts";
import { createSnapshotsRole } from "#workers/snapshots/role.ts";
import { createUpkeepRole } from "#workers/upkeep/role.ts";
import { createWebhooksRole } from "#workers/webhooks/role.ts";

/** The worker roles, by the names of the Procfile. */
export const workerRoles: Readonly<Record<string, (deps: RoleDeps) => Role>> = {
  marks: createMarksRole,
  snapshots: createSnapshotsRole,
  upkeep: createUpkeepRole,
  webhooks: (deps) => createWebhooksRole(deps),
  imports: (deps) => createImportsRole(deps),
  clock: createClockRole,
};

/** A worker role with its connections; several can run in one Node process. Throws for an unknown role. */
export function assembleWorker(
  name: string,
  config: Config,
  log: Log,
  tracer: Tracer | null = null,
): Role {
  const create = workerRoles[name];
  if (create === undefined) throw new Error(`name a role: ${Object.keys(workerRoles).join(", ")}`);
  const made: (() => unknown)[] = [];
  /** Makes a part when it is first needed: most roles need one of the two, and the clock no blocking one. */
  const needed = <T>(make: () => T, end: (one: T) => unknown): (() => T) => {
    let one: T | undefined;
    return () => {
      if (one !== undefined) return one;
      const fresh = make();
      one = fresh;
      made.push(() => end(fresh));
      return fresh;
    };
  };
  const db = createDb(config, name);
  const redis = createRedis(config, log);
  const time = createServerTime({ config, db, redis, log, onOff: clockAlarm(db, name) });
  const clock = time.now;
  const peers = createPeers({ role: name, config, log, clock, db, redis });
  createDamageWatch({ log, redis });
  peers.tell(() => ({ clock: time.ahead() }));
  const deps: RoleDeps = {
    ...{ config, log, tracer, clock, time, peers, db, redis },
    quarantine: createQuarantine(log, rowsAlarm(db, clock)),
    workerRedis: needed(
      () => createWorkerRedis(config, log),
      (redis) => redis.disconnect(),
    ),
    producer: needed(
      () => createProducer(config, log, clock),
      (producer) => producer.close(),
    ),
  };
  const parts = createParts(
    { stop: () => db.destroy() },
    { stop: () => redis.disconnect() },
    { stop: async () => void (await Promise.all(made.map((end) => end()))) },
    ...[{ stop: time.stop }, { stop: peers.stop }, create(deps)],
  );
  return {
    start: async () => {
      await time.start();
      void peers.start();
      await parts.start();
    },
    stop: parts.stop,
  };
}
