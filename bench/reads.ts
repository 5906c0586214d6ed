import { mkdirSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ReadJob, ReadMeasured } from "#bench/load/reads.ts";
import type { VisibilityJob, Watched } from "#bench/load/visibility.ts";
import {
  createCpuMeter,
  rssMb,
  type Server,
  startGenerator,
  startServer,
} from "#bench/processes.ts";
import { casesOf, dumpUrl, get, record, requestsOf, type Case } from "#bench/reads/cases.ts";
import { enlargeCountry, fillReadCountry } from "#bench/reads/country.ts";
import { measureFreshness, type LoopDelay } from "#bench/reads/fresh.ts";
import { fillObviousTable } from "#bench/reads/obvious-table.ts";
import { report } from "#bench/reads/report.ts";
import { measureRounds, type Side } from "#bench/reads/rounds.ts";
import { openStage } from "#bench/stage.ts";
import { startNginx } from "#bench/rivals/nginx.ts";
import { readProcfile } from "#demo/roles.ts";
import { somePort } from "#demo/servers/port.ts";
import { createDb, rows } from "#src/infrastructure/db.ts";

const stationCount = 30_000;
const enlargedTimes = 10;
const changedCount = 1000;
const marksPerSecond = 100;

/** Reads of every kind beside their rivals, then freshness and memory. Answers the section of results.md. */
export async function benchReads({
  quick,
  only,
  before,
  profileTo,
}: {
  quick: boolean;
  /** Names of the cases to measure, and nothing else; all when there are none. */
  only: readonly string[];
  /** The built folder of another commit, to be measured beside this one on the same database. */
  before: string | undefined;
  profileTo: string | undefined;
}): Promise<string> {
  const rounds = quick ? 1 : 3;
  const seconds = quick ? 0.4 : only.length > 0 ? 4 : 1.5;
  const markSeconds = quick ? 8 : 25;
  const stage = await openStage({ NEW_REPORTERS_DAILY: "1000000" });
  const { config, folder, settings } = stage;
  const start = async (
    command: readonly string[],
    extra: Record<string, string> = {},
    hear?: (line: string) => void,
  ): Promise<{ port: number; server: Server }> => {
    const port = await somePort();
    const env = { ...settings, PORT: String(port), ...extra };
    const server = await startServer(command, env, profileTo, hear);
    stage.onClose(() => server.stop());
    return { port, server };
  };
  const tsx = (file: string): string[] => ["node", "--import", "tsx", file];
  const role = (which: string): string[] => readProcfile().get(which)!;

  try {
    console.log("Filling the country");
    const country = await fillReadCountry(config, stationCount);
    const key = country.keys[0]!;
    const changed = country.stations.filter((_, n) => n % 30 === 0).map(({ id }) => id);
    const changedIds = changed.slice(0, changedCount);
    await fillObviousTable(config, country, changedIds);
    // `as_of` counts whole seconds: what was loaded lies clearly before what changes.
    await sleep(3000);
    const sinceMs = Date.now() - 1000;
    const db = createDb(config, "bench");
    await db.raw("select feed_stamp(?::text[])", [changedIds] as never);
    const [settled] = await rows<{ version: string; fsync: string }>(
      db,
      "select current_setting('server_version') as version, current_setting('fsync') as fsync",
    );
    await db.destroy();

    const built: number[] = [];
    await start(role("snapshots"), {}, (line) => {
      const ms = line.includes('"dump made"') ? (JSON.parse(line) as { ms: number }).ms : null;
      if (ms !== null) built.push(ms);
    });
    await start(role("clock"));
    const web = await start(role("web"));
    const auth = { Authorization: `Bearer ${key}` };
    const dump = await untilDump(web.port, auth);
    const idle = [...built];

    const cases = casesOf(country, sinceMs, dump.etag);
    const recorded = join(folder, "recorded");
    mkdirSync(recorded);
    const answers = await record(cases, web.port, key, (file, body) =>
      writeFileSync(join(recorded, file), body),
    );
    writeFileSync(join(recorded, "recorded.json"), JSON.stringify(answers));
    const keysFile = join(folder, "keys.json");
    writeFileSync(keysFile, JSON.stringify(country.keys));
    const raw = await start(tsx("bench/rivals/raw-node.ts"), { RECORDED: recorded });
    // With a Redis prefix and a worker of its own: versions need not understand each other's dumps.
    const startFormer = (which: string, folder: string) =>
      start(
        role(which).map((part) => (part.startsWith("dist/") ? join(resolve(folder), part) : part)),
        { REDIS_PREFIX: "{bench-before}" },
      );
    if (before !== undefined)
      for (const which of ["snapshots", "clock"]) await startFormer(which, before);
    const former = before === undefined ? null : await startFormer("web", before);
    const bare = await start(tsx("bench/rivals/bare-koa.ts"), { RECORDED: recorded });
    const obvious = await start(tsx("bench/rivals/obvious-reads.ts"), { KEYS_FILE: keysFile });
    const nginxPort = await somePort();
    const path = dumpUrl.split("?")[0]!;
    const nginx = await startNginx(folder, nginxPort, path, dump.body);
    if (nginx === null) console.log("nginx: skipped, there is none with gzip_static here");
    else stage.onClose(() => nginx.stop());

    const cpu = await createCpuMeter(settings.DATABASE_URL, settings.REDIS_URL);
    const load = startGenerator<ReadJob, ReadMeasured>("reads");
    stage.onClose(() => load.stop());
    const sides: Side[] = [
      { name: "Fuelmark", port: web.port, pids: [web.server.pid] },
      ...(former === null
        ? []
        : [
            {
              ...{ name: "before" as const, port: former.port, pids: [former.server.pid] },
              // Another version may name the same dump otherwise.
              etag: (await untilDump(former.port, auth)).etag,
            },
          ]),
      { name: "bare Koa", port: bare.port, pids: [bare.server.pid] },
      { name: "raw Node", port: raw.port, pids: [raw.server.pid] },
      ...(nginx === null ? [] : [{ name: "nginx" as const, port: nginxPort, pids: nginx.pids }]),
      { name: "gzip on the fly", port: raw.port, pids: [raw.server.pid] },
      { name: "Koa + knex", port: obvious.port, pids: [obvious.server.pid] },
    ];
    const loadBefore = loadavg();
    const wanted = cases.filter(({ name }) => only.length === 0 || only.includes(name));
    const results = await measureRounds(wanted, sides, load, cpu, {
      rounds,
      seconds,
      keys: country.keys,
    });
    if (only.length > 0) return "";
    const loadAfter = loadavg();
    const small = rssMb(web.server.pid);

    console.log("Freshness");
    let delay: LoopDelay | null = null;
    const second = await start(
      role("web").toSpliced(-1, 0, "--import", "tsx", "--import", "./bench/loop-delay.ts"),
      {},
      (line) => {
        if (line.includes('"loop delay"')) delay = JSON.parse(line) as LoopDelay;
      },
    );
    await start(role("marks"));
    const marks = startGenerator<VisibilityJob, Watched>("visibility");
    stage.onClose(() => marks.stop());
    const unmarked = country.stations
      .filter(({ id }) => !country.states.has(id))
      .map(({ id, lat, lon }) => ({ id, lat, lon }));
    const builtBefore = built.length;
    const calm = (seconds: number): Promise<ReadMeasured> =>
      load.run({
        port: second.port,
        clients: 4,
        seconds,
        requests: mixed(cases, country.keys),
      });
    await calm(2);
    const fresh = await measureFreshness(
      { port: second.port, key, server: second.server, delay: () => delay },
      () =>
        marks.run({
          country: { stations: unmarked, keys: country.keys, users: 10_000 },
          postTo: web.port,
          watch: second.port,
          perSecond: marksPerSecond,
          seconds: markSeconds,
        }),
      () => calm(markSeconds),
    );
    const loaded = built.slice(builtBefore);

    console.log("Ten times the stations");
    await enlargeCountry(config, country, enlargedTimes);
    const large = await start(role("web"));
    const largeReady = rssMb(large.server.pid);
    await load.run({
      port: large.port,
      clients: 8,
      seconds: quick ? 3 : 15,
      requests: mixed(cases, country.keys),
    });
    return report({
      results,
      rounds,
      seconds,
      real: country.real,
      nginx: nginx?.version ?? null,
      memory: {
        small,
        large: rssMb(large.server.pid),
        largeReady,
        largeCount: stationCount * enlargedTimes,
      },
      dumps: { idle, loaded },
      fresh,
      marksPerSecond,
      loadBefore,
      loadAfter,
      loadEnd: loadavg(),
      postgres: `Postgres ${settled!.version.split(" ")[0]}, fsync ${settled!.fsync}`,
      command: `npm run bench -- reads${quick ? " --quick" : ""}`,
    });
  } finally {
    await stage.close();
  }
}

/** The first dump of the web process; the worker makes it within a slot. */
export async function untilDump(
  port: number,
  auth: Record<string, string>,
): Promise<{ etag: string; body: Buffer }> {
  for (;;) {
    const ready = await get(port, "/readyz", {});
    const { checks = {} } = JSON.parse(ready.body.toString()) as {
      checks?: Record<string, { ok: boolean }>;
    };
    if (checks["dump"]?.ok === true) break;
    await sleep(200);
  }
  const { headers, body } = await get(port, dumpUrl, { ...auth, "Accept-Encoding": "gzip" });
  return { etag: headers["etag"]!, body };
}

/** Small reads, as a map and its markers ask for them. */
const mixed = (cases: readonly Case[], keys: readonly string[]): string[] =>
  cases
    .filter(({ name }) => name === "one station" || name.startsWith("rectangle of 50,"))
    .flatMap((one) => requestsOf(one, "Fuelmark", keys));
