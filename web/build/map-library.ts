import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Plugin } from "vite";

const name = "maplibre-gl";
const workerId = "virtual:map-worker-url";
const require = createRequire(import.meta.url);
const folder = dirname(require.resolve(`${name}/package.json`));
const { version } = require(`${name}/package.json`) as { version: string };
const sources = join(folder, "src");

/**
 * Bundles the map library from its sources, which its package contains. The package's own bundles for the page and for
 * its worker both contain what the two have in common, and everything that no page uses: 437 KB compressed in place
 * of 314 KB (decisions 15.41). `virtual:map-worker-url` is the address of the worker.
 */
export function mapLibrary(): Plugin {
  let worker = "";
  return {
    name: "map-library",
    enforce: "pre",
    buildStart() {
      worker = this.emitFile({ type: "chunk", id: join(sources, "source", "worker.ts") });
    },
    resolveId: (id) =>
      id === name ? join(sources, "index.ts") : id === workerId ? `\0${workerId}` : null,
    load: (id) =>
      id === `\0${workerId}` ? `export default import.meta.ROLLUP_FILE_URL_${worker};` : null,
  };
}

/** The words that the library's licence asks for, above each file that contains some of it. */
export const mapLibraryNotice = ({ moduleIds }: { moduleIds: readonly string[] }): string =>
  moduleIds.some((id) => id.startsWith(sources))
    ? `/*! MapLibre GL JS, 3-Clause BSD: https://github.com/maplibre/maplibre-gl-js/blob/v${version}/LICENSE.txt */`
    : "";
