import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { createRandom } from "#demo/country/random.ts";
import { startBuild } from "#demo/building.ts";
import { formatTime } from "#src/domain/time.ts";
import { createHistory, type Violation } from "#test/fault/history.ts";
import { releaseHeld } from "#test/harness/leaks.ts";
import { checkAll } from "#test/soak/checkpoint.ts";
import { beginFault, type Fault } from "#test/soak/faults.ts";
import { startMirrors } from "#test/soak/mirrors.ts";
import { canCompare, heldBy, lookAtOthers, type Served, tellServed } from "#test/soak/others.ts";
import { isWell, openSoakStage } from "#test/soak/stage.ts";
import { countAnswers, startTraffic } from "#test/soak/traffic.ts";

// `npm run soak -- [--minutes 10] [--seed S] [--calm-every 120] [--marks 20] [--reads 50] [--set NAME=VALUE,…]`
const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "10" },
    /** Draws faults and requests: the same seed brings the same faults in the same order. */
    seed: { type: "string" },
    /** Seconds of faults between two checkpoints. */
    "calm-every": { type: "string", default: "120" },
    /** Requests a second; fewer on a machine that has other work. */
    marks: { type: "string", default: "20" },
    reads: { type: "string", default: "50" },
    /** NAME=VALUE,…: settings of all roles, for example longer time-outs on a machine that has other work. */
    set: { type: "string", default: "" },
  },
});
const minutes = Number(values.minutes);
const everyMs = Number(values["calm-every"]) * 1000;
const settings = Object.fromEntries(
  values.set
    .split(",")
    .filter(Boolean)
    .map((one) => one.split("=") as [string, string]),
);
const perSecond = { marks: Number(values.marks), reads: Number(values.reads) };
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
const sizes = [minutes, everyMs, perSecond.marks, perSecond.reads];
if (!sizes.every((value) => value > 0) || !Number.isInteger(seed)) {
  console.error("--seed must be a whole number, everything else a number above 0");
  process.exit(2);
}

// Each process that runs is ended with this one.
process.setMaxListeners(50);
const stopping = new AbortController();
const { signal } = stopping;
for (const name of ["SIGINT", "SIGTERM"] as const) process.on(name, () => stopping.abort());

const startedAt = Date.now();
const timeline: string[] = [];
/** A line that a person can read, and that evidence is compared with. */
const say = (text: string): void => {
  const line = `${new Date().toISOString().slice(11, 23)} ${text}`;
  timeline.push(line);
  console.log(line);
};
const pause = (ms: number): Promise<void> =>
  sleep(ms, undefined, { signal }).catch(() => undefined);

/** What others are answered before a fault is taken from this time. */
const calmMs = 4000;
const counts = { passed: 0, failed: 0 };
const kinds = new Map<string, number>();
console.log(`Faults are drawn from seed ${seed} (--seed).`);
try {
  await startBuild("roles", console.log).done;
  const stopped = new Promise((done) => signal.addEventListener("abort", done, { once: true }));
  await Promise.race([run(), stopped]);
} catch (error) {
  counts.failed += 1;
  console.error(error);
} finally {
  await releaseHeld();
}
console.log(`${counts.passed} checkpoints passed, ${counts.failed} failed (seed ${seed})`);
process.exit(counts.failed === 0 && counts.passed > 0 ? 0 : 1);

async function run(): Promise<void> {
  const since = formatTime(startedAt - 1000);
  const stage = await openSoakStage(resolve(".data", `soak-${process.pid}`), settings);
  const history = createHistory();
  const mirrors = startMirrors(stage, createRandom(seed + 2));
  const traffic = await startTraffic(stage, history, createRandom(seed + 1), perSecond);
  for (const what of stage.missing) say(`left out: ${what}`);
  say(`all roles run: ${stage.members.map(({ name }) => name).join(", ")}`);
  const random = createRandom(seed);
  let told = 0;
  const felt: Violation[] = [];
  const compared = new Map<string, number>();
  for (const end = startedAt + minutes * 60_000; Date.now() < end && !signal.aborted;) {
    await makeTrouble(Math.min(Date.now() + everyMs, end));
    if (signal.aborted) break;
    say("calm: everything is mended, and looked at");
    const found = await checkAll(stage, traffic, mirrors, since);
    const all = [...felt.splice(0), ...found, ...history.violations.slice(told)];
    told = history.violations.length;
    counts[all.length === 0 ? "passed" : "failed"] += 1;
    report(all);
    const held = await Promise.all(stage.webs.map((web) => heldBy(web).catch(() => null)));
    say(`web processes hold ${held.map((one) => JSON.stringify(one)).join(" ")}`);
    // An hour of lines would fill the memory.
    for (const member of stage.members) member.process().lines.splice(0);
    traffic.resume();
  }
  await traffic.stop();
  await mirrors.stop();
  const marks = countAnswers(traffic.sent);
  say(`marks by answer: ${JSON.stringify(marks)}`);
  say(`reads by status: ${JSON.stringify(Object.fromEntries(history.reads))}`);
  say(`operator: ${JSON.stringify(Object.fromEntries(traffic.acts))}`);
  say(`faults: ${JSON.stringify(Object.fromEntries(kinds))}`);
  say(`felt by nobody: ${JSON.stringify(Object.fromEntries(compared))}`);

  /** Faults of 3 to 40 s, one or two at once, with pauses in health. */
  async function makeTrouble(until: number): Promise<void> {
    await pause(3000);
    while (Date.now() < until && !signal.aborted) {
      const open: { fault: Fault; startedAt: number; endsAt: number }[] = [];
      const atOnce = random.chance(0.35) ? 2 : 1;
      const before = (await isWell(stage)) ? traffic.since(Date.now() - calmMs) : null;
      for (let count = atOnce; count > 0; count -= 1) {
        const lastsMs = random.int(3000, 40_000);
        const fault = await beginFault(stage, random).catch(() => null);
        if (fault === null) continue;
        kinds.set(fault.kind, (kinds.get(fault.kind) ?? 0) + 1);
        say(`${fault.what} (${(lastsMs / 1000).toFixed(0)} s)`);
        open.push({ fault, startedAt: Date.now(), endsAt: Date.now() + lastsMs });
        await pause(random.int(0, 3000));
      }
      for (const { fault, startedAt, endsAt } of open.sort((a, b) => a.endsAt - b.endsAt)) {
        await pause(Math.max(0, Math.min(endsAt, until) - Date.now()));
        const mayRefuse = open.some((one) => one.fault.mayRefuse);
        if (before !== null && open.every((one) => one.fault.sparesOthers))
          await compare(fault, before, traffic.since(startedAt), mayRefuse);
        // Two at once may stand in each other's way; the checkpoint mends everything.
        await Promise.resolve(fault.end()).catch(() => undefined);
        say(`mended: ${fault.what}`);
      }
      await pause(random.int(2000, 12_000));
    }
  }

  /** What others had of a fault, where all was well before and nothing else was wrong. */
  async function compare(
    fault: Fault,
    before: Served,
    during: Served,
    mayRefuse: boolean,
  ): Promise<void> {
    const isLong = canCompare(before, during);
    const found = [
      ...(isLong ? lookAtOthers(before, during, mayRefuse) : []),
      ...((await fault.look?.()) ?? []),
    ];
    felt.push(
      ...found.map(({ invariant, evidence }) => ({ invariant, evidence: [fault.what, evidence] })),
    );
    const [was, is] = [before, during].map(tellServed);
    say(`others: ${was} before, ${is} during ${fault.what} ${fault.tell?.() ?? ""}`);
    if (isLong && found.length === 0) compared.set(fault.kind, (compared.get(fault.kind) ?? 0) + 1);
  }
}

function report(found: readonly Violation[]): void {
  if (found.length === 0) return say("checkpoint passed");
  say(`CHECKPOINT FAILED: ${found.length} violations`);
  for (const { invariant, evidence } of found.slice(0, 10))
    console.log(`  ${invariant}\n${JSON.stringify(evidence, null, 1).slice(0, 2000)}`);
  console.log(`  what happened before:\n${timeline.slice(-40).join("\n")}`);
}
