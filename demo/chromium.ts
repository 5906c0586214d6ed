import { existsSync, renameSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { chromium } from "playwright-core";
import { run } from "#demo/servers/command.ts";

const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const macApps = ["Chromium", "Google Chrome"].map(
  (name) => `/Applications/${name}.app/Contents/MacOS/${name}`,
);
const installMs = 600_000;
/** Chromium without windows: the same pages for half of the processor's time. It shows no notifications. */
const windowless = "chromium-headless-shell";

/**
 * A Chromium or Chrome with windows: the one that CHROMIUM names, one on PATH, else Debian's or Ubuntu's package, installed
 * now when this process may do that. Null, with a word to `log`, when there is none.
 */
export async function findChromium(log: (line: string) => void): Promise<string | null> {
  const found = installed() ?? (await install("chromium", log).then(installed));
  if (found === null)
    log("No Chromium found: the browser tests are skipped. Install it, or name one by CHROMIUM=…");
  return found;
}

/** The one without windows if there is such a one or Debian has it, unless CHROMIUM names another. */
async function findForPages(log: (line: string) => void): Promise<string | null> {
  const windowed = await findChromium(log);
  if (windowed === null || process.env.CHROMIUM) return windowed;
  const find = (): string | null => onPath([windowless]);
  return find() ?? (await install(windowless, log).then(find)) ?? windowed;
}

/** What every browser of the tests is started with. */
export const chromiumFlags = [
  "--no-sandbox",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  // WebGL without a graphics card.
  "--use-angle=swiftshader",
  "--enable-unsafe-swiftshader",
  // Else pages, too, are painted by the simulated graphics card.
  "--disable-gpu-rasterization",
  "--disable-gpu-compositing",
  // Pages on different hosts of one machine: http://shop.test:PORT.
  "--host-resolver-rules=MAP *.test 127.0.0.1",
];

/**
 * One browser for all test files, which connect to it, without windows if there is such a one: its address is written to
 * `addressFile` as soon as it runs, and an empty text when there is none. Installing one may take a minute, and other
 * tests need not wait for that.
 */
export function launchBrowser(
  addressFile: string,
  log: (line: string) => void,
): { close(): Promise<void> } {
  const launched = findForPages(log).then(async (executablePath) => {
    const server =
      executablePath === null
        ? null
        : await chromium.launchServer({ executablePath, args: chromiumFlags });
    writeFileSync(`${addressFile}.new`, server?.wsEndpoint() ?? "");
    renameSync(`${addressFile}.new`, addressFile);
    return server;
  });
  return { close: async () => (await launched)?.close() };
}

function installed(): string | null {
  const named = process.env.CHROMIUM;
  if (named && existsSync(named)) return named;
  return (
    onPath(names) ??
    (process.platform === "darwin" ? macApps.find((file) => existsSync(file)) : null) ??
    null
  );
}

function onPath(wanted: readonly string[]): string | null {
  const folders = (process.env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  const files = folders.flatMap((folder) => wanted.map((name) => join(folder, name)));
  return files.find((file) => existsSync(file)) ?? null;
}

/** Installs a package of Debian or Ubuntu where this process may do that. */
async function install(name: string, log: (line: string) => void): Promise<void> {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return;
  log(`Installing ${name} for the browser tests (apt-get) …`);
  const options = { timeoutMs: installMs, env: { DEBIAN_FRONTEND: "noninteractive" } };
  const aptGet = (...args: string[]) => run("apt-get", ["-qq", ...args], options);
  const get = ["install", "-y", "--no-install-recommends", name];
  if ((await aptGet(...get)).ok) return;
  // The package lists may be missing or too old.
  await aptGet("update");
  if (!(await aptGet(...get)).ok) log(`${name} could not be installed.`);
}
