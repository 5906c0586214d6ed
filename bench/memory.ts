import { readFileSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join, resolve } from "node:path";
import { roles, type Side, startSide } from "#bench/idle.ts";
import type { ReadJob, ReadMeasured } from "#bench/load/reads.ts";
import { rssMb, startGenerator, startLoad } from "#bench/processes.ts";
import { untilDump } from "#bench/reads.ts";
import { casesOf, requestsOf } from "#bench/reads/cases.ts";
import { fillReadCountry } from "#bench/reads/country.ts";
import { median, verdict } from "#bench/results.ts";
import { openStage } from "#bench/stage.ts";

const stationCount = 300_000;
const marksPerSecond = 20;
const sampleMs = 500;
/** Of the peak before. */
const partGoal = 0.7;
const goalsMb: Partial<Record<string, number>> = { web: 450, snapshots: 600 };

/**
 * Memory of the processes with ten times the stations of a large country, while marks arrive, dumps are built and all
 * kinds of reads are asked for. `before`: the built folder of another commit, which runs beside this one on the same
 * database. Answers the section of results.md.
 */
export async function benchMemory({
  seconds,
  before,
}: {
  seconds: number;
  before: string | undefined;
}): Promise<string> {
  const stage = await openStage({ NEW_REPORTERS_DAILY: "1000000", MASS_NO_LIMIT: "1000000" });
  try {
    console.log("Filling the country");
    const country = await fillReadCountry(stage.config, stationCount);
    const sides: Side[] =
      before === undefined ? [] : [await startSide(stage, "before", resolve(before))];
    sides.push(await startSide(stage, "now", resolve(".")));
    const samples = new Map<number, number[]>();
    const sampling = setInterval(() => {
      for (const { pids } of sides)
        for (const pid of pids.values())
          samples.set(pid, [...(samples.get(pid) ?? []), rssMb(pid)]);
    }, sampleMs);
    stage.onClose(() => clearInterval(sampling));

    const file = join(stage.folder, "country.json");
    const stations = country.stations.map(({ id, lat, lon }) => ({ id, lat, lon }));
    writeFileSync(file, JSON.stringify({ stations, keys: country.keys, users: 10_000 }));
    const measured = sides.map(async ({ name, port }) => {
      const marks = startLoad(file);
      stage.onClose(() => marks.stop());
      const reads = startGenerator<ReadJob, ReadMeasured>("reads");
      stage.onClose(() => reads.stop());
      const dump = await untilDump(port, { Authorization: `Bearer ${country.keys[0]!}` });
      const requests = casesOf(country, Date.now() - 1000, dump.etag).flatMap((one) =>
        requestsOf(one, "Fuelmark", country.keys),
      );
      console.log(`Marks and reads for ${seconds} seconds, ${name}`);
      const pace = { perSecond: marksPerSecond / sides.length };
      const [marked, read] = await Promise.all([
        marks.run({ side: name, port, pace, seconds }),
        reads.run({ port, clients: 1, seconds, requests }),
      ]);
      if (marked.odd !== null) console.log(`Not 200, for example: ${marked.odd}`);
      return `${name}: ${of(marked.statuses)} to marks; ${of(read.statuses)} to reads, p50 ${read.p50.toFixed(1)} ms, p99 ${read.p99.toFixed(0)} ms`;
    });
    const told = await Promise.all(measured);
    const settled = (pid: number): number => {
      const all = samples.get(pid)!;
      return median(all.slice(-all.length / 3));
    };
    const names = sides.map(({ name }) => name);
    const lines = roles.map((role) => {
      const peaks = sides.map(({ pids }) => peakMb(pids.get(role)!));
      const [mb, former] = peaks.toReversed();
      const [goal, part] = [goalsMb[role], before === undefined ? null : mb! / former!];
      const isReached = mb! < (goal ?? Infinity) && (part === null || part <= partGoal);
      const judged =
        goal === undefined ? "" : `${verdict(isReached)} (< ${goal} MB, ≤ ${partGoal})`;
      const cells = [...sides.map(({ pids }) => settled(pids.get(role)!)), ...peaks];
      return `| ${role} | ${cells.map((one) => `${one.toFixed(0)} MB`).join(" | ")} | ${part?.toFixed(2) ?? ""} | ${judged} |`;
    });
    const head = ["settled", "peak"].flatMap((what) => names.map((name) => `${what}, ${name}`));
    return [
      `Memory (RSS) of the processes as \`Procfile\` starts them, ${stationCount.toLocaleString("en")} stations${country.real ? " (real ones, repeated with offsets)" : ""}, from their start on and through ${seconds} s of ${marksPerSecond} marks/s, a dump each minute, and one client for each side that asks for all kinds of reads in turn. "settled": the median of the last third. "before" is an earlier commit, at the same time on the same database. ${told.join(". ")}.`,
      "",
      `| role | ${head.join(" | ")} | peaks, now / before | goal |`,
      `|---${"|---".repeat(head.length + 2)}|`,
      ...lines,
      "",
      `${new Date().toISOString().slice(0, 10)}, \`npm run bench -- memory --seconds ${seconds}${before === undefined ? "" : " --before FOLDER"}\`, Node ${process.version}, load average at the end ${loadavg()[1]!.toFixed(1)}.`,
    ].join("\n");
  } finally {
    await stage.close();
  }
}

const of = (all: Record<string, number>): string =>
  Object.entries(all)
    .map(([status, count]) => `${count} × ${status}`)
    .join(", ");

/** The most that a process has held since its start. */
const peakMb = (pid: number): number =>
  Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) / 1024;
