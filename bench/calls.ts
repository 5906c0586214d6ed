import { readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { cpus, loadavg } from "node:os";
import { type Keyed, withKey } from "#bench/calls/with-key.ts";
import { type Known, type Limit, withoutKey } from "#bench/calls/without-key.ts";
import { startServer } from "#bench/processes.ts";
import { fillReadCountry } from "#bench/reads/country.ts";
import { openStage } from "#bench/stage.ts";
import { type Asked, askRaw, cpuMsOf } from "#bench/worst/ask.ts";
import { startBuild } from "#demo/building.ts";
import { readProcfile } from "#demo/roles.ts";
import { somePort } from "#demo/servers/port.ts";
import { createInsightStore } from "#snapshots/insights/insight-store.ts";
import { noCounts } from "#src/domain/insights.ts";
import { grades } from "#src/domain/vocabulary.ts";
import { loadConfig, type Config } from "#src/infrastructure/config.ts";
import { createDb } from "#src/infrastructure/db.ts";
import { createLog } from "#src/infrastructure/log.ts";
import { createWorkerRedis } from "#src/infrastructure/redis.ts";
import { dayMs, minuteMs } from "#src/domain/units.ts";
import { consumerKey, issueConsumerKey } from "#src/keys/consumer-key.ts";

const stationCount = 10_000;
const cityCount = 1200;
const boundPercent = 10;
/** Rounds, requests of each, and those before that are not measured. */
type Times = readonly [rounds: number, requests: number, warmUps: number];
const few: Times = [2, 4, 4];
const manyEnough = "1000000";

interface Measured {
  name: string;
  /** The dearest of its requests. */
  worst: string;
  ms: number;
  statuses: string;
  perMinute: number | null;
}

/**
 * What each page without a key and each call of a partner costs the web process, and what the limits let one network or
 * one partner take of a core. CPU of all threads, of requests one after another. Answers the section of results.md.
 */
export async function benchCalls({
  quick,
  only,
  profileTo,
}: {
  quick: boolean;
  /** Parts of names of rows to measure; all when there are none. */
  only: readonly string[];
  profileTo?: string | undefined;
}): Promise<string> {
  const usual: Times = quick ? [1, 6, 15] : [4, 15, 15];
  await startBuild("pages", console.log).done;
  const port = await somePort();
  const stage = await openStage({
    ...{ PORT: String(port), BASE_URL: `http://127.0.0.1:${port}`, TRUSTED_PROXIES: "127.0.0.1" },
    ...{ PAGES_PER_MINUTE: manyEnough, PAGE_CALLS_PER_MINUTE: manyEnough },
    ...{
      SIGN_INS_PER_MINUTE: "100000",
      NEW_REPORTERS_DAILY: manyEnough,
      STREAMS_PER_PARTNER: "100",
    },
  });
  try {
    console.log("Filling the country");
    const country = await fillReadCountry(stage.config, stationCount);
    await addTowns(stage.config);
    await issueMapKey(stage.config);
    const roles = readProcfile();
    const snapshots = await startServer(roles.get("snapshots")!, stage.settings);
    const clock = await startServer(roles.get("clock")!, stage.settings);
    const web = await startServer(roles.get("web")!, stage.settings, profileTo);
    stage.onClose(() => web.stop());
    await until(async () => {
      const { status, bytes } = await askRaw(port, null, { path: "/status.json" });
      return status === 200 && bytes > 0 && (await hasDump(port));
    });
    await Promise.all([snapshots.stop(), clock.stop()]);
    await storeInsights(stage.config);
    const marks = await startServer(roles.get("marks")!, stage.settings);
    stage.onClose(() => marks.stop());
    await sleep(6000);

    const idleMs = await idlePerMs(web.pid);
    const measure = async (
      all: Record<string, (n: number) => Asked>,
      key: string | null,
      [rounds, requests, warmUps] = usual,
    ): Promise<Pick<Measured, "worst" | "ms" | "statuses">> => {
      let worst = { worst: "", ms: -1, statuses: "" };
      for (const [name, request] of Object.entries(all)) {
        const statuses = new Map<number, number>();
        let n = 0;
        const ask = async (): Promise<void> => {
          const { status } = await askRaw(port, key, request(n++));
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
        };
        while (n < warmUps) await ask();
        let ms = Infinity;
        for (let round = 0; round < rounds; round++) {
          const [before, startedAt] = [cpuMsOf(web.pid), performance.now()];
          for (let i = 0; i < requests; i++) await ask();
          const after = cpuMsOf(web.pid);
          const used = after.main + after.other - before.main - before.other;
          const own = idleMs * (performance.now() - startedAt);
          ms = Math.min(ms, Math.max(0, used - own) / requests);
        }
        const told = [...statuses].map(([status, times]) => `${status} × ${times}`).join(", ");
        console.log(`    ${name}: ${ms.toFixed(2)} ms, ${told}`);
        if (ms > worst.ms) worst = { worst: name, ms, statuses: told };
      }
      return worst;
    };
    const isWanted = (name: string): boolean =>
      only.length === 0 || only.some((part) => name.includes(part));

    const known: Known = {
      stationIds: country.stations.map(({ id }) => id),
      cityNames: country.cities.map(({ name }) => name),
      publishable: consumerKey(stage.config)!,
      docs: await docsOf(port),
      assets: readdirSync(join("web", "dist", "assets"))
        .filter((file) => /\.(js|css)$/.test(file))
        .map((file) => `/assets/${file}`),
    };
    const loadBefore = loadavg();
    const defaults = loadConfig({ ...stage.settings, ...unlimited });
    const open: Measured[] = [];
    for (const row of withoutKey.filter(({ name }) => isWanted(name))) {
      console.log(row.name);
      const perMinute = limitOf(row.limit, defaults);
      open.push({ name: row.name, perMinute, ...(await measure(row.requests(known), null)) });
    }
    const keyed: Measured[] = [];
    const keyOf = (n: number): string => country.keys[n % country.keys.length]!;
    for (const { routes, requests: all, isLong } of withKey(country, Date.now())) {
      const name = nameOf({ routes });
      if (!isWanted(name)) continue;
      console.log(name);
      const measured = await measure(all, keyOf(keyed.length), isLong ? few : usual);
      // A batch of 500 marks uses five requests' worth of marks (decisions 8.46).
      const perMinute = defaults.defaultRpm / (name === "`POST /reports`" ? 5 : 1);
      keyed.push({ name, perMinute, ...measured });
    }
    return report(
      open,
      keyed,
      `the least of ${usual[0]} rounds of ${usual[1]} requests`,
      loadBefore,
      country.real,
    );
  } finally {
    await stage.close();
  }
}

/** The settings whose defaults are of interest. */
const unlimited = { PAGES_PER_MINUTE: "", PAGE_CALLS_PER_MINUTE: "", SIGN_INS_PER_MINUTE: "" };

export const nameOf = ({ routes }: Pick<Keyed, "routes">): string =>
  routes.map((route) => `\`${route}\``).join(", ");

/** Requests a minute of one network in one process; null where nothing limits them. */
export const limitOf = (limit: Limit, config: Config): number | null =>
  ({
    page: config.pagesPerMinute,
    file: config.pagesPerMinute * 10,
    land: config.pagesPerMinute * 5,
    call: config.pageCallsPerMinute,
    signIn: config.signInsPerMinute,
    none: null,
  })[limit];

async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 180_000; !(await isSo().catch(() => false)); await sleep(500))
    if (Date.now() > end) throw new Error("the stage does not become ready");
}

async function hasDump(port: number): Promise<boolean> {
  const answer = await fetch(`http://127.0.0.1:${port}/readyz`);
  const { degraded } = (await answer.json()) as { degraded: string[] };
  return !degraded.includes("dump");
}

/** CPU that the process uses for itself, as a share of the time. */
async function idlePerMs(pid: number): Promise<number> {
  const [before, startedAt] = [cpuMsOf(pid), performance.now()];
  await sleep(5000);
  const after = cpuMsOf(pid);
  return (after.main + after.other - before.main - before.other) / (performance.now() - startedAt);
}

/** The pages of /docs, by its links. */
async function docsOf(port: number): Promise<string[]> {
  const paths = new Set<string>(["/docs"]);
  for (const from of ["/docs", "/docs/guide"]) {
    const text = await fetch(`http://127.0.0.1:${port}${from}`).then((answer) => answer.text());
    for (const [, to] of text.matchAll(/href="([^"#?:]+)/g)) {
      const { pathname } = new URL(to!, `http://x${from}`);
      if (/^\/docs\/(guide|api)\/[^.]+$/.test(pathname)) paths.add(pathname);
    }
  }
  return [...paths];
}

/** The map's own key: a stage's release knows no pepper. */
async function issueMapKey(config: Config): Promise<void> {
  const db = createDb(config, "bench");
  await issueConsumerKey(db, config);
  await db.destroy();
}

/** As many cities as a country has. */
async function addTowns(config: Config): Promise<void> {
  const db = createDb(config, "bench");
  await db.raw(
    `insert into cities (id, source, name, region, lat, lon, population)
     select 'town-' || n, 'bench', 'Санкт-Залесск ' || n, 'Залесская область', 55 + n / 1000.0, 60, n
     from generate_series(1, ${cityCount}) as n`,
  );
  await db.destroy();
}

/** Ninety days of all cities, as the snapshots role would have counted them. */
async function storeInsights(config: Config): Promise<void> {
  const redis = createWorkerRedis(config, createLog({ logLevel: "silent" }, "bench"));
  const now = Date.now() + minuteMs;
  const today = Math.floor(now / dayMs) * dayMs;
  const of = <T>(one: (n: number) => T): Record<string, T> =>
    Object.fromEntries(Array.from({ length: cityCount }, (_, n) => [`town-${n + 1}`, one(n)]));
  const times = (n: number) => ({
    stations: 1 + (n % 30),
    ms: { yes: n * 9e4, low: 1e6, no: (n % 7) * 1e6, queue: 1e5 },
  });
  const day = (at: number) => ({
    at,
    cities: of(times),
    grades: of(() => grades.flatMap(() => [7, 3])),
  });
  const cities = Array.from({ length: cityCount }, (_, n) => ({
    ...{ id: `town-${n + 1}`, name: `Санкт-Залесск ${n + 1}`, region: "Залесская область" },
    ...{ lat: 55, lon: 60, population: cityCount - n },
  }));
  const counts = of((n) => ({
    ...noCounts(),
    stations: 1 + (n % 30),
    statuses: { yes: n % 9, low: 1, no: n % 5, queue: 1, nodata: 3 },
    grades: Object.fromEntries(
      grades.map((grade) => [grade, { available: n % 9, out: n % 5, unknown: 2 }]),
    ) as ReturnType<typeof noCounts>["grades"],
  }));
  const days = Array.from({ length: 89 }, (_, n) => day(today - (89 - n) * dayMs));
  const latest = { cities, counts, today: { ...day(today), lengthMs: now - today } };
  const version = { seq: 1e9, asOfMs: now, builtAtMs: now };
  if (!(await createInsightStore(redis, config.redisPrefix).save(version, latest, days)))
    throw new Error("there are newer insights");
  redis.disconnect();
}

const percentOf = ({ ms, perMinute }: Measured): number | null =>
  perMinute === null ? null : (ms * perMinute) / (minuteMs / 100);

function lineOf(row: Measured): string {
  const percent = percentOf(row);
  const bold = percent !== null && percent > boundPercent ? "**" : "";
  const share = percent === null ? "" : `${bold}${percent.toFixed(1)} %${bold}`;
  const limit = row.perMinute ?? "no limit";
  return `| ${row.name} | ${row.worst} | ${row.statuses} | ${row.ms.toFixed(2)} | ${limit} | ${share} |`;
}

function report(
  open: readonly Measured[],
  keyed: readonly Measured[],
  how: string,
  loadBefore: readonly number[],
  real: boolean,
): string {
  const over = [...open, ...keyed].filter((row) => (percentOf(row) ?? 0) > boundPercent);
  const head = `| dearest request | answers | CPU ms | a minute | of a core |
|---|---|---|---|---|---|`;
  const at = new Date().toISOString().slice(0, 16).replace("T", " ");
  return `What a request costs the web process, and what the default limits let one network, or one partner, take of a core by it: CPU of all threads, ${how} one after another, the process's own work taken off. ${stationCount} stations (${real ? "real ones, repeated with offsets" : "made up"}), 60 % with a status, ${cityCount} cities with 90 days. The bound is ${boundPercent} % of a core; ${over.length === 0 ? "nothing is above it" : `above it: ${over.map(({ name }) => name).join(", ")}`}.

| page or call without a key, for a network ${head}
${open.map(lineOf).join("\n")}

| call with a partner's key ${head}
${keyed.map(lineOf).join("\n")}

${at} UTC, \`npm run bench -- calls\`, ${cpus().length} cores (${cpus()[0]?.model.trim()}), Node ${process.versions.node}; load average ${loadBefore.map((one) => one.toFixed(1)).join(" ")} before. Other work on the same cores makes CPU time longer by its use of the caches.`;
}
