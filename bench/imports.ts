import { execFile } from "node:child_process";
import { createWriteStream } from "node:fs";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { loadavg } from "node:os";
import { join } from "node:path";
import { finished } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brokenFiles } from "#bench/imports/broken-files.ts";
import { shapes } from "#bench/imports/shapes.ts";
import { verdict } from "#bench/results.ts";
import { openStage } from "#bench/stage.ts";

const stationCount = 300_000;
const changedCount = 9000;
/** As the command line and the role `imports` start (decisions 14.18). */
const heap = ["--max-semi-space-size=8", "--heap-growing-percent=20"];

/**
 * Imports of 300,000 stations, of the same again, and of a file with some changes; and how soon each broken file is
 * refused. Each in a process of its own. Answers the section of results.md.
 */
export async function benchImports({ quick }: { quick: boolean }): Promise<string> {
  const stage = await openStage({});
  try {
    const count = quick ? stationCount / 10 : stationCount;
    const path = join(stage.folder, "stations.json");
    const importing = async (what: string, changed: number, goalS: number | null) => {
      await writeStations(path, count, changed);
      const { seconds, mb } = await run("importing", [path], stage.settings);
      const goal =
        goalS === null ? "" : `${verdict(seconds <= goalS && mb <= 500)} (${goalS} s, 500 MB)`;
      return `| ${what} | ${seconds.toFixed(1)} s | ${mb.toFixed(0)} MB | ${goal} |`;
    };
    const imports = [
      await importing("all new", 0, 30),
      await importing("unchanged", 0, 10),
      await importing(`${changedCount} changed, in one transaction`, changedCount, null),
    ];
    const broken = join(stage.folder, "broken");
    const refused: { what: string; seconds: number; mb: number; isRefused: boolean }[] = [];
    for (const [what, spec, content, fault] of brokenFiles) {
      await writeFile(broken, content());
      const one = await run("reading", [broken, JSON.stringify(spec)], stage.settings);
      refused.push({ what, ...one, isRefused: fault.test(one.fault ?? "") });
    }
    const slowest = refused.toSorted((a, b) => b.seconds - a.seconds)[0]!;
    const largest = refused.toSorted((a, b) => b.mb - a.mb)[0]!;
    const good = refused.filter((one) => one.isRefused && one.seconds <= 2 && one.mb <= 300);
    const others = refused.filter((one) => !good.includes(one)).map(({ what }) => what);
    return [
      `Overpass JSON of ${count.toLocaleString("en")} stations (the command line's import), each run in a process of its own; RSS at its highest.`,
      ["", "| | time | memory | goal |", "|---|---|---|---|", ...imports, ""].join("\n"),
      `${good.length} of ${refused.length} broken files are refused within 2 s and 300 MB${others.length === 0 ? "" : ` (not: ${others.join("; ")})`}. The slowest: ${slowest.what}, ${slowest.seconds.toFixed(2)} s; the largest: ${largest.what}, ${largest.mb.toFixed(0)} MB.`,
      "",
      `${new Date().toISOString().slice(0, 10)}, \`npm run bench -- imports\`, Node ${process.version}, load average at the end ${loadavg()[0]!.toFixed(1)}.`,
    ].join("\n");
  } finally {
    await stage.close();
  }
}

const sizes = [1, 2, 4] as const;
/** A line counts as straight up to this exponent: four times as much takes at most 4.9 times as long. */
const straight = 1.15;

/** What each reader takes of files of n, 2n and 4n stations, to their end, without a database. */
export async function benchReaders({ quick }: { quick: boolean }): Promise<string> {
  const stage = await openStage({});
  try {
    const path = join(stage.folder, "file");
    const lines: string[] = [];
    for (const { what, read, n, unit = "stations", of } of shapes) {
      const taken: (Taken & { size: number })[] = [];
      for (const times of sizes) {
        const size = quick ? Math.ceil((n * times) / 10) : n * times;
        await writeFile(path, of(size));
        const one = await run("trying", [path, JSON.stringify(read)], stage.settings);
        taken.push({ ...one, size });
      }
      const [first, second, last] = taken as [Taken, Taken, Taken & { size: number }];
      // Below this, what starts anew with each process is most of it.
      const isTiny = last.seconds < 0.3;
      const exponent =
        Math.log(last.seconds / first.seconds) / Math.log(last.size / taken[0]!.size);
      const perItem = ((last.mb - first.mb) * 1024) / (last.size - taken[0]!.size);
      const line = [
        ...[what, `${last.size.toLocaleString("en")} ${unit}`],
        ...[first, second, last].map(({ seconds }) => `${seconds.toFixed(2)} s`),
        `${last.mb.toFixed(0)} MB`,
        `${Math.max(0, perItem).toFixed(1)} kB`,
        isTiny ? "" : exponent.toFixed(2),
        isTiny ? "reached" : verdict(exponent <= straight),
        last.fault?.replace(/^.*?: /, "").slice(0, 60) ?? "",
      ];
      console.log(line.join(" | "));
      lines.push(`| ${line.join(" | ")} |`);
    }
    return `Files of n, 2n and 4n stations read to their end, with all that an import does before it asks the database (\`trySource\`), each in a process of its own: its CPU time, RSS at its highest, and memory that each more takes. The exponent is that of time over size: 1 is a straight line, 2 a square; ≤ ${straight} is the goal, and what takes less than 0.3 s at 4n has none.

| file | 4n | n | 2n | 4n | memory | a station | exponent | goal | refused |
|---|---|---|---|---|---|---|---|---|---|
${lines.join("\n")}

${new Date().toISOString().slice(0, 10)}, \`npm run bench -- readers\`, Node ${process.version}, load average at the end ${loadavg()[0]!.toFixed(1)}.`;
  } finally {
    await stage.close();
  }
}

interface Taken {
  seconds: number;
  mb: number;
  fault?: string | null;
}

async function run(
  script: "importing" | "reading" | "trying",
  args: readonly string[],
  env: Record<string, string>,
): Promise<Taken> {
  const file = fileURLToPath(new URL(`imports/${script}.ts`, import.meta.url));
  const { PATH, HOME } = process.env;
  const options = { env: { PATH, HOME, ...env }, maxBuffer: 1e6 };
  const { stdout } = await promisify(execFile)(
    "node",
    [...heap, "--import", "tsx", file, ...args],
    options,
  );
  return JSON.parse(stdout) as Taken;
}

/** Stations around 800 places of Europe, always the same ones; the first `changed` have another name. */
async function writeStations(path: string, count: number, changed: number): Promise<void> {
  const file = createWriteStream(path);
  let seed = 1;
  const next = (): number => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
  const places = Array.from({ length: 800 }, () => [43 + 17 * next(), -3 + 43 * next()] as const);
  file.write('{"elements":[\n');
  for (let id = 1; id <= count; id += 1) {
    const [lat, lon] = places[Math.floor(next() * places.length)]!;
    const at = { lat: lat + (next() - 0.5) / 2, lon: lon + next() - 0.5 };
    const element = {
      ...(id % 3 === 0 ? { type: "way", id, center: at } : { type: "node", id, ...at }),
      tags: {
        ...{ amenity: "fuel", brand: `Brand ${id % 50}`, "fuel:diesel": "yes" },
        ...{ name: `${id <= changed ? "New" : "Station"} ${id}`, "fuel:octane_95": "yes" },
        ...{ "addr:street": `Road ${id % 1000}`, "addr:housenumber": `${id % 99}` },
        ...{ "addr:city": `Town ${id % 5000}`, opening_hours: "Mo-Su 06:00-22:00" },
      },
    };
    if (!file.write(JSON.stringify(element) + (id < count ? ",\n" : "\n")))
      await once(file, "drain");
  }
  file.end("]}\n");
  await finished(file);
}
