import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { build } from "vite";

// `npm run build`: the pages into web/dist/, with gzip and brotli beside each file. With `--if-changed` only when
// what they are made from is not what it was at the last build.
const web = resolve(import.meta.dirname, "..");
const dist = join(web, "dist");
const stampFile = join(dist, "made-from");

const startedAt = performance.now();
const stamp = stampOf([join(web, ".."), web]);
if (process.argv.includes("--if-changed") && madeFrom() === stamp) process.exit();

console.log("Building the pages …");
await build({ configFile: join(web, "vite.config.ts") });
await compressAll();
writeFileSync(stampFile, stamp);
console.log(`Built the pages in ${((performance.now() - startedAt) / 1000).toFixed(1)} s.`);

function madeFrom(): string | null {
  return existsSync(stampFile) ? readFileSync(stampFile, "utf8") : null;
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

/** Once, at the highest levels: what is served never changes. */
async function compressAll(): Promise<void> {
  const [toGzip, toBrotli] = [promisify(gzip), promisify(brotliCompress)];
  const files = filesOf(dist).filter((file) => /\.(html|js|mjs|css|svg|json)$/.test(file));
  for (const file of files) {
    const plain = readFileSync(file);
    const params = { [constants.BROTLI_PARAM_QUALITY]: 11 };
    writeFileSync(`${file}.gz`, await toGzip(plain, { level: 9 }));
    writeFileSync(`${file}.br`, await toBrotli(plain, { params }));
  }
}
