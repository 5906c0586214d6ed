import type { Db } from "#src/infrastructure/db.ts";
import { slices } from "#src/infrastructure/lists.ts";
import { dropUsage, readUsage, sealedUsage, sealUsage } from "#src/limits/pending-usage.ts";
import { addUsage, pruneUsage } from "#src/limits/usage-rows.ts";
import type { RoleDeps } from "#workers/role.ts";

type Deps = Pick<RoleDeps, "db" | "config" | "redis">;

const batchesAtOnce = 200;

/**
 * Moves the meter's counts from Redis to the durable rows (docs/contract.md 2.5): close, add under the batch's id,
 * drop. Everything counts once, even if the process is killed at any point. Returns the number of batches added.
 */
export async function flushUsage(deps: Deps): Promise<number> {
  const { db, redis, config } = deps;
  const partnerIds = await allPartnerIds(db);
  // Batches of an earlier flush come first: while Postgres is away this fails, and no further batches are made.
  const left = await addSealed(deps, partnerIds);
  await sealUsage(redis, config.redisPrefix, partnerIds);
  return left + (await addSealed(deps, partnerIds));
}

async function addSealed(
  { db, config, redis }: Deps,
  partnerIds: readonly number[],
): Promise<number> {
  const names = await sealedUsage(redis, config.redisPrefix, partnerIds);
  let added = 0;
  for (const some of slices(names, batchesAtOnce)) {
    added += await addUsage(db, await readUsage(redis, some));
    await dropUsage(redis, some);
  }
  return added;
}

/** Drops usage past its retention. Rejects while Redis is away, because ids of batches that it has must stay. */
export async function retireUsage({ db, config, redis }: Deps): Promise<void> {
  const names = await sealedUsage(redis, config.redisPrefix, await allPartnerIds(db));
  await pruneUsage(db, config.retentionDays, await readUsage(redis, names));
}

const allPartnerIds = (db: Db): Promise<number[]> => db("partners").orderBy("id").pluck("id");
