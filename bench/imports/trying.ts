import { asFault, isFault } from "#src/import/read-text.ts";
import type { FileSpec } from "#src/import/records.ts";
import { readSource } from "#src/import/source.ts";
import { sourceNamed } from "#src/import/source-list.ts";
import { trySource } from "#src/import/try-source.ts";

// A process of its own that reads one file to its stations: what it takes, as one line of JSON.
const [path = "", spec = "{}"] = process.argv.slice(2);
const read = JSON.parse(spec) as FileSpec;
const isOsm = /osm|geojson/.test(read.format) || read.records === "elements";
const [id, lat, lon] = ["id", "lat", "lon"];
const fields = { id: read.format === "xml" ? "@id" : id, lat, lon, name: "name" };
const described = readSource({ name: "x", title: "X", files: [{ name: "s", read }], fields });
const source = isOsm ? sourceNamed("osm")! : "source" in described ? described.source : null;
const before = process.cpuUsage();
const done = await asFault(path, () => trySource(source!, [path]));
const { user, system } = process.cpuUsage(before);
const mb = process.resourceUsage().maxRSS / 1024;
const fault = isFault(done) ? done.fault : null;
process.stdout.write(JSON.stringify({ fault, seconds: (user + system) / 1e6, mb }));
