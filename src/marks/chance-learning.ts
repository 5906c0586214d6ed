import { Type } from "typebox";
import type { ConsoleRates } from "#src/contract/console-review.ts";
import { namedRates, type Rates } from "#src/domain/chance/learning.ts";
import { shippedNumbers } from "#src/domain/chance/numbers.ts";
import { startOfDay } from "#src/domain/time.ts";
import { type Db, rows, type Statements } from "#src/infrastructure/db.ts";
import { compileShape } from "#src/infrastructure/quarantine.ts";
import { fromMs, msOf } from "#src/marks/marks.ts";
import { noId, operatorAct } from "#src/operators/act.ts";
import { changeOf } from "#src/operators/operator-log.ts";
import { oneOf } from "#src/operators/inputs.ts";

/**
 * What came of a night: new rates, the same ones, or none, because there were too few changes or too many lies, or because
 * the marks would not have been foreseen better; `none` before the first.
 */
export type NightResult = ConsoleRates["result"];

/** The rates of change that this instance has learnt (decisions 23.21). */
export interface Learning {
  /** Whether it goes on each night. */
  learns: boolean;
  /** In force in place of the shipped ones; null: those. */
  rates: Rates | null;
  /** The last night that looked, ms, at how much, and what came of it. */
  lookedAt: number | null;
  stations: number;
  marks: number;
  changes: number;
  result: NightResult;
}

const rate = Type.Number({ exclusiveMinimum: 0 });
const part = Type.Number({ exclusiveMinimum: 0, exclusiveMaximum: 1 });
const hours = Type.Array(rate, { minItems: 24, maxItems: 24 });
const ratesShape = compileShape(
  Type.Object({
    fuel: Type.Object({ soonShare: part, soonMeanMs: rate, lastsMeanMs: rate }),
    none: Type.Object({ soonShare: part, soonMeanMs: rate, refillsPerHour: hours }),
  }),
);

/** Stored rates; null, for the shipped ones, if they cannot be read. */
export const readableRates = (rates: unknown): Rates | null =>
  ratesShape(rates) === null ? (rates as Rates) : null;

export async function readLearning(db: Db): Promise<Learning> {
  const sql = `select learns, rates, ${msOf("looked_at")} as "lookedAt", stations, marks, changes, result
    from chance_learning`;
  const found = (await rows<Learning>(db, sql))[0]!;
  return { ...found, rates: readableRates(found.rates) };
}

/** The shipped rates beside those in force. */
export async function ratesTable(db: Db): Promise<ConsoleRates> {
  const { rates, lookedAt: looked, ...night } = await readLearning(db);
  const now = namedRates(rates ?? shippedNumbers);
  const table = Object.entries(namedRates(shippedNumbers)).map(([name, shipped]) => {
    return { name, shipped, now: now[name]! };
  });
  return { ...night, looked, learnt: rates !== null, rates: table };
}

/** Stores what a night has found, once a UTC day; false if another process has, or learning was switched off. */
export async function noteNight(
  db: Db,
  now: number,
  { rates, stations, marks, changes, result }: Omit<Learning, "learns" | "lookedAt">,
): Promise<boolean> {
  const stored = await rows(
    db,
    `update chance_learning set rates = ?, looked_at = ${fromMs}, stations = ?, marks = ?, changes = ?, result = ?
     where learns and (looked_at is null or looked_at < ${fromMs}) returning 1`,
    [
      ...[rates === null ? null : JSON.stringify(rates), now],
      ...[stations, marks, Math.round(changes), result, startOfDay(now)],
    ],
  );
  return stored.length > 0;
}

const wish = Type.Object(
  { learning: oneOf(["on", "off", "shipped"]) },
  { additionalProperties: false },
);

/**
 * Switches the nightly learning on or off; `off` keeps what was learnt, `shipped` goes back to the shipped rates too. In
 * force within seconds.
 */
export const setLearning = operatorAct(wish, noId, async (tx, { learning }) => {
  const old = await lockedLearning(tx);
  const rates = learning === "shipped" ? null : old.rates;
  const now = { learns: learning === "on", rates };
  await rows(tx, "update chance_learning set learns = ?, rates = ?", [
    now.learns,
    rates === null ? null : JSON.stringify(rates),
  ]);
  const details = changeOf(old, now, ["learns", "rates"]);
  return { value: now, action: "chance.learning", subject: "chances", details };
});

const lockedLearning = async (tx: Statements): Promise<Pick<Learning, "learns" | "rates">> =>
  (await rows<Learning>(tx, "select learns, rates from chance_learning for update"))[0]!;
