import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Config, loadConfig } from "#src/infrastructure/config.ts";
import { createDb, type Db } from "#src/infrastructure/db.ts";
import { createLog } from "#src/infrastructure/log.ts";
import { createRedis, type Redis } from "#src/infrastructure/redis.ts";
import { createTestInstance, patience, type TestInstance } from "#test/harness/instance.ts";
import { createTestRedis } from "#test/harness/redis.ts";
import { type RunningRole, startRole } from "#test/harness/roles.ts";
import { type OwnServer, startPrivateRedis } from "#test/harness/servers.ts";

/** By their environment names; a function is asked when what they are for opens. */
export type Settings = Record<string, string> | (() => Record<string, string>);

export const settingsOf = (settings: Settings): Record<string, string> =>
  typeof settings === "function" ? settings() : settings;

const closings = new WeakMap<Mocha.Suite, (() => unknown)[]>();

/**
 * Opens something before the first test of this `describe` and closes it after the last: after the file's own `after`
 * hooks, in reverse order of opening.
 *
 * @param blank answered at once and filled in by what `open` gives, also the objects and arrays in it: they may be taken
 *   out of it at once, everything else only in hooks and tests
 */
export function use<T extends object>(
  open: () => Promise<T>,
  close: (opened: T) => unknown,
  blank: object = {},
): T {
  const used = blank as T;
  before(async function () {
    fill(used, await open());
    closingsOf(this.test!.parent!).push(() => close(used));
  });
  return used;
}

/** The instance of a `describe`, with connections to its database. */
export const useInstance = (settings: Settings = {}): TestInstance & { db: Db } =>
  use(
    async () => {
      const instance = await createTestInstance(settingsOf(settings));
      return { ...instance, db: createDb(instance.config, "test") };
    },
    async ({ db, drop }) => {
      await db.destroy();
      await drop();
    },
  );

/** A folder of a `describe` for its files. */
export const useFolder = (): { path: string } =>
  use(
    async () => ({ path: await mkdtemp(join(tmpdir(), "fuelmark-")) }),
    ({ path }) => rm(path, { recursive: true, force: true }),
  );

export interface UsedRedis {
  config: Config;
  redisPrefix: string;
  redis: Redis;
}

/** A key space of a `describe` in the run's Redis, with a connection to it; it has no database. */
export const useRedis = (settings: Record<string, string> = {}): UsedRedis =>
  use(
    async () => {
      const { redisUrl, redisPrefix, drop } = createTestRedis();
      const env = { ...patience, REDIS_URL: redisUrl, REDIS_PREFIX: redisPrefix, ...settings };
      const config = loadConfig(env);
      const redis = createRedis(config, createLog({ logLevel: "silent" }, "test"));
      if (redis.status !== "ready") await new Promise((ready) => redis.once("ready", ready));
      return { config, redisPrefix, redis, drop };
    },
    async ({ redis, drop }) => {
      redis.disconnect();
      await drop();
    },
  );

/** A Redis of a `describe` alone. */
export const usePrivateRedis = (options: { durable?: boolean } = {}): OwnServer =>
  use(
    () => startPrivateRedis(options),
    (server) => server.drop(),
  );

/** Roles of a `describe`, started together when all that was used before it is there. */
export const useRoles = (
  names: readonly string[],
  instance: Pick<TestInstance, "env">,
  settings: Record<string, string> = {},
): RunningRole[] =>
  use(
    () => Promise.all(names.map((name) => startRole(name, { ...instance.env, ...settings }))),
    (roles) => Promise.all(roles.map((role) => role.stop())),
    names.map(() => ({})),
  );

/** The list is made, and its hook added, by the first that asks. */
function closingsOf(suite: Mocha.Suite): (() => unknown)[] {
  const known = closings.get(suite);
  if (known !== undefined) return known;
  const list: (() => unknown)[] = [];
  closings.set(suite, list);
  suite.afterAll(async () => {
    for (const close of list.reverse()) await close();
  });
  return list;
}

function fill(into: object, from: object): void {
  const isObject = (one: unknown): one is object => typeof one === "object" && one !== null;
  const blanks = new Map<string, unknown>(Object.entries(into));
  for (const [key, value] of Object.entries(from)) {
    const blank = blanks.get(key);
    if (isObject(blank) && isObject(value)) fill(blank, value);
    else Object.assign(into, { [key]: value });
  }
}
