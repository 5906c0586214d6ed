import type { ChildProcess } from "node:child_process";
import { createWriteStream, mkdirSync, renameSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { createInterface } from "node:readline";

export interface RoleLog {
  file: string;
  /** Everything the child prints goes to the file; warnings and what is no log line go to the screen too. */
  follow(child: ChildProcess): void;
  /** A line of the launcher's own about this role. */
  say(text: string): void;
}

const largestBytes = 20 * 1024 * 1024;
const repeatMs = 10_000;
const warnLevel = 40;

/** The log of one role in `file`; a file grown large is put aside as `.old` first. */
export function openRoleLog(role: string, file: string): RoleLog {
  mkdirSync(dirname(file), { recursive: true });
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > largestBytes) {
    renameSync(file, `${file}.old`);
  }
  const stream = createWriteStream(file, { flags: "a" });
  const shownAt = new Map<string, number>();

  const show = (text: string): void => {
    const now = Date.now();
    // A server that is away makes the same complaint many times a second.
    if (now - (shownAt.get(text) ?? 0) < repeatMs) return;
    if (shownAt.size > 1000) shownAt.clear();
    shownAt.set(text, now);
    console.log(`[${role}] ${text}`);
  };

  return {
    file,
    follow: ({ stdout, stderr }) => {
      for (const output of [stdout, stderr]) {
        if (output === null) continue;
        createInterface({ input: output }).on("line", (line) => {
          stream.write(`${line}\n`);
          const text = worthShowing(line);
          if (text !== null) show(text);
        });
      }
    },
    say: show,
  };
}

/** A warning or an error in one readable line; null for the quiet rest. */
function worthShowing(line: string): string | null {
  if (line.trim() === "") return null;
  try {
    const { level, msg, err } = JSON.parse(line) as {
      level?: unknown;
      msg?: unknown;
      err?: unknown;
    };
    if (typeof level !== "number" || level < warnLevel) return null;
    const cause =
      typeof err === "string" ? err : (err as { message?: string } | undefined)?.message;
    return [level > warnLevel ? "error:" : "warning:", msg, cause && `(${cause})`]
      .filter((part) => typeof part === "string")
      .join(" ");
  } catch {
    return line;
  }
}
