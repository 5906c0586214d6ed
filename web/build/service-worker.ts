import { createHash } from "node:crypto";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { build } from "rolldown";
import type { PrecacheEntry } from "#web/widget/offline/worker-scope.ts";

interface Chunk {
  file: string;
  imports?: string[];
  dynamicImports?: string[];
  css?: string[];
  assets?: string[];
}

const page = "widget/index.html";
const icons = ["icon-192.png", "icon-512.png", "icon-maskable-512.png", "icon-apple-180.png"];

/**
 * Writes the map's service worker into a finished build, with the list of what it keeps from the start: the map's
 * scripts and styles, and its icons. `pictures`: the folder of the icons.
 */
export async function buildServiceWorker(
  web: string,
  folder: string,
  pictures: string,
): Promise<void> {
  const manifest = JSON.parse(
    readFileSync(join(folder, ".vite", "manifest.json"), "utf8"),
  ) as Record<string, Chunk>;
  const assets: PrecacheEntry[] = [
    ...[...filesOf(manifest, page)].sort().map((url) => ({ url, revision: null })),
    ...icons.map((name) => ({ url: `pictures/${name}`, revision: hashOf(join(pictures, name)) })),
  ];
  await build({
    input: join(web, "widget", "offline", "service-worker.ts"),
    platform: "browser",
    transform: {
      define: { mapAssets: JSON.stringify(assets), "process.env.NODE_ENV": '"production"' },
    },
    output: { file: join(folder, "service-worker.js"), format: "iife", minify: true },
  });
  rmSync(join(folder, ".vite"), { recursive: true });
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

const hashOf = (file: string): string =>
  createHash("sha256").update(readFileSync(file)).digest("hex").slice(0, 16);
