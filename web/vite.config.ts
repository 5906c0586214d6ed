import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";
import { licencesNotice } from "#web/build/licences.ts";
import { mapLibrary, mapLibraryNotice } from "#web/build/map-library.ts";

const root = fileURLToPath(new URL(".", import.meta.url));

/** Every `web/<app>/<page>.html` is a page of its own; all share the chunks in `web/dist/assets/`. */
const pages = readdirSync(root, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && existsSync(join(root, entry.name, "index.html")))
  .filter(({ name }) => name !== "dist")
  .flatMap(({ name }) =>
    readdirSync(join(root, name))
      .filter((file) => file.endsWith(".html"))
      .map((file) => join(root, name, file)),
  );

export default defineConfig({
  root,
  // Relative, so that the service may stand below a path of a proxy.
  base: "./",
  publicDir: false,
  plugins: [mapLibrary()],
  logLevel: "warn",
  oxc: {
    jsx: { runtime: "automatic", importSource: "preact" },
    // The map library's sources are written for this: a field that a class only declares is left to its parent.
    typescript: { removeClassFieldsWithoutInitializer: true },
    assumptions: { setPublicClassFields: true },
  },
  build: {
    emptyOutDir: true,
    target: "es2022",
    // Data URLs would need more of the content security policy than the pages give.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: pages,
      output: {
        postBanner: (chunk) => mapLibraryNotice(chunk) + licencesNotice(chunk),
        // Without groups, shared code would come as a dozen files of some hundred bytes, each a request of its own. The
        // first group has only modules without side effects, because every page loads all of it.
        codeSplitting: {
          groups: [
            {
              name: "shared",
              priority: 2,
              minShareCount: 2,
              test: /vite.preload-helper|src.(domain|contract)|node_modules.@?preact|web.widget.(signs|colours)|web.kit.(storage|language|theme|map-view)\.ts/,
            },
            {
              name: "widget",
              priority: 1,
              minShareCount: 2,
              test: /web.widget.(?!map|signs|colours|offline.service)/,
            },
          ],
        },
      },
    },
    // build/service-worker.ts reads from it the files that the map's service worker keeps.
    manifest: true,
    chunkSizeWarningLimit: 2000,
  },
});
