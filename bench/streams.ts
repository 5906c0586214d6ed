import { cpus, loadavg } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { openFilledStage } from "#bench/filled-stage.ts";
import type { Measured } from "#bench/load/main.ts";
import type { ReadEvent, StreamJob, StreamsRead } from "#bench/load/streams.ts";
import {
  createCpuMeter,
  type CpuMeter,
  type Generator,
  type Load,
  rssMb,
  startGenerator,
  startServer,
} from "#bench/processes.ts";
import { median, verdict } from "#bench/results.ts";
import type { Stage } from "#bench/stage.ts";
import { readProcfile } from "#demo/roles.ts";
import { somePort } from "#demo/servers/port.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { type Db, rows } from "#src/infrastructure/db.ts";
import { msOf } from "#src/marks/marks.ts";

const marksPerSecond = 20;
const goalMs = 1000;
/** An event that has not come then never will. */
const patienceMs = 15_000;
const warmUpSeconds = 5;
const lookEveryMs = 500;

/** One web process: first without streams, then with all of them. */
interface Round {
  alone: { quiet: Quiet; busy: Stretch };
  /** ms until all streams were open. */
  openingMs: number;
  streaming: { quiet: Quiet; busy: Stretch };
  /** ms from a change to its event, ascending: one for each changed station and reader. */
  lags: Float64Array;
  missed: number;
  changes: number;
  events: number;
  /** Streams that were over too early. */
  lost: number;
}

/** The web process while nothing changes: its CPU, of one core, and its memory afterwards. */
interface Quiet {
  cpuShare: number;
  mb: number;
}

/** The same while marks arrive; the most memory that was seen. */
interface Stretch extends Quiet {
  marks: Measured;
}

/**
 * Streams of changes, as many as a web process holds by default, while marks arrive through it: memory, CPU, and the
 * time from a change to its event. Answers the section of results.md.
 */
export async function benchStreams({
  quick,
  rounds,
  seconds,
}: {
  quick: boolean;
  rounds: number;
  seconds: number;
}): Promise<string> {
  const streamsOf = ({ streamsMax }: Config): number => (quick ? 100 : streamsMax);
  const stage = await openFilledStage(
    {},
    { partners: (config) => Math.ceil(streamsOf(config) / config.streamsPerKey) },
  );
  try {
    const { country, db, load } = stage;
    const { streamsPerKey: perKey } = stage.config;
    const count = streamsOf(stage.config);
    const marks = await startServer(readProcfile().get("marks")!, stage.settings);
    stage.onClose(() => marks.stop());
    const readers = startGenerator<StreamJob, StreamsRead>("streams");
    stage.onClose(() => readers.stop());
    const cpu = await createCpuMeter(stage.settings.DATABASE_URL, stage.settings.REDIS_URL);
    const loadBefore = loadavg();
    const done: Round[] = [];
    const tools = { stage, db, load, readers, cpu, keys: country.keys };
    for (let round = 0; round < rounds; round++) {
      done.push(await measure(tools, { count, perKey, seconds }));
      console.log(lineOf(done.at(-1)!));
    }
    return report(done, { count, perKey, rounds, seconds, loadBefore, quick });
  } finally {
    await stage.close();
  }
}

interface Tools {
  stage: Stage;
  db: Db;
  load: Load;
  readers: Generator<StreamJob, StreamsRead>;
  cpu: CpuMeter;
  keys: readonly string[];
}

async function measure(
  { stage, db, load, readers, cpu, keys }: Tools,
  { count, perKey, seconds }: { count: number; perKey: number; seconds: number },
): Promise<Round> {
  const port = await somePort();
  // A new one each time: memory that streams have taken once is not given back at once.
  const web = await startServer(readProcfile().get("web")!, {
    ...stage.settings,
    PORT: String(port),
  });
  try {
    const used = async <T>(work: () => Promise<T>): Promise<{ value: T } & Quiet> => {
      const before = cpu.of([web.pid]) ?? NaN;
      const startedAt = performance.now();
      let mb = 0;
      const look = (): void => void (mb = Math.max(mb, rssMb(web.pid)));
      const looking = setInterval(look, lookEveryMs);
      const value = await work().finally(() => clearInterval(looking));
      const share = ((cpu.of([web.pid]) ?? NaN) - before) / (performance.now() - startedAt);
      return { value, cpuShare: share, mb };
    };
    const send = (forSeconds: number): Promise<Measured> =>
      load.run({
        ...{ side: "Fuelmark", port, pace: { perSecond: marksPerSecond }, seconds: forSeconds },
      });
    const busy = async (): Promise<Stretch> => {
      const { value: marks, ...rest } = await used(() => send(seconds));
      return { marks, ...rest };
    };
    /** As long as a heartbeat comes once. */
    const quiet = async (): Promise<Quiet> => {
      const { cpuShare } = await used(() => sleep(stage.config.streamHeartbeatMs));
      return { cpuShare, mb: rssMb(web.pid) };
    };
    await send(warmUpSeconds);
    const alone = { busy: await busy(), quiet: await quiet() };

    const openedAt = performance.now();
    await readers.run({ do: "open", port, keys, perKey, count });
    const openingMs = performance.now() - openedAt;
    const still = await quiet();

    const seqBefore = await newestSeq(db);
    const streaming = { quiet: still, busy: await busy() };
    const changes = await changesAfter(db, seqBefore);
    const stations = [...changes.keys()];
    const { open, events } = await readers.run({ do: "collect", stations, patienceMs });
    await readers.run({ do: "close" });
    const { lags, missed } = lagsOf(changes, events, count);
    return {
      ...{ alone, openingMs, streaming, lags, missed },
      ...{ changes: changes.size, events: events.length, lost: count - open },
    };
  } finally {
    await web.stop();
  }
}

async function newestSeq(db: Db): Promise<number> {
  const [newest] = await rows<{ seq: number | null }>(db, "select max(seq) as seq from changes");
  return newest?.seq ?? 0;
}

/** When each station has changed since then, ms: the time in the feed, which is taken as the last thing before the commit. */
async function changesAfter(db: Db, seq: number): Promise<Map<string, number>> {
  const found = await rows<{ id: string; at: number }>(
    db,
    `select station_id as id, ${msOf("at")} as at from changes where seq > ?`,
    [seq],
  );
  return new Map(found.map(({ id, at }) => [id, at]));
}

/** How long each reader has waited for each change, and how many events never came. */
function lagsOf(
  changes: ReadonlyMap<string, number>,
  events: readonly ReadEvent[],
  readers: number,
): { lags: Float64Array; missed: number } {
  const lags: number[] = [];
  let missed = 0;
  for (const [id, changedAt] of changes) {
    const event = events.find(({ stations, at }) => stations.includes(id) && at[0]! >= changedAt);
    for (const at of event?.at ?? []) lags.push(at - changedAt);
    missed += readers - (event?.at.length ?? 0);
  }
  return { lags: Float64Array.from(lags).sort(), missed };
}

const quantile = (ascending: Float64Array, part: number): number =>
  ascending[Math.min(ascending.length - 1, Math.floor(ascending.length * part))] ?? Infinity;

const ms = (value: number): string => `${value.toFixed(value < 100 ? 1 : 0)} ms`;
const mb = (value: number): string => `${value.toFixed(0)} MB`;
const percent = (share: number): string =>
  Number.isNaN(share) ? "?" : `${(100 * share).toFixed(1)} %`;

function lineOf({ lags, alone, streaming, missed, lost }: Round): string {
  const lag = [0.5, 0.99, 1].map((part) => ms(quantile(lags, part))).join(", ");
  const memory = [alone.quiet, alone.busy, streaming.quiet, streaming.busy];
  const figures = memory.map((one) => `${mb(one.mb)} ${percent(one.cpuShare)}`).join(", ");
  return `p50, p99, longest ${lag}; ${missed} missed, ${lost} cut; quiet and busy, without and with: ${figures}`;
}

function report(
  done: readonly Round[],
  run: {
    count: number;
    perKey: number;
    rounds: number;
    seconds: number;
    loadBefore: readonly number[];
    quick: boolean;
  },
): string {
  const { count, perKey, rounds, seconds, loadBefore } = run;
  const of = (figure: (round: Round) => number): number => median(done.map(figure));
  const sum = (figure: (round: Round) => number): number =>
    done.reduce((total, round) => total + figure(round), 0);
  const p99 = of(({ lags }) => quantile(lags, 0.99));
  const [missed, lost] = [sum((round) => round.missed), sum((round) => round.lost)];
  const longest = Math.max(...done.map(({ lags }) => quantile(lags, 1)));
  const cells = (cell: (which: "alone" | "streaming") => string): string =>
    `${cell("alone")} | ${cell("streaming")}`;
  const perStreamKb =
    (of(({ alone, streaming }) => streaming.quiet.mb - alone.quiet.mb) * 1024) / count;
  const statuses = new Map<string, number>();
  for (const { alone, streaming } of done)
    for (const { busy } of [alone, streaming])
      for (const [status, n] of Object.entries(busy.marks.statuses))
        statuses.set(status, (statuses.get(status) ?? 0) + n);
  const streams = count.toLocaleString("en");
  const at = new Date().toISOString().slice(0, 16).replace("T", " ");
  return `${streams} readers of \`GET /stations/stream\`, ${perKey} with each of ${Math.ceil(count / perKey)} keys (the limits as they are by default), on one \`web\` process, and ${marksPerSecond} marks a second through this process and one \`marks\` process. First without streams, then with them, each time in a new process. 30,000 stations. The time to the readers is counted from the time of the change in the change feed, which is taken as the last thing before its transaction commits, until a reader has the whole event; changes wait up to 200 ms for each other (\`STREAM_EVERY_MS\`).

| measured | without streams | ${streams} streams | goal |
|---|---|---|---|
| change to its event at a reader |  | p50 ${ms(of(({ lags }) => quantile(lags, 0.5)))}, p99 ${ms(p99)}, longest ${ms(longest)} | p99 ≤ 1 s: ${verdict(missed + lost === 0 && p99 <= goalMs)} |
| memory (RSS) of the web process while nothing changes | ${cells((which) => mb(of((round) => round[which].quiet.mb)))}: ${perStreamKb.toFixed(1)} KB a stream |  |
| memory, ${marksPerSecond} marks/s, at most | ${cells((which) => mb(Math.max(...done.map((round) => round[which].busy.mb))))} |  |
| CPU of the web process while nothing changes, of one core | ${cells((which) => percent(of((round) => round[which].quiet.cpuShare)))} |  |
| CPU, ${marksPerSecond} marks/s | ${cells((which) => percent(of((round) => round[which].busy.cpuShare)))} |  |
| answer to a mark | ${cells((which) => `p50 ${ms(of((round) => round[which].busy.marks.p50))}, p99 ${ms(of((round) => round[which].busy.marks.p99))}`)} |  |
| all streams opened, 50 at a time |  | ${ms(of(({ openingMs }) => openingMs))} |  |

${sum(({ changes }) => changes)} changes in ${sum(({ events }) => events)} events to each reader; ${sum(({ lags }) => lags.length).toLocaleString("en")} arrivals watched, ${missed === 0 ? "none missing" : `${missed} MISSING`}, ${lost === 0 ? "no stream cut" : `${lost} STREAMS CUT`}. Marks: answers ${[...statuses].map(([status, n]) => `${status} × ${n}`).join(", ")}.

${at} UTC, \`npm run bench -- streams${run.quick ? " --quick" : ""} --rounds ${rounds} --seconds ${seconds}\`, ${cpus().length} cores (${cpus()[0]?.model.trim() ?? "?"}), Node ${process.versions.node}; load average ${loadBefore.map((one) => one.toFixed(1)).join(" ")} before. Medians of ${rounds} rounds of ${seconds} s; "longest" and "at most" are of all rounds. Readers, load generator, Postgres and Redis share the cores.`;
}
