import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join, relative } from "node:path";
import { projectRoot } from "#src/infrastructure/project-root.ts";
import { publish } from "#web/build/publish.ts";

/** What runs by itself, under the name of its file in `dist/`. */
const programs = {
  web: "api/main.ts",
  worker: "workers/main.ts",
  release: "workers/release.ts",
  operator: "cli/main.ts",
  "import-thread": "api/console/import-thread.ts",
  trickle: "demo/country/trickle.ts",
};
const madeOf = [
  "src",
  "snapshots",
  "api",
  "workers",
  "migrations",
  "cli",
  "demo",
  "package-lock.json",
];

/** Packages that stay outside: bull-board looks for its files beside itself, the others are drivers we do not use. */
const external = [
  /^@bull-board\//,
  /^(pg-native|better-sqlite3|sqlite3|mysql2?|mariadb|oracledb|tedious|pg-query-stream)(\/|$)/,
];

/**
 * Bundles each role and the command line, with the packages they use, into `dist/`, with source maps beside them.
 * A role starts several times faster from few files. Chunks of earlier bundles stay for a day: processes that still
 * run may ask for one. With `ifChanged` only when a source or a package has changed since the last bundle.
 */
export async function bundle(ifChanged: boolean, log: (line: string) => void): Promise<void> {
  const dist = join(projectRoot, "dist");
  const stampFile = join(dist, "made-from");
  const stamp = hashOf(madeOf);
  if (ifChanged && existsSync(stampFile) && readFileSync(stampFile, "utf8") === stamp) return;
  const startedAt = performance.now();
  const fresh = join(dist, `.new-${process.pid}`);
  mkdirSync(fresh, { recursive: true });
  try {
    // Only now: it takes longer to load than to see that nothing has changed.
    const { build } = await import("rolldown");
    await build({
      cwd: projectRoot,
      input: programs,
      external,
      platform: "node",
      // depd asks for call sites by `eval`, in the browser's manner; nothing of ours does.
      checks: { eval: false },
      output: {
        dir: fresh,
        format: "esm",
        sourcemap: true,
        // One letter beyond Latin-1 makes V8 hold the whole text of a file at two bytes a letter.
        charset: "ascii",
        comments: { annotation: false, jsdoc: false },
        entryFileNames: "programs/[name].js",
        chunkFileNames: "chunks/[name]-[hash].js",
      },
    });
    copyFileSync(join(projectRoot, "demo/runtime.mjs"), join(fresh, "runtime.mjs"));
    for (const name of Object.keys(programs))
      writeFileSync(join(fresh, `${name}.js`), starting(name));
    publish(fresh, dist, "chunks");
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  writeFileSync(stampFile, stamp);
  log(`Bundled the roles in ${((performance.now() - startedAt) / 1000).toFixed(1)} s.`);
}

/** What starts a program: its chunks may not even load on a Node that is too old, and must see no other zone than UTC. */
const starting = (name: string): string =>
  `import "./runtime.mjs";\nimport("./programs/${name}.js");\n`;

/** A hash of these files and of all in these folders, with their names; from the root of the project. */
export function hashOf(names: readonly string[]): string {
  const hash = createHash("sha256");
  for (const name of names) {
    for (const file of filesOf(join(projectRoot, name)))
      hash.update(relative(projectRoot, file)).update(readFileSync(file));
  }
  return hash.digest("hex");
}

function filesOf(path: string): string[] {
  if (/\.\w+$/.test(path)) return [path];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}
