import { loadavg } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import type { Country } from "#bench/country.ts";
import { openFilledStage } from "#bench/filled-stage.ts";
import type { Job, Measured } from "#bench/load/main.ts";
import {
  createCpuMeter,
  type CpuMeter,
  type Load,
  type Server,
  startServer,
} from "#bench/processes.ts";
import type { Stage } from "#bench/stage.ts";
import { delayOf, forgetBacklog, waitingOf } from "#bench/webhooks/backlog.ts";
import { isBad, type Receivers, startReceivers } from "#bench/webhooks/receivers.ts";
import { type Drain, report, type State, states, type Turn } from "#bench/webhooks/report.ts";
import { readProcfile } from "#demo/roles.ts";
import { somePort } from "#demo/servers/port.ts";
import type { Db } from "#src/infrastructure/db.ts";

const clients = 16;
const steadyPerSecond = 30;
/** Before each turn, with nothing sent to webhooks: everybody waits for something again. */
const fillSeconds = 2;
/** The backlog whose delivery is timed. */
const drainMarks = { perSecond: 100, seconds: 5 };
const drainPatienceMs = 15 * 60_000;
const lookEveryMs = 250;
/** Marks while healthy webhooks are timed: longer than what hangs takes to be known. */
const delayMarks = { perSecond: 20, seconds: 120 };
const registeredAtOnce = 8;

/** A country of its own, with the processes that take its marks. */
interface Side {
  name: string;
  port: number;
  pids: number[];
}

/**
 * Marks beside a backlog of many webhooks, of which some are slow and some fail: without webhooks, while everything
 * waits, and while it is delivered, in turns; then how long a backlog takes. Answers the section of results.md.
 */
export async function benchWebhooks({
  quick,
  rounds,
  seconds,
}: {
  quick: boolean;
  rounds: number;
  seconds: number;
}): Promise<string> {
  const endpoints = quick ? 50 : 1000;
  const stage = await openFilledStage(
    { WEBHOOK_HTTP: "true", WEBHOOK_NETWORKS: "127.0.0.1" },
    { partners: ({ webhookEndpoints }) => Math.ceil(endpoints / webhookEndpoints) },
  );
  try {
    const { country, db, load } = stage;
    const perPartner = stage.config.webhookEndpoints;
    const plain = await startSide(stage, "without webhooks", await copyDatabase(stage, db));
    const hooked = await startSide(stage, "with webhooks", {});
    const receivers = await startReceivers();
    stage.onClose(() => receivers.close());
    console.log(`Registering ${endpoints} webhooks`);
    await register(hooked.port, country, { receivers, endpoints, perPartner });

    const cpu = await createCpuMeter(stage.settings.DATABASE_URL, stage.settings.REDIS_URL);
    const tools: Tools = { stage, db, load, cpu, receivers };
    const loadBefore = loadavg();
    for (const side of [plain, hooked])
      await load.run({ side: side.name, port: side.port, pace: { clients }, seconds: 3 });
    const turns: Record<State, Turn[]> = { without: [], waiting: [], delivered: [] };
    for (let round = 0; round < rounds; round++)
      for (let n = 0; n < states.length; n++) {
        // Another begins each round, so that none always comes after the same.
        const state = states[(round + n) % states.length]!;
        const turn = await takeTurn(tools, state === "without" ? plain : hooked, state, seconds);
        turns[state].push(turn);
        console.log(lineOf(state, turn));
      }
    console.log("Delivering a backlog");
    const drain = await deliverBacklog(tools, hooked);
    const delays = { healthy: NaN, bad: NaN };
    for (const others of ["healthy", "bad"] as const) {
      console.log(`Timing healthy webhooks, the others ${others}`);
      delays[others] = await timeHealthy(tools, hooked, endpoints, others, quick);
    }
    return report(turns, drain, {
      delays,
      ...{ endpoints, perPartner, clients, steadyPerSecond, rounds, seconds, loadBefore, quick },
    });
  } finally {
    await stage.close();
  }
}

interface Tools {
  stage: Stage;
  /** Of the side with webhooks. */
  db: Db;
  load: Load;
  cpu: CpuMeter;
  receivers: Receivers;
}

/** Settings for a second country, the same as the first one is now. */
async function copyDatabase(stage: Stage, db: Db): Promise<Record<string, string>> {
  const url = new URL(stage.settings.DATABASE_URL);
  const name = url.pathname.slice(1);
  const copy = `${name}_without`;
  await db.raw(`create database ${copy} template ${name}`);
  stage.onClose(() => db.raw(`drop database if exists ${copy} with (force)`).then(() => {}));
  url.pathname = `/${copy}`;
  return { DATABASE_URL: url.href, REDIS_PREFIX: `${stage.settings["REDIS_PREFIX"]}-without` };
}

async function startSide(
  stage: Stage,
  name: string,
  settings: Record<string, string>,
): Promise<Side> {
  const port = await somePort();
  const pids = new Map<string, number>();
  for (const role of ["web", "marks", "upkeep", "clock"]) {
    const env = { ...stage.settings, ...settings, PORT: String(port) };
    const server = await startServer(readProcfile().get(role)!, env);
    stage.onClose(() => server.stop());
    pids.set(role, server.pid);
  }
  return { name, port, pids: [pids.get("web")!, pids.get("marks")!] };
}

/** As partners do it; each with all events that marks cause. */
async function register(
  port: number,
  { keys }: Country,
  {
    receivers,
    endpoints,
    perPartner,
  }: { receivers: Receivers; endpoints: number; perPartner: number },
): Promise<void> {
  let next = 0;
  const registrar = async (): Promise<void> => {
    while (next < endpoints) {
      const endpoint = next++;
      const answer = await fetch(`http://127.0.0.1:${port}/api/v1/partner/webhooks`, {
        method: "POST",
        headers: {
          Authorization: `Bearer ${keys[Math.floor(endpoint / perPartner)]}`,
          "Content-Type": "application/json",
        },
        body: JSON.stringify({
          url: receivers.urlOf(endpoint),
          events: ["stations.changed", "report.processed"],
        }),
      });
      if (answer.status !== 201)
        throw new Error(`a webhook was answered ${answer.status}: ${await answer.text()}`);
      await answer.arrayBuffer();
    }
  };
  await Promise.all(Array.from({ length: registeredAtOnce }, registrar));
}

const startSender = ({ stage }: Tools): Promise<Server> =>
  startServer(readProcfile().get("webhooks")!, stage.settings);

/** Marks as fast as they are taken and then at a steady rate, in one of the three states. */
async function takeTurn(tools: Tools, side: Side, state: State, seconds: number): Promise<Turn> {
  const { load, db, cpu, receivers } = tools;
  const send = (pace: Job["pace"], forSeconds: number): Promise<Measured> =>
    load.run({ side: side.name, port: side.port, pace, seconds: forSeconds });
  await send({ clients }, fillSeconds);
  const waiting = state === "without" ? null : await waitingOf(db);
  const sender = state === "delivered" ? await startSender(tools) : null;
  try {
    const measure = async (pace: Job["pace"]): Promise<Turn["fast"]> => {
      const used = (): (number | null)[] => [
        cpu.of(side.pids),
        cpu.postgres(),
        cpu.redis(),
        sender === null ? 0 : cpu.of([sender.pid]),
      ];
      const [before, postsBefore] = [used(), receivers.posts()];
      const measured = await send(pace, seconds);
      const ms = used().map((after, i) =>
        after === null || before[i] == null ? NaN : after - before[i],
      );
      return {
        ...measured,
        nodeMs: ms[0]!,
        serversMs: ms[1]! + ms[2]!,
        senderMs: ms[3]!,
        posts: receivers.posts() - postsBefore,
      };
    };
    const fast = await measure({ clients });
    const steady = await measure({ perSecond: steadyPerSecond });
    return { fast, steady, waiting };
  } finally {
    await sender?.stop();
  }
}

/** How long the sender takes for what some marks have left at every webhook, when no further ones come. */
async function deliverBacklog(tools: Tools, { name, port }: Side): Promise<Drain> {
  const { load, db, cpu, receivers } = tools;
  await forgetBacklog(db);
  const { perSecond, seconds } = drainMarks;
  await load.run({ side: name, port, pace: { perSecond }, seconds });
  const before = await waitingOf(db);
  const postsBefore = receivers.posts();
  const sender = await startSender(tools);
  try {
    const startedAt = performance.now();
    const doneAfterMs: Drain["doneAfterMs"] = { "at once": null, slow: null };
    for (;;) {
      const [waiting, nowMs] = [await waitingOf(db), performance.now() - startedAt];
      for (const kind of ["at once", "slow"] as const)
        if (waiting[kind] === 0) doneAfterMs[kind] ??= nowMs;
      const isOver = Object.values(doneAfterMs).every((ms) => ms !== null);
      if (isOver || nowMs > drainPatienceMs)
        return {
          marks: perSecond * seconds,
          ...{ before, left: waiting, doneAfterMs },
          posts: receivers.posts() - postsBefore,
          senderMs: cpu.of([sender.pid]) ?? NaN,
        };
      await sleep(lookEveryMs);
    }
  } finally {
    await sender.stop();
  }
}

/** The median delay of the healthy webhooks, ms, beside others that are healthy or bad, while marks arrive. */
async function timeHealthy(
  tools: Tools,
  { name, port }: Side,
  endpoints: number,
  others: "healthy" | "bad",
  quick: boolean,
): Promise<number> {
  const { load, db, receivers } = tools;
  await forgetBacklog(db);
  receivers.only(others);
  const sender = await startSender(tools);
  try {
    const { perSecond, seconds } = delayMarks;
    await load.run({ side: name, port, pace: { perSecond }, seconds: quick ? 30 : seconds });
    const all = Array.from({ length: endpoints }, (_, endpoint) => endpoint);
    return await delayOf(
      db,
      all.filter((endpoint) => !isBad(endpoint)),
    );
  } finally {
    await sender.stop();
  }
}

const lineOf = (state: State, { fast, steady, waiting }: Turn): string =>
  [
    state,
    `${Math.round(fast.requests / fast.seconds)} req/s, p50 ${fast.p50.toFixed(1)}, p99 ${fast.p99.toFixed(1)} ms, ${fast.posts} posts`,
    `steady: p50 ${steady.p50.toFixed(1)}, p99 ${steady.p99.toFixed(1)} ms, ${steady.posts} posts`,
    JSON.stringify(waiting),
    JSON.stringify(fast.statuses),
    fast.odd ?? steady.odd ?? "",
  ].join("; ");
