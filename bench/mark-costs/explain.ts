import { median } from "#bench/results.ts";
import type { FilledStage } from "#bench/filled-stage.ts";
import { createIntake } from "#api/marks/intake.ts";
import type { IncomingMark } from "#src/domain/admit.ts";
import { createClock } from "#src/infrastructure/clock.ts";
import { createDb, type Db } from "#src/infrastructure/db.ts";
import { createLog } from "#src/infrastructure/log.ts";
import { partnerReporter } from "#src/marks/marks.ts";
import { createReviewCities } from "#workers/marks/hold-harmful.ts";
import { processStations } from "#workers/marks/process.ts";

/** A part of a statement: a read of its own, a write of its own, a trigger. */
export interface Part {
  statement: string;
  name: string;
  us: number;
  pages: number;
  runs: number;
}

interface Plan {
  "Node Type": string;
  "Subplan Name"?: string;
  "Relation Name"?: string;
  "Function Name"?: string;
  Operation?: string;
  "Actual Total Time": number;
  "Actual Loops": number;
  "Shared Hit Blocks": number;
  "Shared Read Blocks": number;
  Plans?: Plan[];
}
interface Explained {
  Plan: Plan;
  "Planning Time": number;
  "Execution Time": number;
  Triggers: {
    "Trigger Name": string;
    "Constraint Name"?: string;
    Relation?: string;
    Time: number;
  }[];
}

const marks = 100;

/** Takes marks in and processes them one by one in this process, and explains each statement before it runs. */
export async function explainMarks(stage: FilledStage): Promise<Part[]> {
  const { config, country } = stage;
  const found = new Map<
    string,
    { statement: string; name: string; us: number[]; pages: number[] }
  >();
  const add = (statement: string, name: string, us: number, pages: number): void => {
    const key = `${statement} ${name}`;
    const one = found.get(key) ?? { statement, name, us: [], pages: [] };
    found.set(key, one);
    one.us.push(us);
    one.pages.push(pages);
  };
  const db = createDb(config, "bench");
  const explaining = explain(db, (text, { Plan: plan, Triggers: triggers, ...times }) => {
    const statement = text.replaceAll(/\s+/g, " ").trim();
    add(statement, "whole", times["Execution Time"] * 1000, pagesOf(plan));
    add(statement, "planning, which a kept plan saves", times["Planning Time"] * 1000, 0);
    const parts = new Map<string, [us: number, pages: number]>();
    for (const part of subplans(plan)) {
      const [us, pages] = parts.get(partName(part)) ?? [0, 0];
      const own = part["Actual Total Time"] * part["Actual Loops"] * 1000;
      parts.set(partName(part), [us + own, pages + pagesOf(part)]);
    }
    for (const [name, [us, pages]] of parts) add(statement, name, us, pages);
    for (const one of triggers)
      add(
        statement,
        `trigger ${one["Constraint Name"] ?? one["Trigger Name"]}`,
        one.Time * 1000,
        0,
      );
  });
  const log = createLog({ logLevel: "warn" }, "bench");
  const clock = createClock(config);
  const intake = createIntake({
    ...{ db: explaining, config, log, clock, wake: () => {}, counted: () => {} },
    waiters: { expect: () => {}, forget: () => {} },
  });
  const { rows: keys } = (await db.raw(
    "select k.id, k.partner_id as partner from keys k order by k.id",
  )) as { rows: { id: number; partner: number }[] };
  const reviewCities = createReviewCities();
  try {
    for (let n = 0; n < marks; n += 1) {
      const mark = markOf(
        n,
        country.stations,
        keys[n % keys.length]!,
        config.reporterPepper,
        clock(),
      );
      const admission = (await intake.submit([mark])[0])!;
      if (admission.kind !== "accepted") throw new Error(JSON.stringify(admission));
      await processStations({ db: explaining, config, clock, log, reviewCities }, [mark.stationId]);
    }
  } finally {
    await db.destroy();
  }
  return [...found.values()].map(({ us, pages, ...one }) => ({
    ...{ ...one, us: median(us), pages: median(pages), runs: marks },
  }));
}

function markOf(
  n: number,
  stations: readonly { id: string; lat: number; lon: number }[],
  { id: keyId, partner }: { id: number; partner: number },
  pepper: string,
  now: number,
): IncomingMark {
  const station = stations[(n * 7919 + 13) % stations.length]!;
  const isNo = n % 5 === 0;
  return {
    stationId: station.id,
    station: { lat: station.lat, lon: station.lon },
    status: isNo ? "no" : "yes",
    fuels: isNo ? null : ["95"],
    fuelsNo: isNo ? ["95"] : null,
    prices: isNo ? null : { "95": 60 },
    comment: null,
    lat: station.lat,
    lon: station.lon,
    accM: 10,
    express: false,
    observedAt: now,
    reporter: partnerReporter(pepper, partner, `user-${(keyId - 1 + n * 8) % 400_000}`),
    partnerId: partner,
    viewer: null,
    externalId: `explained-${n}`,
    confirms: false,
    nearbyIds: isNo ? stations.slice(n, n + 5).map((one) => one.id) : [],
    medians: { "95": 60 },
    keyId,
    confirmMin: 0,
    reports: true,
    acceptRemote: true,
    newUsersLimit: 1_000_000,
  };
}

/** The database whose pipelined transactions explain each statement, in a savepoint, before it runs. */
function explain(db: Db, hear: (text: string, explained: Explained) => void): Db {
  const connect = async () => {
    const connection = await db.pool.connect();
    const query = (asked: { text: string; values?: unknown[] }) => {
      const send = connection.query.bind(connection) as (q: object) => Promise<{ rows: unknown[] }>;
      if (!/^\s*(with|select|insert|update|delete)\b/i.test(asked.text)) return send(asked);
      void send({ text: "savepoint explained" });
      const { text, values } = asked;
      const plan = send({ text: `explain (analyze, buffers, format json) ${text}`, values });
      void send({ text: "rollback to explained" });
      plan.then(
        ({ rows: [row] }) => hear(text, (row as { "QUERY PLAN": Explained[] })["QUERY PLAN"][0]!),
        () => undefined,
      );
      return send(asked);
    };
    return new Proxy(connection, {
      get: (target, name) => {
        if (name === "query") return query;
        const value = Reflect.get(target, name) as unknown;
        return typeof value === "function" ? (value.bind(target) as unknown) : value;
      },
    });
  };
  const pool = new Proxy(db.pool, {
    get: (target, name) => {
      if (name === "connect") return connect;
      const value = Reflect.get(target, name) as unknown;
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
  return new Proxy(db, {
    get: (target, name) => (name === "pool" ? pool : (Reflect.get(target, name) as unknown)),
  });
}

/** The outermost plans of their own: subqueries that are run once or for each row, and parts of `with`. */
function subplans(plan: Plan): Plan[] {
  return (plan.Plans ?? []).flatMap((one) =>
    one["Subplan Name"] === undefined ? subplans(one) : [one],
  );
}

const pagesOf = (plan: Plan): number => plan["Shared Hit Blocks"] + plan["Shared Read Blocks"];

function partName(plan: Plan): string {
  const tables = (one: Plan): string[] => [
    ...(one["Relation Name"] === undefined ? [] : [one["Relation Name"]]),
    ...(one["Function Name"] === undefined ? [] : [`${one["Function Name"]}()`]),
    ...(one.Plans ?? []).flatMap(tables),
  ];
  const read = [...new Set(tables(plan).map((name) => name.replace(/^marks_\d{6,8}$/, "marks")))];
  const label = plan["Subplan Name"]!.replace(/ \(returns.*\)/, "");
  return `${label.startsWith("CTE") ? label.replace("CTE ", "") : "read"}: ${read.join(", ") || plan["Node Type"]}`;
}
