import { randomUUID } from "node:crypto";
import type { Audience } from "#src/domain/usage.ts";
import { partnerPrefix, type Redis } from "#src/infrastructure/redis.ts";
import { slices } from "#src/infrastructure/lists.ts";
import { type DayOfUsage, readUsageFields } from "#src/limits/usage-fields.ts";

/** Usage that the meter has counted in Redis and no process has added to the durable rows yet. */
export interface PendingUsage extends DayOfUsage {
  /** Made with its first request and never reused, so that the usage is added once. */
  id: string;
  partnerId: number;
}

const atOnce = 200;
const dirtyKey = (prefix: string): string => `${prefix}:usage`;
const sealedKey = (prefix: string): string => `${prefix}:usage-sealed`;

/** Prefixes under which usage of these partners may be. Older versions, which may still run, have one for all. */
const placesOf = (prefix: string, partnerIds: readonly number[]): string[] => [
  prefix,
  ...partnerIds.map((id) => partnerPrefix(prefix, id)),
];

/** The members of all these sets. */
async function membersOf(redis: Redis, keys: readonly string[]): Promise<string[]> {
  const found: string[][] = [];
  for (const some of slices(keys, atOnce))
    found.push(...(await Promise.all(some.map((key) => redis.smembers(key)))));
  return found.flat();
}

// The name of the sealed hash has the tag of the declared keys, so it lies in their slot.
const sealLua = `
redis.call('SREM', KEYS[1], KEYS[3])
if redis.call('EXISTS', KEYS[3]) == 0 then return 0 end
local sealed = KEYS[3] .. ':' .. (redis.call('HGET', KEYS[3], 'id') or ARGV[1])
redis.call('RENAME', KEYS[3], sealed)
redis.call('SADD', KEYS[2], sealed)
return 1`;

/** Closes the usage of these partners so far; the meter goes on in new hashes. Rejects while Redis is away. */
export async function sealUsage(
  redis: Redis,
  prefix: string,
  partnerIds: readonly number[],
): Promise<void> {
  const seal = (name: string) => {
    const place = placeOf(name);
    return redis.eval(sealLua, 3, dirtyKey(place), sealedKey(place), name, randomUUID());
  };
  const open = await membersOf(redis, placesOf(prefix, partnerIds).map(dirtyKey));
  for (const names of slices(open, atOnce)) await Promise.all(names.map(seal));
}

/** Names of closed usage, of this flush and of interrupted ones. */
export const sealedUsage = (
  redis: Redis,
  prefix: string,
  partnerIds: readonly number[],
): Promise<string[]> => membersOf(redis, placesOf(prefix, partnerIds).map(sealedKey));

/** The usage under these names; names that somebody else has dropped are left out. */
export async function readUsage(redis: Redis, names: readonly string[]): Promise<PendingUsage[]> {
  const found: PendingUsage[] = [];
  for (const some of slices(names, atOnce)) {
    const hashes = await Promise.all(some.map((name) => redis.hgetall(name)));
    for (const [i, name] of some.entries()) {
      const pending = parse(name.slice(placeOf(name).length + mark.length), hashes[i] ?? {});
      if (pending !== null) found.push(pending);
    }
  }
  return found;
}

/** Drops closed usage. Call it only after the usage was added. */
export async function dropUsage(redis: Redis, names: readonly string[]): Promise<void> {
  for (const some of slices(names, atOnce)) {
    // One by one, because they may be on different nodes.
    await Promise.all(some.map((name) => redis.unlink(name)));
    await Promise.all(some.map((name) => redis.srem(sealedKey(placeOf(name)), name)));
  }
}

/**
 * The pending usage of these partners. Open hashes are read before closed ones, and both before the durable rows: usage
 * that moves meanwhile is then seen twice, under one id, and never missed.
 */
export async function pendingUsage(
  redis: Redis,
  prefix: string,
  partnerIds: readonly number[],
): Promise<PendingUsage[]> {
  const places = placesOf(prefix, partnerIds);
  const wanted = new Set(partnerIds);
  const open = await readUsage(redis, await membersOf(redis, places.map(dirtyKey)));
  const closed = await readUsage(redis, await membersOf(redis, places.map(sealedKey)));
  const own = [...open, ...closed].filter(({ partnerId }) => wanted.has(partnerId));
  return [...new Map(own.map((usage) => [usage.id, usage])).values()];
}

const mark = ":usage:";

/** The place of a hash of a day, by its name. */
const placeOf = (name: string): string => name.slice(0, name.lastIndexOf(mark));

const audiences: Readonly<Record<string, Audience>> = { p: "partner", w: "widget" };

/** `name`: `p12:20779` (partner 12, day) while it is open, then with `:<id>`. */
function parse(name: string, hash: Record<string, string>): PendingUsage | null {
  const [, letter = "", partner, day, sealedId] = /^([pw])(\d+):(\d+)(?::(.+))?$/.exec(name) ?? [];
  const audience = audiences[letter];
  const { id: openId, ...fields } = hash;
  const id = sealedId ?? openId;
  if (audience === undefined || id === undefined || Object.keys(fields).length === 0) return null;
  const partnerId = Number(partner);
  return {
    id: `${letter}${partnerId}:${day}:${id}`,
    partnerId,
    ...readUsageFields(fields, audience, Number(day)),
  };
}
