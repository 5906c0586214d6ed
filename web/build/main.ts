import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join, relative, resolve } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { bundledBasemap, sourceFiles } from "#web/build/basemap.ts";
import { licencesOf } from "#web/build/licences.ts";
import { publish } from "#web/build/publish.ts";
import { buildServiceWorker } from "#web/build/service-worker.ts";

// The pages into web/dist/, with gzip and brotli beside each file, and the bundled base map. With
// `--if-changed` only parts whose sources differ from the last build's.
const web = resolve(import.meta.dirname, "..");
const dist = join(web, "dist");
const stampFile = join(dist, "made-from");

const basemapDir = join(dist, "basemap");
const ifChanged = process.argv.includes("--if-changed");

const startedAt = performance.now();
await make("the pages", stampFile, stampOf([join(web, ".."), web]), async () => {
  const fresh = join(dist, `.new-${process.pid}`);
  try {
    // Loaded only now: that takes longer than to see that nothing has changed.
    const { build } = await import("vite");
    const pages = await build({
      configFile: join(web, "vite.config.ts"),
      build: { outDir: fresh },
    });
    const worker = await buildServiceWorker(web, fresh);
    const outputs = [pages, worker].flat().flatMap((made) => ("output" in made ? made.output : []));
    writeFileSync(join(fresh, "licences.txt"), licencesOf(outputs));
    await compressAll(fresh);
    cpSync(join(web, "pictures"), join(fresh, "pictures"), { recursive: true });
    publish(fresh, dist, "assets");
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
});
const basemapStamp = createHash("sha256");
for (const file of [
  ...Object.values(sourceFiles),
  join(web, "build", "basemap.ts"),
  join(web, "..", "src", "infrastructure", "pmtiles.ts"),
])
  basemapStamp.update(readFileSync(file));
await make("the base map", join(basemapDir, "made-from"), basemapStamp.digest("hex"), () => {
  mkdirSync(basemapDir, { recursive: true });
  const file = join(basemapDir, "bundled.pmtiles");
  writeFileSync(`${file}.new`, bundledBasemap());
  renameSync(`${file}.new`, file);
});

async function make(
  what: string,
  stampedIn: string,
  stamp: string,
  build: () => void | Promise<void>,
): Promise<void> {
  const madeFrom = existsSync(stampedIn) ? readFileSync(stampedIn, "utf8") : null;
  if (ifChanged && madeFrom === stamp) return;
  console.log(`Building ${what} …`);
  await build();
  writeFileSync(stampedIn, stamp);
  console.log(`Built ${what} after ${((performance.now() - startedAt) / 1000).toFixed(1)} s.`);
}

/** A hash of the sources of the pages and of the versions of the packages they use. */
function stampOf([root, sources]: [string, string]): string {
  const hash = createHash("sha256").update(readFileSync(join(root, "package-lock.json")));
  for (const file of filesOf(sources)) {
    if (file.startsWith(dist)) continue;
    hash.update(relative(sources, file)).update(readFileSync(file));
  }
  return hash.digest("hex");
}

function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((file) => statSync(file).isFile())
    .sort();
}

/** Compresses each file once, at the highest levels: a served file never changes. */
async function compressAll(folder: string): Promise<void> {
  const [toGzip, toBrotli] = [promisify(gzip), promisify(brotliCompress)];
  const files = filesOf(folder).filter((file) => /\.(html|js|mjs|css|svg|json|txt)$/.test(file));
  for (const file of files) {
    const plain = readFileSync(file);
    const params = { [constants.BROTLI_PARAM_QUALITY]: 11 };
    writeFileSync(`${file}.gz`, await toGzip(plain, { level: 9 }));
    writeFileSync(`${file}.br`, await toBrotli(plain, { params }));
  }
}
