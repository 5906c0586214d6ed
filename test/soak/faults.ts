import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Redis } from "ioredis";
import type { Random } from "#demo/country/random.ts";
import { isAlive } from "#demo/servers/process.ts";
import { until } from "#test/flow/client.ts";
import { clockSteps } from "#test/harness/faketime.ts";
import { brokenModes } from "#test/harness/tcp-proxy.ts";
import type { Violation } from "#test/fault/history.ts";
import { floodMap, floodPages, floodPartner, floodSignIn, leaveUnread } from "#test/soak/floods.ts";
import { dripFeeds, mendReceivers, spoilHooks } from "#test/soak/receivers.ts";
import type { Member, SoakStage } from "#test/soak/stage.ts";

/** A fault that has begun. */
export interface Fault {
  kind: string;
  /** For the time line: what is wrong with whom. */
  what: string;
  /** Mends it; a process that died of it is started again by the checkpoint. */
  end(): Promise<void> | void;
  /** Others must not feel it, where nothing else is wrong. */
  sparesOthers?: true;
  /** Long answers may be refused for a moment meanwhile. */
  mayRefuse?: true;
  /** What else must go on; asked just before its end, where nothing else is wrong. */
  look?(): Promise<Violation[]> | Violation[];
  /** What it was answered, for the time line. */
  tell?(): string;
}

/** How to begin a fault of one kind; null where it cannot be had just now, or not on this machine. */
export type Begin = (stage: SoakStage, random: Random) => Promise<Fault | null> | Fault | null;

const stores = ["postgres", "redis"] as const;

/** Runs commands of the operator of Redis, past all proxies. */
async function askRedis(stage: SoakStage, ...commands: [string, ...string[]][]): Promise<void> {
  const redis = new Redis(stage.redis.url, { maxRetriesPerRequest: 1, commandTimeout: 5000 });
  redis.on("error", () => undefined);
  try {
    for (const [name, ...args] of commands) await redis.call(name, ...args);
  } finally {
    redis.disconnect();
  }
}

/** A way between one process, or all of them, and one of the servers. */
const breakWay =
  (all: boolean): Begin =>
  ({ members }, random) => {
    const store = random.pick(stores);
    const mode = random.pick(brokenModes);
    const hit = all ? members : [random.pick(members)];
    for (const member of hit) member[store].set(mode);
    return {
      kind: `${mode} to ${store}`,
      what: `${all ? "all processes" : hit[0]!.name}: ${mode} to ${store}`,
      end: () => hit.forEach((member) => member[store].set("pass")),
    };
  };

/** A process without both servers: it knows nothing of the world, and may be asked all the same. */
const isolate: Begin = ({ members }, random) => {
  const mode = random.pick(brokenModes);
  const member = random.pick(members);
  for (const store of stores) member[store].set(mode);
  return {
    kind: `${mode} to both`,
    what: `${member.name}: ${mode} to postgres and redis`,
    end: () => stores.forEach((store) => member[store].set("pass")),
  };
};

const killRole: Begin = async ({ members }, random) => {
  const member = random.pick(members);
  await member.kill9();
  return { kind: "kill -9 of a role", what: `${member.name}: killed`, end: () => member.restart() };
};

const freezeRole: Begin = ({ members }, random) => {
  const member = random.pick(members);
  const frozen = member.process();
  frozen.freeze();
  return { kind: "SIGSTOP of a role", what: `${member.name}: frozen`, end: () => frozen.thaw() };
};

const stepClock: Begin = ({ members }, random) => {
  const member: Member = random.pick(members);
  if (member.clock === null) return null;
  const [step, ms] = random.pick(Object.entries(clockSteps));
  member.clock.set(ms);
  return {
    kind: "wrong clock",
    what: `${member.name}: clock ${step}`,
    end: () => member.clock!.set(0),
  };
};

const killServer: Begin = async (stage, random) => {
  const store = random.pick(stores);
  const wiped = store === "redis" && random.chance(0.5);
  await stage[store].kill9();
  return {
    kind: `kill -9 of ${store}`,
    what: `${store}: killed${wiped ? ", comes back empty" : ""}`,
    end: () => stage[store].restart({ wiped }),
  };
};

const freezeServer: Begin = (stage, random) => {
  const store = random.pick(stores);
  stage[store].freeze();
  return {
    kind: `SIGSTOP of ${store}`,
    what: `${store}: frozen`,
    end: () => stage[store].thaw(),
  };
};

const flushRedis: Begin = async (stage) => {
  await askRedis(stage, ["FLUSHALL"]);
  return { kind: "FLUSHALL", what: "redis: FLUSHALL", end: () => undefined };
};

const fillRedis: Begin = async (stage) => {
  await askRedis(stage, ["CONFIG", "SET", "maxmemory", "1"]);
  return {
    kind: "maxmemory of Redis",
    what: "redis: takes no writes, its memory is full",
    end: () => askRedis(stage, ["CONFIG", "SET", "maxmemory", "0"]),
  };
};

const fillerOf = (disk: string): string => join(disk, "filler");

/** Both servers keep their data there. Postgres ends itself when its log has no room. */
const fillDisk: Begin = (stage) => {
  if (stage.disk === null) return null;
  for (const bytes of [2 ** 23, 2 ** 12]) {
    const piece = Buffer.alloc(bytes);
    try {
      for (;;) writeFileSync(fillerOf(stage.disk), piece, { flag: "a" });
    } catch {
      // Full, to the last block.
    }
  }
  return {
    kind: "full disk",
    what: "postgres and redis: the disk is full",
    end: () => rmSync(fillerOf(stage.disk!), { force: true }),
  };
};

const begins: readonly (readonly [Begin, number])[] = [
  [breakWay(false), 10],
  [breakWay(true), 2],
  [isolate, 4],
  [killRole, 4],
  [freezeRole, 4],
  [stepClock, 4],
  [killServer, 2],
  [freezeServer, 2],
  [flushRedis, 1],
  [fillRedis, 1],
  [fillDisk, 1],
  [floodPages, 3],
  [floodSignIn, 2],
  [floodPartner, 3],
  [floodMap, 3],
  [leaveUnread, 4],
  [spoilHooks, 4],
  [dripFeeds, 4],
];

/** Begins a fault at random. Throws when a server that the fault needs is away already. */
export async function beginFault(stage: SoakStage, random: Random): Promise<Fault> {
  for (;;) {
    const fault = await random.weighted(begins)(stage, random);
    if (fault !== null) return fault;
  }
}

/** Mends whatever faults have left: afterwards servers answer, and every process runs. */
export async function mendAll(stage: SoakStage): Promise<void> {
  if (stage.disk !== null) rmSync(fillerOf(stage.disk), { force: true });
  for (const member of stage.members) {
    for (const store of stores) member[store].set("pass");
    member.clock?.set(0);
    member.process().thaw();
  }
  for (const store of stores) stage[store].thaw();
  for (const store of stores) if (!isAlive(stage[store].pid())) await stage[store].restart();
  await until(() => answers(() => askRedis(stage, ["CONFIG", "SET", "maxmemory", "0"])), Boolean);
  await until(() => answers(() => stage.country.db.raw("select pg_current_xact_id()")), Boolean);
  for (const member of stage.members) if (member.hasEnded()) await member.restart();
  await mendReceivers(stage);
}

const answers = (ask: () => Promise<unknown>): Promise<boolean> =>
  ask().then(
    () => true,
    () => false,
  );
