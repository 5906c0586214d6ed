import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
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
