import { readFileSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import type { ReadJob, ReadMeasured } from "#bench/load/reads.ts";
import { rssMb, startGenerator, startLoad, startServer } from "#bench/processes.ts";
import { untilDump } from "#bench/reads.ts";
import { casesOf, requestsOf } from "#bench/reads/cases.ts";
import { fillReadCountry } from "#bench/reads/country.ts";
import { median, verdict } from "#bench/results.ts";
import { openStage } from "#bench/stage.ts";
import { readProcfile } from "#demo/roles.ts";
import { somePort } from "#demo/servers/port.ts";

const stationCount = 300_000;
const marksPerSecond = 20;
const sampleMs = 500;
const roles = ["web", "marks", "snapshots", "upkeep", "webhooks", "clock"] as const;
const goalsMb: Partial<Record<string, number>> = { web: 450, snapshots: 600 };

/**
 * Memory of the processes with ten times the stations of a large country, while marks arrive, dumps are built and all
 * kinds of reads are asked for. Answers the section of results.md.
 */
export async function benchMemory({ seconds }: { seconds: number }): Promise<string> {
  const stage = await openStage({ NEW_REPORTERS_DAILY: "1000000", MASS_NO_LIMIT: "1000000" });
  try {
    console.log("Filling the country");
    const country = await fillReadCountry(stage.config, stationCount);
    const port = await somePort();
    const pids = new Map<string, number>();
    for (const role of roles) {
      const env = { ...stage.settings, PORT: String(port) };
      const server = await startServer(readProcfile().get(role)!, env);
      stage.onClose(() => server.stop());
      pids.set(role, server.pid);
    }
    const samples = new Map([...pids.keys()].map((role) => [role, [] as number[]]));
    const sampling = setInterval(() => {
      for (const [role, pid] of pids) samples.get(role)!.push(rssMb(pid));
    }, sampleMs);
    stage.onClose(() => clearInterval(sampling));

    const file = join(stage.folder, "country.json");
    const stations = country.stations.map(({ id, lat, lon }) => ({ id, lat, lon }));
    writeFileSync(file, JSON.stringify({ stations, keys: country.keys, users: 10_000 }));
    const marks = startLoad(file);
    stage.onClose(() => marks.stop());
    const reads = startGenerator<ReadJob, ReadMeasured>("reads");
    stage.onClose(() => reads.stop());
    console.log(`Marks and reads for ${seconds} seconds`);
    const dump = await untilDump(port, { Authorization: `Bearer ${country.keys[0]!}` });
    const requests = casesOf(country, Date.now() - 1000, dump.etag).flatMap((one) =>
      requestsOf(one, "Fuelmark", country.keys),
    );
    const [marked, read] = await Promise.all([
      marks.run({ side: "Fuelmark", port, pace: { perSecond: marksPerSecond }, seconds }),
      reads.run({ port, clients: 1, seconds, requests }),
    ]);
    if (marked.odd !== null) console.log(`Not 200, for example: ${marked.odd}`);
    const settled = (one: readonly number[]): number => median(one.slice(-one.length / 3));
    const peaks = new Map([...pids].map(([role, pid]) => [role, peakMb(pid)]));
    const lines = roles.map((role) => {
      const [peak, goal] = [peaks.get(role)!, goalsMb[role]];
      const judged = goal === undefined ? "" : `${verdict(peak < goal)} (< ${goal})`;
      const cells = [settled(samples.get(role)!), peak].map((mb) => `${mb.toFixed(0)} MB`);
      return `| ${role} | ${cells.join(" | ")} | ${judged} |`;
    });
    const of = (all: Record<string, number>): string =>
      Object.entries(all)
        .map(([status, count]) => `${count} × ${status}`)
        .join(", ");
    return [
      `Memory (RSS) of the processes as \`Procfile\` starts them, ${stationCount.toLocaleString("en")} stations${country.real ? " (real ones, repeated with offsets)" : ""}, from their start on and through ${seconds} s of ${marksPerSecond} marks/s (${of(marked.statuses)}), a dump each minute, and one client that asks for all kinds of reads in turn (${of(read.statuses)}). "settled": the median of the last third.`,
      "",
      "| role | settled | peak | goal |",
      "|---|---|---|---|",
      ...lines,
      "",
      `${new Date().toISOString().slice(0, 10)}, \`npm run bench -- memory --seconds ${seconds}\`, Node ${process.version}, load average at the end ${loadavg()[1]!.toFixed(1)}.`,
    ].join("\n");
  } finally {
    await stage.close();
  }
}

/** The most that a process has held since its start. */
const peakMb = (pid: number): number =>
  Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) / 1024;
