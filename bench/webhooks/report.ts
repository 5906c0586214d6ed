import { cpus } from "node:os";
import type { Measured } from "#bench/load/main.ts";
import { median, verdict } from "#bench/results.ts";
import type { Waiting } from "#bench/webhooks/backlog.ts";
import { slowMs } from "#bench/webhooks/receivers.ts";

export const states = ["without", "waiting", "delivered"] as const;
export type State = (typeof states)[number];

interface Round extends Measured {
  /** CPU of web and marks, of Postgres and Redis, and of the role that sends; ms. */
  nodeMs: number;
  serversMs: number;
  senderMs: number;
  /** Requests that receivers got. */
  posts: number;
}

export interface Turn {
  fast: Round;
  steady: Round;
  /** Endpoints that something waited for when it began. */
  waiting: Waiting | null;
}

export interface Drain {
  marks: number;
  before: Waiting;
  left: Waiting;
  /** When nothing waited for any endpoint of this kind; null: not in time. */
  doneAfterMs: Record<"at once" | "slow", number | null>;
  posts: number;
  senderMs: number;
}

interface Run {
  endpoints: number;
  perPartner: number;
  clients: number;
  steadyPerSecond: number;
  rounds: number;
  seconds: number;
  loadBefore: readonly number[];
  quick: boolean;
  /** Median delay of the healthy webhooks, ms, beside others that are healthy, or bad. */
  delays: Record<"healthy" | "bad", number>;
}

/** Bad webhooks make the delay of the healthy ones at most so many times as long. */
const delayGoal = 2;
/** Marks beside a backlog are at most so much slower. */
const goal = 0.95;

const rate = ({ requests, seconds }: Round): number => requests / seconds;
const total = (waiting: Waiting): number =>
  Object.values(waiting).reduce((sum, count) => sum + count, 0);

/** CPU time cannot be seen everywhere. */
const fixed = (value: number, digits: number): string =>
  Number.isNaN(value) ? "?" : value.toFixed(digits);

/** The section of results.md. */
export function report(turns: Record<State, Turn[]>, drain: Drain, run: Run): string {
  const { endpoints, perPartner, clients, steadyPerSecond, rounds, seconds } = run;
  const count = endpoints.toLocaleString("en");
  const titles: Record<State, string> = {
    without: "without webhooks",
    waiting: `${count} webhooks, everything waits`,
    delivered: `${count} webhooks, being sent`,
  };
  const line = (which: "fast" | "steady", state: State): string => {
    const of = (figure: (round: Round) => number): number =>
      median(turns[state].map((turn) => figure(turn[which])));
    const ratios = (figure: (round: Round) => number): number =>
      median(turns[state].map((turn, n) => figure(turn[which]) / figure(turns.without[n]![which])));
    const speed = which === "fast" ? ratios(rate) : 1 / ratios(({ p50 }) => p50);
    const cells = [
      state === "without"
        ? which === "fast"
          ? `${clients} clients`
          : `${steadyPerSecond} marks/s`
        : "",
      titles[state],
      of(rate).toFixed(0),
      of(({ p50 }) => p50).toFixed(1),
      of(({ p99 }) => p99).toFixed(1),
      `${fixed(
        of(({ nodeMs, requests }) => nodeMs / requests),
        2,
      )} + ${fixed(
        of(({ serversMs, requests }) => serversMs / requests),
        2,
      )}`,
      state === "delivered"
        ? `${of(({ posts, seconds: took }) => posts / took).toFixed(0)} a second, ${fixed(
            of(({ senderMs, seconds: took }) => senderMs / took / 10),
            0,
          )} % of a core`
        : "",
      state === "without" ? "" : speed.toFixed(2),
      state === "without" ? "" : `≥ ${goal}: ${verdict(speed >= goal)}`,
    ];
    return `| ${cells.join(" | ")} |`;
  };
  const lines = (["fast", "steady"] as const).flatMap((which) =>
    states.map((state) => line(which, state)),
  );
  const statuses = new Map<string, number>();
  for (const turn of Object.values(turns).flat())
    for (const round of [turn.fast, turn.steady])
      for (const [status, n] of Object.entries(round.statuses))
        statuses.set(status, (statuses.get(status) ?? 0) + n);
  const waited = [...turns.waiting, ...turns.delivered].map(({ waiting }) => total(waiting!));
  const at = new Date().toISOString().slice(0, 16).replace("T", " ");
  return `Marks while something waits for each of ${count} webhooks, ${perPartner} of each of ${Math.ceil(endpoints / perPartner)} partners, all with \`stations.changed\` and \`report.processed\`. All partners send marks, so each mark is told to ${perPartner} webhooks as an outcome and to all of them as a change. Of 20 receivers one answers after ${slowMs / 1000} s and one with 500. Two equal countries of 30,000 stations on the same servers, each with a \`web\`, \`marks\`, \`upkeep\` and \`clock\` process: one without webhooks; one with them, where the \`webhooks\` process rests ("everything waits") or runs ("being sent"), in turns. Before each turn ${fewest(waited)} of the webhooks waited for something. The ratio is that of the requests/s, at a steady rate that of the p50.

| marks | side | req/s | p50 ms | p99 ms | CPU ms a mark (\`web\` and \`marks\` + Postgres and Redis) | sent to webhooks | ratio | goal |
|---|---|---|---|---|---|---|---|---|
${lines.join("\n")}

${drainText(drain)}

${delayText(run.delays)}

${at} UTC, \`npm run bench -- webhooks${run.quick ? " --quick" : ""} --rounds ${rounds} --seconds ${seconds}\`, ${cpus().length} cores (${cpus()[0]?.model.trim() ?? "?"}), Node ${process.versions.node}; load average ${run.loadBefore.map((one) => one.toFixed(1)).join(" ")} before. Medians of ${rounds} rounds in turns; the ratio is the median of each round's. Load generator, receivers, the \`webhooks\` process, Postgres and Redis share the cores: what is sent takes its CPU from the marks. Answers: ${[...statuses].map(([status, n]) => `${status} × ${n}`).join(", ")}.`;
}

function delayText({ healthy, bad }: Run["delays"]): string {
  const inS = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
  const ratio = bad / healthy;
  return `Healthy webhooks beside bad ones, while marks arrive: of ten one hangs, one answers 500, one 410.

| from the outcome of a mark to its delivery | median of the healthy ones | ratio | goal |
|---|---|---|---|
| all healthy | ${inS(healthy)} |  |  |
| 30 % bad | ${inS(bad)} | ${ratio.toFixed(2)} | ≤ ${delayGoal}: ${verdict(ratio <= delayGoal)} |`;
}

const fewest = (counts: readonly number[]): string =>
  `at least ${Math.min(...counts).toLocaleString("en")}`;

function drainText({ marks, before, left, doneAfterMs, posts, senderMs }: Drain): string {
  const after = (ms: number | null): string =>
    ms === null ? "**not in time**" : `after ${(ms / 1000).toFixed(1)} s`;
  const slowest = Math.max(...Object.values(doneAfterMs).map((ms) => ms ?? 0));
  const speed = slowest === 0 ? "" : ` (${((posts / slowest) * 1000).toFixed(0)} a second)`;
  return `A backlog: ${marks} marks while nothing was sent, so that ${total(before).toLocaleString("en")} webhooks waited for up to ${marks} changed stations each and for outcomes. One \`webhooks\` process, no further marks: those that answer at once had everything ${after(doneAfterMs["at once"])}, the slow ones ${after(doneAfterMs.slow)}, with ${posts.toLocaleString("en")} requests${speed} and ${fixed(senderMs / posts, 1)} ms of CPU for each. The ${left.failing.toLocaleString("en")} that fail still wait, as they should.`;
}
