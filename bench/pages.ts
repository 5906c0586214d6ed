import { randomBytes } from "node:crypto";
import { mkdirSync, rmSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Browser, chromium, type Page, type Request } from "playwright-core";
import { getBytes } from "#bench/pages/get-bytes.ts";
import { startServer } from "#bench/processes.ts";
import { startBuild } from "#demo/building.ts";
import { findChromium } from "#demo/chromium.ts";
import { fillDemoCountry } from "#demo/country/fill.ts";
import { release } from "#demo/release.ts";
import { readProcfile } from "#demo/roles.ts";
import { somePort } from "#demo/servers/port.ts";
import { startServers } from "#demo/servers/start.ts";
import { loadConfig } from "#src/infrastructure/config.ts";
import { createDb } from "#src/infrastructure/db.ts";

const kb = 1024;
const goals = { firstStationsMs: 2500, refreshKb: 2, beforeListKb: 60 };
// As somebody opens the map who knows the city and the fuel.
const mapPath = `/?fuel=95&city=${encodeURIComponent("Москва")}`;
const flags = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"];
// The map of the largest city, and the other pages as a stranger meets them; with their goals in KB.
const apps = [
  ["the map", mapPath, 480],
  ["list", "/list", 40],
  ["embed page", "/widget/embed", null],
  ["dashboard", "/dashboard/", 60],
  ["console", "/console/", 120],
  ["API document", "/docs", null],
] as const;

/**
 * What the pages weigh with an empty cache, how soon the map shows stations, and what its minute's refresh costs when
 * nothing has changed; on the demo country. Answers the section of results.md.
 */
export async function benchPages({ quick }: { quick: boolean }): Promise<string> {
  const chromiumFile = await findChromium(console.log);
  if (chromiumFile === null) throw new Error("the pages are measured in Chromium");
  await startBuild("pages", console.log).done;
  const folder = resolve(".data", `bench-${process.pid}`);
  mkdirSync(folder, { recursive: true });
  const given = await startServers({
    dataDir: folder,
    env: { ...process.env, DATABASE_URL: "", REDIS_URL: "" },
    durable: false,
    log: console.log,
  });
  try {
    const port = await somePort();
    const env = {
      DATABASE_URL: given.databaseUrl,
      REDIS_URL: given.redisUrl,
      REPORTER_PEPPER: randomBytes(16).toString("hex"),
      HOST: "127.0.0.1",
      PORT: String(port),
      BASE_URL: `http://127.0.0.1:${port}`,
      LOG_LEVEL: "info",
    };
    await release(env);
    const config = { ...loadConfig(env), queryTimeoutMs: 120_000, lockTimeoutMs: 60_000 };
    const db = createDb(config, "bench fill");
    try {
      await fillDemoCountry({ db, config, log: console.log });
    } finally {
      await db.destroy();
    }
    const web = await startServer(readProcfile().get("web")!, env);
    const browser = await chromium.launch({ executablePath: chromiumFile, args: flags });
    try {
      return await measure(browser, env.BASE_URL, quick ? 1 : 5);
    } finally {
      await browser.close();
      await web.stop();
    }
  } finally {
    await given.stop();
    given.remove();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Opened {
  requests: Request[];
  /** Those that had begun when the list of the script was there. */
  beforeList: Request[];
  firstStationsMs: number | null;
}

async function measure(browser: Browser, baseUrl: string, rounds: number): Promise<string> {
  const rows: string[] = [];
  for (const [name, path, goalKb] of apps) {
    const { requests, beforeList } = await open(browser, baseUrl + path, path === mapPath);
    const own = once(requests.filter((one) => one.serviceWorker() === null));
    const [data, page] = [own.filter(isData), own.filter((one) => !isData(one))];
    const total = await weigh(page);
    const goal = goalKb === null ? "" : `≤ ${goalKb} KB: ${verdict(total <= goalKb)}`;
    rows.push(
      `| ${name}: first load, gzip | ${page.length} requests, ${total.toFixed(0)} KB, and ${(await weigh(data)).toFixed(0)} KB of data | ${goal} |`,
    );
    if (path !== mapPath) continue;
    const before = await weigh(once(beforeList).filter((one) => !isData(one)));
    rows.push(
      `| the map: before its list can be used, gzip | ${before.toFixed(0)} KB | ≤ ${goals.beforeListKb} KB: ${verdict(before <= goals.beforeListKb)} |`,
    );
    // What the page has loaded comes from the browser's cache then.
    const loaded = new Set(own.map((one) => one.url()));
    const later = once(requests.filter((one) => !loaded.has(one.url())));
    rows.push(
      `| the map: kept for later by its service worker, gzip | ${later.length} requests, ${(await weigh(later)).toFixed(0)} KB more | |`,
    );
    const stations = own.filter((one) => one.url().includes("/stations?"));
    let refresh = 0;
    for (const one of stations) refresh += await refreshed(one);
    rows.push(
      `| the map: refresh without changes | ${stations.length} requests, ${(refresh / kb).toFixed(2)} KB with headers | < ${goals.refreshKb} KB: ${verdict(refresh < goals.refreshKb * kb)} |`,
    );
  }
  const times: number[] = [];
  for (let round = 0; round < rounds; round++)
    times.push((await open(browser, baseUrl + mapPath, true)).firstStationsMs ?? Number.NaN);
  const median = times.sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN;
  rows.push(
    `| the map: first stations drawn | ${median.toFixed(0)} ms (${times.map((one) => one.toFixed(0)).join(", ")}) | ≤ ${goals.firstStationsMs} ms: ${verdict(median <= goals.firstStationsMs)} |`,
  );
  for (const network of slow) {
    const rounded: Awaited<ReturnType<typeof openSlowly>>[] = [];
    for (let round = 0; round < Math.min(rounds, 3); round++)
      rounded.push(await openSlowly(browser, baseUrl + mapPath, network));
    for (const [what, goalMs, of] of [
      ["first rows with the fuel", network.rowsMs, "rowsMs"],
      ["a button that can be pressed", network.rowsMs, "buttonMs"],
      ["the script's own list", null, "listMs"],
      ["a first map with pins", network.firstMapMs, "firstMapMs"],
      ["first stations drawn", null, "drawnMs"],
    ] as const) {
      const [low, middle, high] = spread(rounded.map((one) => one[of]));
      const goal = goalMs === null ? "" : `≤ ${goalMs} ms: ${verdict(middle <= goalMs)}`;
      rows.push(
        `| the map, ${network.name}, processor ÷ ${slowdown}: ${what} | ${middle} ms (${low} to ${high}) | ${goal} |`,
      );
    }
  }
  return `The built pages from a \`web\` process, demo country of 10,000 stations, Chromium ${browser.version()} headless with WebGL in software, window of 1280 by 800, empty cache. First load: everything that the page asks for until it is idle, each with \`Accept-Encoding: gzip\`; the map with its worker and the base map's first view. Data: what the API answers meanwhile, the city's stations above all. First map with pins: land and stations in the map's place, sketched before the map library has come (decision 15.42); the goal of 8 s is for that. First stations drawn: by the map library, which alone is 314 KB.

| what | measured | goal |
|---|---|---|
${rows.join("\n")}

${new Date().toISOString().slice(0, 10)}, \`npm run bench -- pages\`, ${cpus().length} cores (${cpus()[0]?.model.trim() ?? "?"}), Node ${process.versions.node}, load average ${loadavg()[0]!.toFixed(1)}. Median of ${rounds}; the browser shares the cores.`;
}

/** Opens a page in a fresh profile and waits until it is idle, the map until its stations are drawn. */
async function open(browser: Browser, url: string, isMap: boolean): Promise<Opened> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    locale: "en",
  });
  const requests: Request[] = [];
  context.on("request", (one) => requests.push(one));
  const page = await context.newPage();
  await page.goto(url, { waitUntil: isMap ? "commit" : "load" });
  let beforeList: Request[] = [];
  if (isMap) {
    await page.locator(".panel .station-row").first().waitFor({ timeout: 60_000 });
    // The map's own code is asked for when the list has its answer, which is sooner than it is seen here.
    const map = requests.findIndex((one) => /\/assets\/map-[^/]*\.js$/.test(one.url()));
    beforeList = requests.slice(0, map === -1 ? undefined : map);
    await page.waitForLoadState("load");
  }
  let firstStationsMs: number | null = null;
  if (isMap) {
    const marked = "performance.getEntriesByName('stations drawn')[0]?.startTime ?? null";
    // Asked from outside: the page's policy evaluates nothing.
    for (const until = Date.now() + 60_000; firstStationsMs === null && Date.now() < until;) {
      await sleep(100);
      firstStationsMs = await page.evaluate<number | null>(marked);
    }
  }
  await page.waitForLoadState("networkidle");
  await context.close();
  const asked = (all: readonly Request[]): Request[] =>
    all.filter((one) => one.url().startsWith("http"));
  return { requests: asked(requests), beforeList: asked(beforeList), firstStationsMs };
}

/** Without repeats: what the map's worker and its page both import comes from the browser's cache the second time. */
const once = (requests: readonly Request[]): Request[] =>
  [
    ...new Map(
      requests.toReversed().map((one) => [`${one.url()} ${one.headers()["range"] ?? ""}`, one]),
    ).values(),
  ].toReversed();

interface Network {
  name: string;
  kbitS: number;
  latencyMs: number;
  /** Goals. */
  rowsMs: number | null;
  firstMapMs: number | null;
}

const slow: readonly Network[] = [
  { name: "1.6 Mbit/s and 150 ms", kbitS: 1600, latencyMs: 150, rowsMs: null, firstMapMs: null },
  { name: "400 kbit/s and 400 ms", kbitS: 400, latencyMs: 400, rowsMs: 2500, firstMapMs: 8000 },
];
/** A weak phone beside this machine. */
const slowdown = 4;

/**
 * The map on such a network with a slow processor: when its first rows can be read, when land and stations are first
 * there as a map, be it a sketch (decisions 15.42), and when the map library has drawn them.
 */
async function openSlowly(browser: Browser, url: string, { kbitS, latencyMs }: Network) {
  const context = await browser.newContext({ viewport: { width: 390, height: 844 }, locale: "en" });
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  const bytesS = (kbitS * 1000) / 8;
  await session.send("Network.emulateNetworkConditions", {
    ...{ offline: false, latency: latencyMs, downloadThroughput: bytesS, uploadThroughput: bytesS },
  });
  await session.send("Emulation.setCPUThrottlingRate", { rate: slowdown });
  const startedAt = performance.now();
  const isRead = `(() => {
    // Before the style sheet has come, nothing is painted.
    if (performance.getEntriesByType("paint").length === 0) return false;
    if (document.querySelector(".panel .station-row") !== null) return true;
    const list = document.getElementById("early");
    const look = list === null ? null : getComputedStyle(list);
    return look !== null && list.querySelector("a[data-id]") !== null && look.visibility === "visible" && Number(look.opacity) > 0.9;
  })()`;
  // The land, and a sign that a finger would touch: nothing lies on it.
  const isSketched = `(() => {
    if (document.querySelector(".sketch .land path") === null) return false;
    return [...document.querySelectorAll(".sketch .pin, .sketch .ring")].some((sign) => {
      const { left, top, width, height } = sign.getBoundingClientRect();
      return sign.contains(document.elementFromPoint(left + width / 2, top + height / 2));
    });
  })()`;
  // Before there is a script, a press is kept until there is one.
  const isPressable = `(() => {
    if (performance.getEntriesByType("paint").length === 0) return false;
    // Where the list of the script is there already, it has the place of the button.
    if (document.querySelector(".panel .station-row") !== null) return true;
    return document.querySelector(".nearest-button")?.checkVisibility() === true;
  })()`;
  const isListed = `document.querySelector(".panel .station-row") !== null`;
  const isDrawn = "performance.getEntriesByName('stations drawn').length > 0";
  await page.goto(url, { waitUntil: "commit", timeout: patienceMs });
  const rowsMs = await whenTrue(page, isRead, startedAt);
  const buttonMs = await whenTrue(page, isPressable, startedAt);
  const listMs = await whenTrue(page, isListed, startedAt);
  const firstMapMs = await whenTrue(page, `${isSketched} || ${isDrawn}`, startedAt);
  const drawnMs = await whenTrue(page, isDrawn, startedAt);
  await context.close();
  return { rowsMs, buttonMs, listMs, firstMapMs, drawnMs };
}

const patienceMs = 90_000;

/** ms since `startedAt` at which `expression` is true in the page; NaN when it never is. */
async function whenTrue(page: Page, expression: string, startedAt: number): Promise<number> {
  while (performance.now() - startedAt < patienceMs) {
    if (await page.evaluate<boolean>(expression)) return performance.now() - startedAt;
    await sleep(50);
  }
  return Number.NaN;
}

/** The lowest, the middle and the highest, whole. */
function spread(values: readonly number[]): [number, number, number] {
  const sorted = values.map(Math.round).sort((a, b) => a - b);
  return [sorted[0]!, sorted[Math.floor(sorted.length / 2)]!, sorted.at(-1)!];
}

const isData = (request: Request): boolean => request.url().includes("/api/");

/** KB of the bodies of these. */
async function weigh(requests: readonly Request[]): Promise<number> {
  const sizes = await Promise.all(requests.map((one) => gzipped(one)));
  return sizes.reduce((sum, size) => sum + size, 0) / kb;
}

/** Bytes of the body that this request would get with gzip. */
async function gzipped(request: Request): Promise<number> {
  const headers = { ...request.headers(), "accept-encoding": "gzip" };
  return (await getBytes(request.url(), headers)).body;
}

/** Bytes of the whole answer, head included, when the same is asked again by its ETag. */
async function refreshed(request: Request): Promise<number> {
  const headers = request.headers();
  const { etag } = await getBytes(request.url(), headers);
  const again = await getBytes(request.url(), { ...headers, "if-none-match": etag });
  if (again.status !== 304) throw new Error(`${request.url()} has changed in between`);
  return again.whole;
}

const verdict = (reached: boolean): string => (reached ? "reached" : "**not reached**");
