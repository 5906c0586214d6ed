import { spawn, type ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const follower = fileURLToPath(new URL("follow-launcher.mjs", import.meta.url));

/** The Procfile, of this folder or of another version's: role → its command, split into words. */
export function readProcfile(folder = root): Map<string, string[]> {
  const lines = readFileSync(join(folder, "Procfile"), "utf8").split("\n");
  return new Map(
    lines.flatMap((line) => {
      const [, role, command] = /^(\w+):\s*(.+)$/.exec(line) ?? [];
      return role === undefined || command === undefined
        ? []
        : [[role, command.trim().split(/\s+/)]];
    }),
  );
}

/**
 * Spawns one `node …` command of the Procfile with exactly `env`, and what it sets itself (`env NAME=VALUE node …`). Its
 * output is piped. The child stops by itself when this process dies. It gets a process group of its own: a Ctrl-C is for
 * the parent to hand on, in order.
 */
export function spawnRole(command: readonly string[], env: NodeJS.ProcessEnv): ChildProcess {
  const at = command.indexOf("node");
  if (at < 0) throw new Error(`not a node command: ${command.join(" ")}`);
  const own = command.slice(1, at).map((word) => word.split("=") as [string, string]);
  return spawn(process.execPath, ["--import", follower, ...command.slice(at + 1)], {
    cwd: root,
    env: { ...env, ...Object.fromEntries(own) },
    detached: process.platform !== "win32",
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    windowsHide: true,
  });
}
