import { loadavg } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createCpuMeter, type CpuMeter, startServer } from "#bench/processes.ts";
import { get } from "#bench/reads/cases.ts";
import { fillReadCountry } from "#bench/reads/country.ts";
import { openStage, type Stage } from "#bench/stage.ts";
import { readProcfile } from "#demo/roles.ts";
import { somePort } from "#demo/servers/port.ts";
import { minuteMs } from "#src/domain/units.ts";

const stationCount = 30_000;
const oneOffs = 50;
/** The first dumps are made, and V8 has compiled what runs all the time. */
const warmUpMs = 30_000;
export const roles = ["web", "marks", "snapshots", "upkeep", "webhooks", "clock"] as const;

export interface Side {
  name: "before" | "now";
  port: number;
  pids: Map<string, number>;
}

/** Per cent of a core that each role has used, by side and role. */
type Shares = Map<Side["name"], Map<string, number>>;

/**
 * CPU of each role while nothing changes in a country: first when nobody has asked for a filter set, then after many
 * sets were asked for once. Answers the section of results.md. `before`: the built folder of another commit, which runs
 * beside this one on the same database, with a Redis prefix of its own.
 */
export async function benchIdle({
  minutes,
  before,
}: {
  minutes: number;
  before: string | undefined;
}): Promise<string> {
  const stage = await openStage({});
  try {
    console.log("Filling the country");
    const country = await fillReadCountry(stage.config, stationCount);
    const sides = [await startSide(stage, "now", resolve("."))];
    if (before !== undefined) sides.unshift(await startSide(stage, "before", resolve(before)));
    const cpu = await createCpuMeter(stage.settings.DATABASE_URL, stage.settings.REDIS_URL);
    await sleep(warmUpMs);
    console.log(`Idle for ${minutes} minutes`);
    const quiet = await shares(sides, cpu, minutes);
    const auth = { Authorization: `Bearer ${country.keys[0]!}` };
    for (const { port } of sides)
      for (let n = 0; n < oneOffs; n += 1) {
        const city = encodeURIComponent(country.cities[n % country.cities.length]!.name);
        await get(port, `/api/v1/partner/stations/all?q=${city}+${n}`, auth);
        await get(port, `/api/v1/partner/stations/all?q=${n % 10}&limit=${20_000 + n}`, auth);
      }
    await sleep(warmUpMs);
    console.log(`Idle for ${minutes} minutes, after ${2 * oneOffs} filter sets`);
    const asked = await shares(sides, cpu, minutes);
    return report({ sides, quiet, asked, minutes, real: country.real });
  } finally {
    await stage.close();
  }
}

/** All roles of a side, with a Redis prefix of its own. */
export async function startSide(stage: Stage, name: Side["name"], folder: string): Promise<Side> {
  const port = await somePort();
  const prefix = `${stage.settings["REDIS_PREFIX"]}-${name}`;
  const env = { ...stage.settings, PORT: String(port), REDIS_PREFIX: prefix };
  const pids = new Map<string, number>();
  for (const role of roles) {
    const command = readProcfile(folder).get(role)!;
    const inFolder = command.map((word) => (word.startsWith("dist/") ? join(folder, word) : word));
    const server = await startServer(inFolder, env);
    stage.onClose(() => server.stop());
    pids.set(role, server.pid);
  }
  return { name, port, pids };
}

async function shares(sides: readonly Side[], cpu: CpuMeter, minutes: number): Promise<Shares> {
  const read = (): number[] =>
    sides.flatMap(({ pids }) => roles.map((role) => cpu.of([pids.get(role)!]) ?? NaN));
  const from = read();
  const startedAt = performance.now();
  await sleep(minutes * minuteMs);
  const used = read().map((ms, i) => (100 * (ms - from[i]!)) / (performance.now() - startedAt));
  return new Map(
    sides.map(({ name }, s) => [
      name,
      new Map(roles.map((role, r) => [role, used[s * roles.length + r]!])),
    ]),
  );
}

function report({
  sides,
  quiet,
  asked,
  minutes,
  real,
}: {
  sides: readonly Side[];
  quiet: Shares;
  asked: Shares;
  minutes: number;
  real: boolean;
}): string {
  const names = sides.map(({ name }) => name);
  const head = ["nothing asked", `after ${2 * oneOffs} sets`].flatMap((what) =>
    names.map((name) => `${what}, ${name}`),
  );
  const lines = roles.map((role) => {
    const cells = [quiet, asked].flatMap((found) =>
      names.map((name) => `${found.get(name)!.get(role)!.toFixed(2)} %`),
    );
    return `| ${role} | ${cells.join(" | ")} |`;
  });
  return [
    `CPU of each role while nothing changes, per cent of a core, over ${minutes} minutes: when nobody has asked for a filter set, and after ${2 * oneOffs} filter sets of \`/stations/all\` were each asked for once. ${stationCount.toLocaleString("en")} stations${real ? " (real ones, repeated with offsets)" : ""}, 60 % with a status that does not expire meanwhile. "before" is an earlier commit, measured at the same time on the same database. Goal: under 2 % for \`snapshots\`.`,
    "",
    `| role | ${head.join(" | ")} |`,
    `|---${"|---".repeat(head.length)}|`,
    ...lines,
    "",
    `${new Date().toISOString().slice(0, 10)}, \`npm run bench -- idle --minutes ${minutes}${sides.length > 1 ? " --before FOLDER" : ""}\`, Node ${process.version}, load average at the end ${loadavg()[1]!.toFixed(1)}.`,
  ].join("\n");
}
