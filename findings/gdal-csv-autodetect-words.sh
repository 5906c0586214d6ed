#!/usr/bin/env bash
# GDAL 3.8.4 (gdal3.js 2.8.1): AUTODETECT_TYPE makes a column of yes, no and other words a Boolean.
# One would have guessed: the first word that is neither yes nor no makes it a text; so it is with numbers, and so it is when that word comes first or second. After two of yes and no the column stays Boolean, and low and queue are null.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund gdal3.js@2.8.1 >/dev/null
cat > try.mjs <<'JS'
import { writeFileSync } from "node:fs";
import initGdal from "gdal3.js/node.js";
const gdal = await initGdal({ path: "node_modules/gdal3.js/dist/package", useWorker: false });
async function read(words) {
  const name = `${words.join("-")}.csv`;
  writeFileSync(name, ["id,status", ...words.map((word, n) => `a${n},${word}`), ""].join("\n"));
  const { datasets } = await gdal.open(name, ["AUTODETECT_TYPE=YES"]);
  const made = await gdal.ogr2ogr(datasets[0], ["-f", "GeoJSON"]);
  const bytes = await gdal.getFileBytes(made);
  return JSON.parse(Buffer.from(bytes).toString()).features.map(({ properties }) => properties.status);
}
const [lost, kept] = [await read(["yes", "no", "low"]), await read(["low", "yes", "no"])];
console.log(`yes, no, low is read as ${JSON.stringify(lost)}; low, yes, no as ${JSON.stringify(kept)}`);
process.exit(JSON.stringify(lost) === "[true,false,null]" && JSON.stringify(kept) === '["low","yes","no"]' ? 0 : 1);
JS
node try.mjs
