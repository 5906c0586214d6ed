import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { buildPages } from "#demo/build-pages.ts";
import { findChromium } from "#demo/chromium.ts";
import { lockFolder } from "#demo/lock.ts";
import { clearPostgres } from "#demo/servers/postgres.ts";
import { clearRedis } from "#demo/servers/redis.ts";
import { startServers } from "#demo/servers/start.ts";
import { createTemplate } from "#demo/template.ts";

const args = process.argv.slice(2);
const fault = args.includes("--fault");
const fuzz = args.includes("--fuzz");
/** `npm run screenshots`: writes docs/images/ anew. */
const screenshots = args.includes("--screenshots");
const ownArgs = new Set(["--fault", "--fuzz", "--screenshots"]);
const mochaArgs = args.filter((arg) => !ownArgs.has(arg));
const paths = mochaArgs.filter((arg) => !arg.startsWith("-") && existsSync(arg));
const flags = mochaArgs.filter((arg) => !paths.includes(arg));
const phases = phasesOf(paths);
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
try {
  // A run of some files, of the faults, the fuzzer or the camera is for looking closer: the checks belong to the whole.
  if (paths.length === 0 && !fault && !fuzz && !screenshots) {
    for (const check of ["format:check", "lint", "types", "dead"]) {
      if (interrupted) break;
      const ok = (await runNpm(["run", "-s", check])) === 0;
      counts[ok ? "passed" : "failed"] += 1;
    }
  }
  if (!interrupted) await buildPages(console.log).done;
  if (!interrupted) await runTests();
} catch (error) {
  console.error((error as Error).message);
  counts.failed += 1;
}
if (interrupted && counts.failed === 0) counts.failed = 1;
const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : "";
console.log(`${counts.passed} passed, ${counts.failed} failed${skipped}`);
process.exit(counts.failed === 0 && counts.passed > 0 ? 0 : 1);

async function runTests(): Promise<void> {
  const data = await ownFolder();
  const servers = await startServers({
    dataDir: data,
    env: process.env,
    durable: false,
    log: console.log,
  });
  try {
    const template = await createTemplate(servers.databaseUrl, servers.redisUrl);
    try {
      for (const phase of phases) {
        if (interrupted) break;
        const result = join(data, "result.json");
        rmSync(result, { force: true });
        const code = await runMocha(phase, {
          TEST_DATABASE_URL: servers.databaseUrl,
          TEST_REDIS_URL: servers.redisUrl,
          TEST_TEMPLATE: template.name,
          TEST_DATA: data,
          TEST_RESULT: result,
          ...(fuzz ? { FUZZ_REQUESTS: process.env.FUZZ_REQUESTS ?? "5000" } : {}),
          ...(phase.browser ? { TEST_CHROMIUM: (await findChromium(console.log)) ?? "" } : {}),
        });
        count(result, code);
      }
    } finally {
      await template.drop();
    }
  } finally {
    await servers.stop();
    rmSync(data, { recursive: true, force: true });
    servers.remove();
  }
}

/** A data folder that no other run in this clone uses, cleared of what a killed run may have left there. */
async function ownFolder(): Promise<string> {
  for (let slot = 1; ; slot += 1) {
    const folder = resolve(".data", `test-${slot}`);
    if (!(await lockFolder(folder))) continue;
    for (const name of readdirSync(folder)) {
      if (name.startsWith("postgres")) await clearPostgres(join(folder, name));
      if (name.startsWith("redis")) await clearRedis(join(folder, name));
    }
    return folder;
  }
}

interface Phase {
  specs: string[];
  /** Tests with a real browser come after all others: they need the machine for themselves. */
  browser: boolean;
}

/** What to run, in this order: the files named, or everything of this kind of run. */
function phasesOf(named: readonly string[]): Phase[] {
  const inBrowser = (path: string): boolean => /^test\/browser(\/|$)/.test(relative(".", path));
  const others = named.filter((path) => !inBrowser(path)).map(asSpec);
  const browser = named.filter(inBrowser).map(asSpec);
  if (named.length === 0 && fuzz) return [{ specs: ["test/fuzz/**/*.test.ts"], browser: false }];
  if (named.length === 0 && fault) return [{ specs: ["test/fault/**/*.test.ts"], browser: false }];
  if (named.length === 0 && screenshots)
    return [{ specs: ["test/browser/shots/*.ts"], browser: true }];
  if (named.length === 0) {
    others.push("test/!(fault|browser)/**/*.test.ts");
    browser.push("test/browser/**/*.test.ts");
  }
  return [
    { specs: others, browser: false },
    { specs: browser, browser: true },
  ].filter(({ specs }) => specs.length > 0);
}

function runMocha({ specs, browser }: Phase, env: Record<string, string>): Promise<number | null> {
  return runToEnd(
    process.execPath,
    [
      ...["--import", fileURLToPath(new URL("follow-launcher.mjs", import.meta.url))],
      ...["--import", "tsx", "node_modules/mocha/bin/mocha.js"],
      ...specs,
      ...(browser ? ["--timeout", "60000"] : []),
      ...flags,
    ],
    env,
  );
}

function asSpec(path: string): string {
  return statSync(path).isDirectory() ? join(path, "**", "*.test.ts") : path;
}

function runNpm(npmArgs: readonly string[]): Promise<number | null> {
  const npm = process.env.npm_execpath;
  return npm?.endsWith(".js")
    ? runToEnd(process.execPath, [npm, ...npmArgs], {})
    : runToEnd(process.platform === "win32" ? "npm.cmd" : "npm", npmArgs, {});
}

function runToEnd(
  file: string,
  childArgs: readonly string[],
  env: Record<string, string>,
): Promise<number | null> {
  return new Promise((done, fail) => {
    const child = spawn(file, childArgs, {
      stdio: ["inherit", "inherit", "inherit", "ipc"],
      env: { ...process.env, ...env },
    });
    children.add(child);
    child.once("error", fail);
    child.once("exit", (code) => {
      children.delete(child);
      done(code);
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
    if (code === 0 || result.failed > 0) return;
  }
  if (code === 0) console.error("mocha ended without a result");
  else console.error(`mocha ended with ${code === null ? "a signal" : `code ${code}`}`);
  counts.failed += 1;
}
