import { asFault, isFault } from "#src/import/read-text.ts";
import { type FileSpec, readRecords } from "#src/import/records.ts";

// A process of its own for one file: what it says, and what it takes, as one line of JSON.
const [path = "", spec = "{}"] = process.argv.slice(2);
const begin = performance.now();
const done = await asFault(path, async () => {
  let records = 0;
  for await (const some of readRecords(path, JSON.parse(spec) as FileSpec, () => undefined))
    records += some.length;
  return { records };
});
const seconds = (performance.now() - begin) / 1000;
const mb = process.resourceUsage().maxRSS / 1024;
process.stdout.write(JSON.stringify({ fault: isFault(done) ? done.fault : null, seconds, mb }));
