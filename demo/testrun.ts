import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { type Building, startBuild } from "#demo/building.ts";
import { launchBrowser } from "#demo/chromium.ts";
import { lockFolder, lockName } from "#demo/lock.ts";
import { memoryFolder } from "#demo/memory-folder.ts";
import { clearPostgres } from "#demo/servers/postgres.ts";
import { clearRedis } from "#demo/servers/redis.ts";
import { startServers } from "#demo/servers/start.ts";
import { createTemplate } from "#demo/template.ts";
import { needServers } from "#demo/test-needs.ts";

interface Kind {
  folders: string[];
  /** How a file's name must end. */
  ending: string;
  only?: (file: string) => boolean;
  /** How many files at once. */
  jobs: number;
  /** What needs the machine for itself: one file at a time, after the others. */
  alone?: (file: string) => boolean;
  env?: Record<string, string>;
}

const ending = ".test.ts";
const hasMoreToTry = (text: string): boolean =>
  /harness\/long\.ts|FUZZ_REQUESTS|"fast-check"/.test(text) ||
  /\b(use(Stage|Instance|Edge|Map|Console)|open(Stage|Country)|createTestInstance)\b/.test(text);
// More than cores: tests wait for servers, and for time to pass; a third of the time of each job is waiting.
const jobs = Number(process.env["TEST_JOBS"]) || Math.min(availableParallelism() * 3, 8);
// Long ones, most of which mostly wait: from the start on, one beside others that need the processor.
const long = [
  "workers/sentinel",
  "flow/schedule",
  "workers/broken-off",
  "flow/start-without-database",
  "flow/webhooks",
  "workers/standstill",
  "flow/feeds",
  "demo/start",
  "client/mirrors-compare",
  "api/rectangles",
  "flow/mark",
  "flow/alarms",
  "flow/statuses",
  "workers/chances",
  "snapshots/model",
  "api/long-pages",
].map((name) => join("test", `${name}.test.ts`));
// The rooms with the longest files come first, so that none is left alone at the end.
const rooms = [
  "browser",
  "flow",
  "cli",
  "client",
  "fuzz",
  "api",
  "import",
  "demo",
  "infrastructure",
  "domain",
];
const others = readdirSync("test").filter(
  (room) =>
    ![...rooms, "fault", "long"].includes(room) && statSync(join("test", room)).isDirectory(),
);
const usual: Kind = {
  folders: [...rooms, ...others].map((room) => join("test", room)),
  ending,
  jobs,
};
const kinds: Record<string, Kind> = {
  "--fault": { folders: ["test/fault"], ending, jobs: 1 },
  "--long": {
    folders: ["test/long", "test/fault", ...usual.folders.filter((folder) => existsSync(folder))],
    ending,
    // Beside those two rooms only what has more to try than in the short run: a larger size, another seed, or another
    // time after its set-up.
    only: (file) => /^test.(long|fault)\b/.test(file) || hasMoreToTry(readFileSync(file, "utf8")),
    jobs,
    alone: (file) => /^test.fault\b|^test.long.(attacks|launcher|ways)\b/.test(file),
    env: {
      TEST_LONG: "1",
      FUZZ_REQUESTS: process.env["FUZZ_REQUESTS"] ?? "2000",
      TEST_PAUSE_MS: process.env["TEST_PAUSE_MS"] ?? "0-3000",
    },
  },
  "--fuzz": {
    folders: ["test/fuzz"],
    ending,
    jobs: 1,
    env: { FUZZ_REQUESTS: process.env["FUZZ_REQUESTS"] ?? "5000" },
  },
  /** `npm run screenshots`: writes docs/images/ anew. */
  "--screenshots": { folders: ["test/browser/shots"], ending: ".ts", jobs: 1 },
};
const checks = ["format:check", "lint", "dead"];

const args = process.argv.slice(2);
const kindFlag = args.find((arg) => arg in kinds) ?? "";
const kind = kinds[kindFlag] ?? usual;
const mochaArgs = args.filter((arg) => !(arg in kinds));
const paths = mochaArgs.filter((arg) => !arg.startsWith("-") && existsSync(arg));
const flags = mochaArgs.filter((arg) => !paths.includes(arg));
const files = spread((paths.length > 0 ? paths : kind.folders).flatMap(filesOf));
// The check of a change draws the same values each time, so that it says the same of the same code. New ones are drawn
// by the longer runs.
const seed =
  process.env["TEST_SEED"] ?? String(kind === usual ? 1 : Math.floor(Math.random() * 2 ** 31));
const children = new Set<ChildProcess>();
let interrupted = false;

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => {
    interrupted = true;
    for (const child of children) child.kill("SIGTERM");
  });
}

// Whatever happens, the run ends with one line that counts it, and with an exit code that agrees.
const counts = { passed: 0, failed: 0, skipped: 0 };
const startedAt = performance.now();
console.log(`Values are drawn from seed ${seed} (TEST_SEED).`);
const pauseMs = kind.env?.["TEST_PAUSE_MS"] ?? process.env["TEST_PAUSE_MS"];
if (pauseMs) console.log(`After each set-up a pause of ${pauseMs} ms is drawn (TEST_PAUSE_MS).`);
try {
  const isWhole = kind === usual && paths.length === 0;
  if (kind === usual && !needServers(files)) await runPlain();
  else {
    const builds = [startBuild("roles", console.log), startBuild("pages", console.log)];
    // A run of some files is for looking closer: the checks belong to the whole.
    const checked = isWhole ? runChecks() : Promise.resolve();
    await runTests(builds);
    await checked;
  }
} catch (error) {
  console.error((error as Error).message);
  counts.failed += 1;
}
if (interrupted && counts.failed === 0) counts.failed = 1;
const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : "";
console.log(`after ${Math.round((performance.now() - startedAt) / 1000)} s:`);
console.log(`${counts.passed} passed, ${counts.failed} failed${skipped}`);
process.exit(counts.failed === 0 && counts.passed > 0 ? 0 : 1);

/** Beside the tests; each says what it found when it has ended. */
async function runChecks(): Promise<void> {
  for (const check of checks) {
    if (interrupted) return;
    const { code, output } = await runNpm(["run", "-s", check]);
    const ok = code === 0;
    counts[ok ? "passed" : "failed"] += 1;
    console.log(`${ok ? "✔" : "✖"} npm run ${check}${ok ? "" : `\n${output}`}`);
  }
}

/** Without servers and builds, which take longer than these files. */
async function runPlain(): Promise<void> {
  const result = join(await ownFolder(), "result.json");
  count(result, await runMocha(files, kind.jobs, { TEST_RESULT: result, TEST_SEED: seed }));
}

async function runTests(builds: Building[]): Promise<void> {
  const data = await ownFolder();
  const serversData = placeOfServers(data);
  const browser = files.some((file) => file.startsWith(join("test", "browser")))
    ? launchBrowser(join(data, "browser"), console.log)
    : null;
  const servers = await startServers({
    dataDir: serversData,
    env: process.env,
    durable: false,
    log: console.log,
  });
  try {
    await Promise.all(builds.map(({ done }) => done));
    const template = await createTemplate(servers.databaseUrl, servers.redisUrl);
    try {
      const result = join(data, "result.json");
      const env = {
        TEST_DATABASE_URL: servers.databaseUrl,
        TEST_REDIS_URL: servers.redisUrl,
        TEST_TEMPLATE: template.name,
        TEST_DATA: data,
        TEST_RESULT: result,
        TEST_BROWSER: join(data, "browser"),
        TEST_SEED: seed,
        ...kind.env,
      };
      const isAlone = kind.alone ?? (() => false);
      const together = files.filter((file) => !isAlone(file));
      if (together.length > 0) count(result, await runMocha(together, kind.jobs, env));
      const alone = files.filter((file) => isAlone(file));
      if (alone.length > 0 && !interrupted) count(result, await runMocha(alone, 1, env));
    } finally {
      await template.drop();
    }
  } finally {
    await browser?.close();
    await servers.stop();
    servers.remove();
    if (serversData !== data) rmSync(serversData, { recursive: true, force: true });
    // The lock stays: another run may be taking the folder at this moment.
    for (const name of readdirSync(data))
      if (name !== lockName) rmSync(join(data, name), { recursive: true, force: true });
  }
}

/** The long runs are for what a disk does to it, too. */
function placeOfServers(folder: string): string {
  return kind === usual ? memoryFolder(folder) : folder;
}

/** A data folder that no other run in this clone uses, cleared of what a killed run may have left there. */
async function ownFolder(): Promise<string> {
  for (let slot = 1; ; slot += 1) {
    const folder = resolve(".data", `test-${slot}`);
    if (!(await lockFolder(folder))) continue;
    for (const place of new Set([folder, placeOfServers(folder)]))
      for (const name of readdirSync(place)) {
        if (name.startsWith("postgres")) await clearPostgres(join(place, name));
        if (name.startsWith("redis")) await clearRedis(join(place, name));
      }
    return folder;
  }
}

/** The test files below a folder, large ones first; a file is itself. */
function filesOf(path: string): string[] {
  if (!existsSync(path)) return [];
  if (!statSync(path).isDirectory()) return [relative(".", path)];
  return readdirSync(path, { recursive: true, encoding: "utf8" })
    .map((name) => join(relative(".", path), name))
    .filter((file) => file.endsWith(kind.ending) && (kind.only?.(file) ?? true))
    .sort((a, b) => statSync(b).size - statSync(a).size);
}

/** A long one before each three of the others. */
function spread(all: readonly string[]): string[] {
  const slow = long.filter((file) => all.includes(file));
  const others = all.filter((file) => !slow.includes(file));
  const mixed = others.flatMap((file, n) => [
    ...(n % 3 === 0 ? slow.slice(n / 3, n / 3 + 1) : []),
    file,
  ]);
  return [...mixed, ...slow.slice(Math.ceil(others.length / 3))];
}

async function runMocha(
  these: readonly string[],
  atOnce: number,
  env: Record<string, string>,
): Promise<number | null> {
  const parallel = these.length > 1 && atOnce > 1;
  const { code } = await runToEnd(
    process.execPath,
    [
      // Else a tenth of the time goes into collecting garbage.
      "--max-semi-space-size=64",
      // So that mocha imports the files: translated for `require`, each use of an imported name is a call or two, which
      // takes most of the time of whatever counts much.
      "--no-experimental-require-module",
      ...["--import", fileURLToPath(new URL("follow-launcher.mjs", import.meta.url))],
      ...["--import", "tsx", "node_modules/mocha/bin/mocha.js"],
      ...these,
      ...(parallel ? ["--parallel", "--jobs", String(atOnce)] : []),
      ...flags,
    ],
    env,
    "inherit",
  );
  return code;
}

function runNpm(npmArgs: readonly string[]): Promise<Ended> {
  const npm = process.env.npm_execpath;
  return npm?.endsWith(".js")
    ? runToEnd(process.execPath, [npm, ...npmArgs], {}, "pipe")
    : runToEnd(process.platform === "win32" ? "npm.cmd" : "npm", npmArgs, {}, "pipe");
}

interface Ended {
  code: number | null;
  /** What it has printed, when that was piped. */
  output: string;
}

function runToEnd(
  file: string,
  childArgs: readonly string[],
  env: Record<string, string>,
  output: "inherit" | "pipe",
): Promise<Ended> {
  return new Promise((done, fail) => {
    const child = spawn(file, childArgs, {
      stdio: ["ignore", output, output, "ipc"],
      env: { ...process.env, ...env },
    });
    children.add(child);
    let printed = "";
    for (const stream of [child.stdout, child.stderr])
      stream?.on("data", (chunk: Buffer) => (printed += chunk.toString()));
    child.once("error", fail);
    child.once("close", (code) => {
      children.delete(child);
      done({ code, output: printed });
    });
  });
}

/** Adds what the reporter wrote down; an ending that it does not explain is a failure. */
function count(file: string, code: number | null): void {
  if (existsSync(file)) {
    const result = JSON.parse(readFileSync(file, "utf8")) as typeof counts;
    counts.passed += result.passed;
    counts.failed += result.failed;
    counts.skipped += result.skipped;
    rmSync(file);
    if (code === 0 || result.failed > 0) return;
  }
  if (code === 0) console.error("mocha ended without a result");
  else console.error(`mocha ended with ${code === null ? "a signal" : `code ${code}`}`);
  counts.failed += 1;
}
