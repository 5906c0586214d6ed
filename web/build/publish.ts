import { mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

const keptMs = 24 * 3600_000;

/**
 * Moves a finished build to the folder where it is used. Files of earlier builds in `parts`, whose names hold their
 * content's hash, stay for a day: pages that are open in browsers, and processes that still run, ask for them.
 */
export function publish(fresh: string, served: string, parts: string): void {
  const names = filesIn(fresh);
  const inParts = (name: string): boolean => dirname(name) === parts;
  // Parts come first, because the other files refer to them.
  for (const name of names.sort((a, b) => Number(inParts(b)) - Number(inParts(a)))) {
    mkdirSync(dirname(join(served, name)), { recursive: true });
    renameSync(join(fresh, name), join(served, name));
  }
  const current = new Set(names);
  for (const name of filesIn(join(served, parts)).map((file) => join(parts, file))) {
    const file = join(served, name);
    if (!current.has(name) && statSync(file).mtimeMs < Date.now() - keptMs) rmSync(file);
  }
}

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    statSync(join(folder, name)).isFile(),
  );
