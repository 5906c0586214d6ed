// Plain JavaScript without dependencies: it runs before anything is installed.
import { spawnSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/**
 * Makes a fresh clone able to run TypeScript: installs the locked packages when they are missing or older than the
 * lock, then runs `entry` (a path relative to this file) in this same process.
 *
 * @param {string} entry
 */
export async function runTypeScript(entry) {
  process.chdir(root);
  if (!isInstalled()) install();
  const { register } = await import("tsx/esm/api");
  register();
  await import(new URL(entry, import.meta.url).href);
}

function isInstalled() {
  const lock = `${root}package-lock.json`;
  const installed = `${root}node_modules/.package-lock.json`;
  try {
    if (statSync(installed).mtimeMs >= statSync(lock).mtimeMs) return true;
    // A checkout touches the lock without changing it: compare what it says before installing everything again.
    return sameVersions(read(lock), read(installed));
  } catch {
    return false;
  }
}

/** @param {string} file */
const read = (file) => JSON.parse(readFileSync(file, "utf8")).packages;

/** @param {Record<string, any>} locked @param {Record<string, any>} installed */
const sameVersions = (locked, installed) =>
  Object.entries(locked).every(
    ([path, entry]) =>
      path === "" ||
      installed[path]?.version === entry.version ||
      (entry.optional === true && installed[path] === undefined),
  );

function install() {
  console.log("Installing packages (npm ci) …");
  const args = [
    "ci",
    "--include=dev",
    "--include=optional",
    "--no-fund",
    "--no-audit",
    "--loglevel=error",
  ];
  const npm = process.env.npm_execpath;
  const { status, error } = npm?.endsWith(".js")
    ? spawnSync(process.execPath, [npm, ...args], { cwd: root, stdio: "inherit" })
    : spawnSync("npm", args, { cwd: root, stdio: "inherit", shell: process.platform === "win32" });
  if (error) fail(`npm could not be started (${error.message}): install npm, then run this again.`);
  if (status !== 0) fail("npm ci failed: see its message above.");
}

/** @param {string} sentence @returns {never} */
function fail(sentence) {
  console.error(sentence);
  process.exit(1);
}
