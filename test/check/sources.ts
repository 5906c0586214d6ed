import { readdir } from "node:fs/promises";
import { join } from "node:path";

/** The files of code below a folder of the project, as paths from its root. */
export async function sources(folder: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true });
  return names.filter((name) => /\.(ts|tsx|mjs)$/.test(name)).map((name) => join(folder, name));
}
