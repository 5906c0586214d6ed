import { cpus, loadavg } from "node:os";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Side, startSide } from "#bench/idle.ts";
import { untilDump } from "#bench/reads.ts";
import { fillReadCountry } from "#bench/reads/country.ts";
import { openStage } from "#bench/stage.ts";
import { type Asked, askRaw, cpuMsOf } from "#bench/worst/ask.ts";
import { minuteMs } from "#src/domain/units.ts";
import { formatTime } from "#src/domain/time.ts";
import { createDb } from "#src/infrastructure/db.ts";

const stationCount = 30_000;
const partners = 200;
/** Stations that have changed since each partner's last pull. */
const changes = [100, 1000];
const warmUps = 20;

/** CPU of a pull, ms, the least of all rounds. */
type Cost = Map<Side["name"], { ms: number; kb: number; status: number }>;

/**
 * What it costs a web process that many partners copy a large country and ask for news every minute: CPU of all its
 * threads for each kind of pull. `before`: the built folder of another commit, on the same database, in turns. Answers
 * the section of results.md.
 */
export async function benchPulls({
  quick,
  before,
}: {
  quick: boolean;
  before: string | undefined;
}): Promise<string> {
  const [rounds, requests] = quick ? [1, 5] : [6, 25];
  const stage = await openStage({});
  try {
    console.log("Filling the country");
    const country = await fillReadCountry(stage.config, stationCount);
    const sides = before === undefined ? [] : [await startSide(stage, "before", resolve(before))];
    sides.push(await startSide(stage, "now", resolve(".")));
    const auth = { Authorization: `Bearer ${country.keys[0]!}` };
    const db = createDb(stage.config, "bench");
    stage.onClose(() => db.destroy());
    const since: string[] = [];
    // Whole seconds apart: the fewer changes, the later. `as_of` is behind the last of them.
    for (const count of changes.toReversed()) {
      await sleep(3000);
      since.unshift(formatTime(Date.now() - 1000));
      const ids = country.stations.slice(0, count).map(({ id }) => id);
      await db.raw("select feed_stamp(?::text[])", [ids] as never);
    }
    await sleep(3000);
    const etags = new Map<Side["name"], string>();
    for (const { name, port } of sides) etags.set(name, (await untilDump(port, auth)).etag);
    const idle = new Map(sides.map(({ name }) => [name, 0]));
    const used = ({ pids }: Side): number => {
      const { main, other } = cpuMsOf(pids.get("web")!);
      return main + other;
    };
    await sleep(20_000);
    for (const side of sides) {
      const from = used(side);
      await sleep(10_000);
      idle.set(side.name, (used(side) - from) / 10_000);
    }

    const dump = "/stations/all?limit=30000";
    const kinds: Record<string, (side: Side) => Asked> = {
      "304 of the dump": ({ name }) => asked(dump, { "If-None-Match": etags.get(name)! }),
    };
    for (const [n, count] of changes.entries()) {
      const delta = `/stations/delta?updated_since=${encodeURIComponent(since[n]!)}`;
      kinds[`delta, ${count} stations, gzip`] = () => asked(delta);
    }
    kinds["dump, gzip"] = () => asked(dump);
    const loadBefore = loadavg();
    const costs = new Map<string, Cost>();
    for (const [kind, request] of Object.entries(kinds)) {
      const cost: Cost = new Map(
        sides.map(({ name }) => [name, { ms: Infinity, kb: 0, status: 0 }]),
      );
      const ask = (side: Side, n: number) =>
        askRaw(side.port, country.keys[n % country.keys.length]!, request(side));
      for (const side of sides) for (let n = 0; n < warmUps; n += 1) await ask(side, n);
      for (let round = 0; round < rounds; round += 1)
        for (const side of sides) {
          const [from, at] = [used(side), performance.now()];
          let last = { status: 0, bytes: 0 };
          for (let n = 0; n < requests; n += 1) last = await ask(side, n);
          const own = idle.get(side.name)! * (performance.now() - at);
          const ms = Math.max(0, used(side) - from - own) / requests;
          const best = Math.min(ms, cost.get(side.name)!.ms);
          cost.set(side.name, { ms: best, kb: last.bytes / 1000, status: last.status });
        }
      costs.set(kind, cost);
      console.log(kind, cost);
    }
    return report(costs, { rounds, requests, loadBefore, real: country.real, before });
  } finally {
    await stage.close();
  }
}

const asked = (path: string, headers: Record<string, string> = {}): Asked => ({
  path,
  headers: { "Accept-Encoding": "gzip", ...headers },
});

/** Per cent of a core, when every partner pulls once a minute. */
const percentOf = (ms: number): number => (100 * ms * partners) / minuteMs;

function report(
  costs: ReadonlyMap<string, Cost>,
  run: {
    rounds: number;
    requests: number;
    loadBefore: readonly number[];
    real: boolean;
    before: string | undefined;
  },
): string {
  const names = [...[...costs.values()][0]!.keys()];
  const lines = [...costs].map(([kind, cost]) => {
    const all = [...cost.values()];
    const { kb, status, ms } = all.at(-1)!;
    const cells = [
      ...all.map((one) => one.ms.toFixed(2)),
      ...all.map((one) => `${percentOf(one.ms).toFixed(2)} %`),
    ];
    return `| ${kind} | ${status} | ${kb.toFixed(1)} | ${cells.join(" | ")} | ${Math.floor(minuteMs / 2 / ms).toLocaleString("en")} |`;
  });
  const head = ["CPU ms", `${partners} partners`].flatMap((what) =>
    names.map((name) => `${what}, ${name}`),
  );
  const at = new Date().toISOString().slice(0, 16).replace("T", " ");
  return `What it costs a web process that partners pull a country of ${stationCount.toLocaleString("en")} stations${run.real ? " (real ones, repeated with offsets)" : ""} every minute: CPU of all its threads, the least of ${run.rounds} rounds of ${run.requests} requests one after another, what it uses by itself taken off; per cent of a core for ${partners} partners that each pull once a minute; and how many would take half a core.${run.before === undefined ? "" : ' "before" is an earlier commit on the same database, measured in turns.'}

| pull | answer | KB | ${head.join(" | ")} | partners in half a core |
|---|---|---${"|---".repeat(head.length + 1)}|
${lines.join("\n")}

${at} UTC, \`npm run bench -- pulls${run.before === undefined ? "" : " --before FOLDER"}\`, ${cpus().length} cores (${cpus()[0]?.model.trim()}), Node ${process.versions.node}; load average ${run.loadBefore.map((one) => one.toFixed(1)).join(" ")} before. Other work on the same cores makes CPU time longer by its use of the caches.`;
}
