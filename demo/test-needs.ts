import { existsSync, readFileSync } from "node:fs";

/** Hands out the run's servers. */
const gate = "test/harness/provided.ts";
/** What is only there when it was built. */
const built = /["'`(/]dist["'`/]|TEST_BROWSER|spawnOperator/;

/** Whether one of these test files needs servers or what is built, itself or by what it imports at whatever distance. */
export function needServers(files: readonly string[]): boolean {
  const seen = new Set<string>();
  const needs = (file: string): boolean => {
    if (file === gate) return true;
    if (seen.has(file) || !existsSync(file)) return false;
    seen.add(file);
    const text = readFileSync(file, "utf8");
    if (file.startsWith("test/") && built.test(text)) return true;
    return [...text.matchAll(/["']#([\w./-]+\.(?:ts|mjs))["']/g)].some(([, to]) => needs(to!));
  };
  return files.some(needs);
}
