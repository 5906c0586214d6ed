import { mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

const keptMs = 24 * 3600_000;

/**
 * Moves a finished build to where it is served from. Assets of earlier builds stay for a day: pages that are open in
 * browsers, and processes that still run, ask for them.
 */
export function publish(fresh: string, served: string): void {
  const names = filesIn(fresh);
  // Pages last: what they refer to is there when they are.
  const pagesLast = names.sort((a, b) => Number(a.endsWith(".html")) - Number(b.endsWith(".html")));
  for (const name of pagesLast) {
    mkdirSync(dirname(join(served, name)), { recursive: true });
    renameSync(join(fresh, name), join(served, name));
  }
  const current = new Set(names);
  for (const name of filesIn(join(served, "assets")).map((file) => join("assets", file))) {
    const file = join(served, name);
    if (!current.has(name) && statSync(file).mtimeMs < Date.now() - keptMs) rmSync(file);
  }
}

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    statSync(join(folder, name)).isFile(),
  );
