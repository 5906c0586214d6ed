import { existsSync, renameSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { chromium } from "playwright-core";
import { run } from "#demo/servers/command.ts";

const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const macApps = ["Chromium", "Google Chrome"].map(
  (name) => `/Applications/${name}.app/Contents/MacOS/${name}`,
);
const installMs = 600_000;

/**
 * A Chromium or Chrome for the browser tests: the one that CHROMIUM names, one on PATH, else Debian's or Ubuntu's
 * package, installed now when this process may do that. Null, with a word to `log`, when there is none.
 */
export async function findChromium(log: (line: string) => void): Promise<string | null> {
  const found = installed();
  if (found !== null) return found;
  if (process.platform === "linux" && process.getuid?.() === 0) {
    log("Installing Chromium for the browser tests (apt-get) …");
    if (await install()) {
      const now = installed();
      if (now !== null) return now;
    }
    log("Chromium could not be installed.");
  }
  log("No Chromium found: the browser tests are skipped. Install it, or name one by CHROMIUM=…");
  return null;
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
 * One browser for all test files, which connect to it: its address is written to `addressFile` as soon as it runs, and
 * an empty text when there is none. Installing one may take a minute, and other tests need not wait for that.
 */
export function launchBrowser(
  addressFile: string,
  log: (line: string) => void,
): { close(): Promise<void> } {
  const launched = findChromium(log).then(async (executablePath) => {
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
  const folders = (process.env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  const files = [
    ...(process.env.CHROMIUM ? [process.env.CHROMIUM] : []),
    ...folders.flatMap((folder) => names.map((name) => join(folder, name))),
    ...(process.platform === "darwin" ? macApps : []),
  ];
  return files.find((file) => existsSync(file)) ?? null;
}

async function install(): Promise<boolean> {
  const options = { timeoutMs: installMs, env: { DEBIAN_FRONTEND: "noninteractive" } };
  const get = ["install", "-qq", "-y", "--no-install-recommends", "chromium"];
  if ((await run("apt-get", get, options)).ok) return true;
  // The package lists may be missing or too old.
  await run("apt-get", ["update", "-qq"], options);
  return (await run("apt-get", get, options)).ok;
}
