import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { build, type RolldownOutput } from "rolldown";
import type { PrecacheEntry } from "#web/widget/offline/worker-scope.ts";

interface Chunk {
  file: string;
  imports?: string[];
  dynamicImports?: string[];
  css?: string[];
  assets?: string[];
}

const page = "widget/index.html";
const mapWorker = "maplibre-gl/src/source/worker.ts";

/**
 * Writes the map's service worker into a finished build, with the list of files that it keeps from the start: the map's
 * scripts and styles.
 */
export async function buildServiceWorker(web: string, folder: string): Promise<RolldownOutput> {
  const manifest = JSON.parse(
    readFileSync(join(folder, ".vite", "manifest.json"), "utf8"),
  ) as Record<string, Chunk>;
  const entries = Object.keys(manifest).filter((name) => name === page || name.endsWith(mapWorker));
  if (entries.length < 2) throw new Error("the build has no map or no worker of it");
  const files = new Set(entries.flatMap((name) => [...filesOf(manifest, name)]));
  const assets: PrecacheEntry[] = [...files]
    // The manifest has the worker a second time, under the name that it had before its hash was known.
    .filter((file) => existsSync(join(folder, file)))
    .sort()
    // Their names hold their content's hash.
    .map((url) => ({ url, revision: null }));
  const made = await build({
    input: join(web, "widget", "offline", "service-worker.ts"),
    platform: "browser",
    transform: {
      define: { mapAssets: JSON.stringify(assets), "process.env.NODE_ENV": '"production"' },
    },
    output: { file: join(folder, "service-worker.js"), format: "iife", minify: true },
  });
  rmSync(join(folder, ".vite"), { recursive: true });
  return made;
}

/** Everything that the page may come to load. */
function filesOf(manifest: Record<string, Chunk>, name: string, seen = new Set<string>()) {
  const files = new Set<string>();
  if (seen.has(name)) return files;
  seen.add(name);
  const { file, imports = [], dynamicImports = [], css = [], assets = [] } = manifest[name]!;
  for (const one of [file, ...css, ...assets]) files.add(one);
  for (const next of [...imports, ...dynamicImports])
    for (const one of filesOf(manifest, next, seen)) files.add(one);
  return files;
}
