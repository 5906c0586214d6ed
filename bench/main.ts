import { parseArgs } from "node:util";
import { benchCache } from "#bench/cache.ts";
import { benchCalls } from "#bench/calls.ts";
import { benchChances } from "#bench/chances.ts";
import { benchFuzz } from "#bench/fuzz.ts";
import { benchIdle } from "#bench/idle.ts";
import { benchImports, benchReaders } from "#bench/imports.ts";
import { benchMarks } from "#bench/marks.ts";
import { benchMarksRival } from "#bench/marks-rival.ts";
import { benchMarkCosts } from "#bench/mark-costs.ts";
import { benchMatching } from "#bench/matching.ts";
import { benchMemory } from "#bench/memory.ts";
import { benchPages } from "#bench/pages.ts";
import { benchPulls } from "#bench/pulls.ts";
import { benchReads } from "#bench/reads.ts";
import { benchSize } from "#bench/size.ts";
import { benchStreams } from "#bench/streams.ts";
import { benchChance, benchChanceMonth, benchFrontier, benchTrust } from "#bench/trust.ts";
import { benchWebhooks } from "#bench/webhooks.ts";
import { benchWorst } from "#bench/worst.ts";
import { benchYears } from "#bench/years.ts";
import { writeSection } from "#bench/results.ts";
import { startBuild } from "#demo/building.ts";

// `npm run bench -- marks [--rounds 5] [--seconds 5] [--clients 1,16,64] [--dry]`
// `npm run bench -- mark-costs [--seconds 5] [--clients 1,16,64] [--dry]`
// `npm run bench -- marks-rival [--rounds 5] [--seconds 5] [--clients 1,16,64] [--quick] [--dry] [--before FOLDER]`
// `npm run bench -- readers [--quick] [--dry]`
// `npm run bench -- reads [--quick] [--dry] [--only "one station;304 of the dump"] [--before FOLDER]`
// `npm run bench -- cache [--quick] [--dry]`
// `npm run bench -- calls [--quick] [--dry] [--only "/overview;along"]`
// `npm run bench -- chances [--quick] [--dry]`
// `npm run bench -- pages [--quick] [--dry]`
// `npm run bench -- fuzz [--quick] [--dry]`
// `npm run bench -- idle [--minutes 10] [--dry] [--before FOLDER]`
// `npm run bench -- imports [--quick] [--dry]`
// `npm run bench -- matching [--dry]`
// `npm run bench -- memory [--seconds 300] [--dry] [--before FOLDER]`
// `npm run bench -- pulls [--quick] [--dry] [--before FOLDER]`
// `npm run bench -- size [--seconds 120] [--dry]`
// `npm run bench -- streams [--rounds 5] [--seconds 5] [--quick] [--dry]`
// `npm run bench -- trust [--frontier | --chance [--days 30]] [--seeds 1,2,3] [--quick] [--dry] [--only "city;one key"]`
// `npm run bench -- webhooks [--rounds 5] [--seconds 5] [--quick] [--dry]`
// `npm run bench -- worst [--quick] [--dry] [--only "GeoJSON;city"]`
// `npm run bench -- years [--marks 10,30] [--quick] [--dry]`
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: "string", default: "5" },
    seconds: { type: "string", default: "5" },
    clients: { type: "string", default: "1,16,64" },
    /** Trust: the seeds of its countries; medians over them are shown. */
    seeds: { type: "string", default: "1,2,3" },
    /** Trust: variants of the rules in place of attacks, a section of its own. */
    frontier: { type: "boolean", default: false },
    /** Trust: what a chance beside the status is worth, a section of its own. */
    chance: { type: "boolean", default: false },
    /** Trust: the chance over so many days in a small country, a section of its own. */
    days: { type: "string" },
    /** A smoke run, whose figures mean little. Not written to results.md. */
    quick: { type: "boolean", default: false },
    /** Reads, trust, worst, calls: names of the cases to measure, with semicolons; of the last three, parts of names. Not written to results.md. */
    only: { type: "string" },
    /** Years: two sizes, in millions. */
    marks: { type: "string", default: "10,30" },
    /** Idle: how long it measures, twice. */
    minutes: { type: "string", default: "10" },
    /** Reads, idle, memory, pulls, marks-rival: the built folder of another commit, measured beside this one. */
    before: { type: "string" },
    /** Prints the section and leaves results.md as it is. */
    dry: { type: "boolean", default: false },
    /** A folder for a CPU profile of each server process. */
    profile: { type: "string" },
    /** NAME=VALUE,…: the rival is Fuelmark itself with these settings. Not written to results.md. */
    against: { type: "string" },
  },
});
const options = {
  rounds: Number(values.rounds),
  seconds: Number(values.seconds),
  clients: values.clients.split(",").map(Number),
  ...(values.profile === undefined ? {} : { profileTo: values.profile }),
  ...(values.against === undefined
    ? {}
    : {
        against: Object.fromEntries(
          values.against.split(",").map((one) => one.split("=") as [string, string]),
        ),
      }),
};
const only = values.only?.split(";") ?? [];
const isWritten = !values.dry && !values.quick && values.against === undefined && only.length === 0;
const picture = new URL("../docs/images/calibration.svg", import.meta.url);
const benches: Record<string, () => Promise<string>> = {
  imports: () => benchImports(values),
  marks: () => benchMarks(options),
  "mark-costs": () => benchMarkCosts({ ...options, seconds: Number(values.seconds) }),
  "marks-rival": () => benchMarksRival({ ...options, quick: values.quick, before: values.before }),
  readers: () => benchReaders(values),
  reads: () =>
    benchReads({
      quick: values.quick,
      only,
      before: values.before,
      profileTo: values.profile,
    }),
  cache: () => benchCache({ quick: values.quick, profileTo: values.profile }),
  calls: () => benchCalls({ quick: values.quick, only, profileTo: values.profile }),
  chances: () => benchChances({ quick: values.quick }),
  fuzz: () => benchFuzz({ quick: values.quick }),
  idle: () => benchIdle({ minutes: Number(values.minutes), before: values.before }),
  matching: () => benchMatching(),
  memory: () => benchMemory({ ...options, before: values.before }),
  pages: () => benchPages({ quick: values.quick }),
  pulls: () => benchPulls({ quick: values.quick, before: values.before }),
  size: () => benchSize(options),
  streams: () => benchStreams({ ...options, quick: values.quick }),
  trust: async () => {
    const trust = { seeds: values.seeds.split(",").map(Number), quick: values.quick, only };
    if (values.days !== undefined) return benchChanceMonth(trust, Number(values.days));
    if (values.chance) return benchChance(isWritten ? { ...trust, picture } : trust);
    return values.frontier ? benchFrontier(trust) : benchTrust(trust);
  },
  webhooks: () => benchWebhooks({ ...options, quick: values.quick }),
  worst: () => benchWorst({ quick: values.quick, only, profileTo: values.profile }),
  years: () => benchYears({ quick: values.quick, marks: values.marks }),
};
const trustSection = (): string => {
  if (values.days !== undefined) return "chance, a month";
  if (values.chance) return "chance";
  return values.frontier ? "trust, the frontier" : "trust";
};
const chosen = positionals.length > 0 ? positionals : Object.keys(benches);
const unknown = chosen.find((name) => benches[name] === undefined);
if (unknown !== undefined) {
  console.error(`no benchmark "${unknown}": ${Object.keys(benches).join(", ")}`);
  process.exit(2);
}
// Trust and matching run the rules in this process.
if (chosen.some((name) => name !== "trust" && name !== "matching"))
  await startBuild("roles", console.log).done;
for (const name of chosen) {
  const text = await benches[name]!();
  console.log(`\n${text}`);
  if (isWritten) writeSection(name === "trust" ? trustSection() : name, text);
}
