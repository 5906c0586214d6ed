import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

/**
 * The project's folder, where `package.json` stands: the same for the sources and for what the bundler makes of them,
 * which lies elsewhere. Throws when there is none above this file.
 */
export const projectRoot = findRoot(import.meta.dirname);

function findRoot(folder: string): string {
  if (existsSync(join(folder, "package.json"))) return folder;
  const parent = dirname(folder);
  if (parent === folder) throw new Error(`no package.json above ${import.meta.dirname}`);
  return findRoot(parent);
}
