import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

/**
 * The project's folder, which has `package.json`: the same for the sources and for the bundle, which is in another
 * folder. Throws when there is none above this file.
 */
export const projectRoot = findRoot(import.meta.dirname);

function findRoot(folder: string): string {
  if (existsSync(join(folder, "package.json"))) return folder;
  const parent = dirname(folder);
  if (parent === folder) throw new Error(`no package.json above ${import.meta.dirname}`);
  return findRoot(parent);
}
