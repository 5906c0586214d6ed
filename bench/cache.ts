import { mkdirSync, writeFileSync } from "node:fs";
import { Agent, get as httpGet } from "node:http";
import { join } from "node:path";
import type { ReadJob, ReadMeasured } from "#bench/load/reads.ts";
import { createCpuMeter, startGenerator, startServer } from "#bench/processes.ts";
import { base, boxesOf, get, ownHeaders } from "#bench/reads/cases.ts";
import { fillReadCountry } from "#bench/reads/country.ts";
import { openStage } from "#bench/stage.ts";
import { readProcfile } from "#demo/roles.ts";
import { somePort } from "#demo/servers/port.ts";
import type { Recorded } from "#bench/rivals/raw-node.ts";
import { renewEpoch } from "#src/feed/cache-generations.ts";
import { createDb, inTransaction } from "#src/infrastructure/db.ts";
import { createLog } from "#src/infrastructure/log.ts";
import { createRedis } from "#src/infrastructure/redis.ts";
import { storeKey } from "#src/keys/issued-keys.ts";
import { hashKey, keyPrefix, newKey } from "#src/keys/key-text.ts";
import { randomBytes } from "node:crypto";

const stationCount = 30_000;
const atOnce = 32;
const seconds = 2;
/** Viewers that share the requests: one may send at most 100,000 a minute. */
const viewers = 50;
/** Different rectangles of each size, and how often each is computed in a round. */
const sizes = [
  { about: 50, count: 400, passes: 2 },
  { about: 500, count: 200, passes: 4 },
  { about: 4000, count: 40, passes: 4 },
];

/**
 * CPU time of a web process for a rectangle of a publishable key that is computed, that another process has stored, and
 * that this process has sent before; beside a bare Koa application that sends the same bytes. Answers the section of
 * results.md.
 */
export async function benchCache({
  quick,
  profileTo,
}: {
  quick: boolean;
  profileTo: string | undefined;
}): Promise<string> {
  const rounds = quick ? 1 : 5;
  const stage = await openStage({ TRUSTED_PROXIES: "127.0.0.1" });
  const { config, settings, folder } = stage;
  try {
    console.log("Filling the country");
    const country = await fillReadCountry(config, stationCount);
    const key = await publishableKey(config);
    const headers = { Authorization: `Bearer ${key}`, "Accept-Encoding": "gzip" };
    const start = async (command: readonly string[], extra: Record<string, string> = {}) => {
      const port = await somePort();
      const server = await startServer(
        command,
        { ...settings, PORT: String(port), ...extra },
        profileTo,
      );
      stage.onClose(() => server.stop());
      return { port, pid: server.pid };
    };
    const role = readProcfile().get("web")!;
    const [first, second] = [await start(role), await start(role)];
    const urls = sizes.map(({ about, count }) =>
      boxesOf(country, about, count).map((box) => `${base}?bbox=${box}`),
    );
    await until(async () => {
      const answer = await get(first.port, urls[0]![0]!, headers);
      return answer.headers["x-service-cache"] === "hit";
    });
    const recorded = join(folder, "recorded");
    mkdirSync(recorded);
    const answers: Recorded[] = [];
    const bytes: number[] = [];
    for (const some of urls) {
      let total = 0;
      for (const url of some) {
        const got = await get(first.port, url, headers);
        const { body, status } = got;
        if (status !== 200) throw new Error(`${url}: ${status}`);
        const file = `${answers.length}.body`;
        writeFileSync(join(recorded, file), body);
        answers.push({ url, gzip: true, headers: ownHeaders(got), file });
        total += body.length;
      }
      bytes.push(total / some.length);
    }
    writeFileSync(join(recorded, "recorded.json"), JSON.stringify(answers));
    const bare = await start(["node", "--import", "tsx", "bench/rivals/bare-koa.ts"], {
      RECORDED: recorded,
    });
    const cpu = await createCpuMeter(settings.DATABASE_URL, settings.REDIS_URL);
    const redis = createRedis(config, createLog({ logLevel: "silent" }, "bench"));
    if (redis.status !== "ready") await new Promise((done) => redis.once("ready", done));
    stage.onClose(() => redis.disconnect());

    const agent = new Agent({ keepAlive: true, maxSockets: atOnce });
    const measure = async (
      to: { port: number; pid: number },
      some: readonly string[],
      word: "hit" | "miss" | undefined,
    ): Promise<number> => {
      const before = cpu.of([to.pid]) ?? 0;
      const words = await sendAll(agent, to.port, some, headers);
      const spent = (cpu.of([to.pid]) ?? 0) - before;
      const other = words.filter((one) => one !== word).length;
      if (other > some.length / 50) console.log(`${other} of ${some.length} were not ${word}`);
      return spent / some.length;
    };
    const load = startGenerator<ReadJob, ReadMeasured>("reads");
    stage.onClose(() => load.stop());
    const flood = async (
      to: { port: number; pid: number },
      n: number,
      below = "",
    ): Promise<number> => {
      const requests = Array.from({ length: Math.max(viewers, urls[n]!.length) }, (_, i) =>
        [
          `GET ${below}${urls[n]![i % urls[n]!.length]} HTTP/1.1`,
          "Host: localhost",
          `X-Forwarded-For: 203.0.113.${i % viewers}`,
          ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
          "",
          "",
        ].join("\r\n"),
      );
      const before = cpu.of([to.pid]) ?? 0;
      const { requests: sent, statuses } = await load.run({
        ...{ port: to.port, clients: atOnce, seconds, requests },
      });
      if (statuses["200"] !== sent) throw new Error(JSON.stringify(statuses));
      return ((cpu.of([to.pid]) ?? 0) - before) / sent;
    };
    const results = sizes.map(
      () => ({ miss: [], stored: [], hit: [], bare: [], whole: [] }) as Figures,
    );
    // The first round is not counted: code that has not run often yet is slow code.
    for (let round = -1; round < rounds; round++)
      for (const [n, { about, passes }] of sizes.entries()) {
        const some = urls[n]!;
        const misses: number[] = [];
        const stored: number[] = [];
        for (let pass = 0; pass < passes; pass++) {
          await renewEpoch(redis, config.redisPrefix);
          // Every process reads the feed once when it sees a new epoch: not part of the figure.
          await sendAll(agent, first.port, [urls[(n + 1) % sizes.length]![0]!], headers);
          misses.push(await measure(first, some, "miss"));
          stored.push(await measure(second, some, "hit"));
        }
        const hit = await flood(second, n);
        const constant = await flood(bare, n);
        const whole = await flood(bare, n, "/whole");
        console.log(`round ${round + 1}, ${about} stations: hit ${hit.toFixed(3)} ms`);
        if (round < 0) continue;
        const figures = results[n]!;
        figures.miss.push(mean(misses));
        figures.stored.push(mean(stored));
        figures.hit.push(hit);
        figures.bare.push(constant);
        figures.whole.push(whole);
      }
    agent.destroy();
    return section(results, bytes, rounds);
  } finally {
    await stage.close();
  }
}

interface Figures {
  miss: number[];
  stored: number[];
  hit: number[];
  bare: number[];
  /** The body with all headers of the answer. */
  whole: number[];
}

function section(results: readonly Figures[], bytes: readonly number[], rounds: number): string {
  const lines = results.map((figures, n) => {
    const { miss, stored, hit, bare, whole } = mediansOf(figures);
    const cells = [
      sizes[n]!.about,
      `${Math.round(bytes[n]! / 1024)} KB`,
      ...[miss, stored, hit, bare, whole].map((ms) => ms.toFixed(3)),
      (hit / miss).toFixed(2),
      (bare / hit).toFixed(2),
      (whole / hit).toFixed(2),
    ];
    return `| ${cells.join(" | ")} |`;
  });
  return `CPU time of a web process for one request of a publishable key, ms: different rectangles, gzip, ${stationCount.toLocaleString("en")} stations, two web processes, ${atOnce} connections, medians of ${rounds} interleaved rounds.

| Stations | Body | Computed (miss) | Stored by the other process | Sent before (hit) | Bare Koa, the same body | Bare Koa, the same body and headers | hit / miss (≤ 0.4 at 500) | bare Koa / hit (≥ 0.5) | with the headers / hit |
|---|---|---|---|---|---|---|---|---|---|
${lines.join("\n")}`;
}

const mean = (list: readonly number[]): number => list.reduce((a, b) => a + b, 0) / list.length;
const mediansOf = (figures: Figures): Record<keyof Figures, number> => ({
  miss: median(figures.miss),
  stored: median(figures.stored),
  hit: median(figures.hit),
  bare: median(figures.bare),
  whole: median(figures.whole),
});
const median = (list: readonly number[]): number =>
  list.toSorted((a, b) => a - b)[list.length >> 1]!;

/** Sends each request once, `atOnce` at a time. Answers what each said about the cache. */
async function sendAll(
  agent: Agent,
  port: number,
  urls: readonly string[],
  headers: Record<string, string>,
): Promise<(string | undefined)[]> {
  const words: (string | undefined)[] = [];
  let next = 0;
  const one = (path: string): Promise<string | undefined> =>
    new Promise((resolve, reject) => {
      httpGet({ host: "127.0.0.1", port, path, headers, agent }, (res) => {
        if (res.statusCode !== 200) reject(new Error(`${path}: ${res.statusCode}`));
        res.resume().on("end", () => resolve(res.headers["x-service-cache"] as string | undefined));
      }).on("error", reject);
    });
  const client = async (): Promise<void> => {
    while (next < urls.length) words.push(await one(urls[next++]!));
  };
  await Promise.all(Array.from({ length: atOnce }, client));
  return words;
}

async function publishableKey(config: Parameters<typeof createDb>[0]): Promise<string> {
  const db = createDb(config, "bench");
  try {
    const key = newKey("publishable", randomBytes(32));
    await inTransaction(db, async (tx) => {
      const [partner] = await tx("partners").select("id").orderBy("id").limit(1);
      const row = { partner_id: partner.id, kind: "publishable" as const };
      await storeKey(tx, { ...row, prefix: keyPrefix(key), hash: hashKey(key) }, {});
    });
    return key;
  } finally {
    await db.destroy();
  }
}

async function until(ready: () => Promise<boolean>): Promise<void> {
  while (!(await ready())) await new Promise((resolve) => setTimeout(resolve, 50));
}
