import { createHmac } from "node:crypto";
import type pg from "pg";
import { Type } from "typebox";
import type { Report } from "#src/contract/present.ts";
import type { Admitted } from "#src/domain/admit.ts";
import type { Mark, Seed } from "#src/domain/state.ts";
import {
  type Grade,
  grades,
  type Queue,
  queues,
  type Rule,
  type Status,
  statuses,
} from "#src/domain/vocabulary.ts";
import { rows, type Statements } from "#src/infrastructure/db.ts";
import { compileShape, stored } from "#src/infrastructure/quarantine.ts";
import { dayMs } from "#src/domain/units.ts";

// A mark's id is the number of its UTC day << 32 | sequence, here as in SQL (0003_create_mark_partitions).
const sequenceBits = 32;
const perDay = 2 ** sequenceBits;

/** The highest sequence number; the next one is 1. */
export const sequenceMax = perDay - 1;

/** Smallest mark id of the UTC day of `ms`: a bound on ids prunes partitions. */
export const firstIdOfDay = (ms: number): number => Math.floor(ms / dayMs) * perDay;

/** The beginning, ms, of the UTC day on which the mark of this id was received. */
export const dayOfId = (id: number): number => Math.floor(id / perDay) * dayMs;

/** SQL for the smallest mark id of the UTC day `days` after that of the mark with the id in `column`. */
export const firstIdOfDayAfter = (column: string, days: number): string =>
  `((${column} >> ${sequenceBits}) + ${days} << ${sequenceBits})`;

/** The mark id of a time of receipt and a sequence number. */
export const markId = (receivedAt: number, sequence: number): number =>
  firstIdOfDay(receivedAt) + sequence;

/**
 * An id above every mark that is stored by `now`, or within the day after it (another machine's clock). As a bound it
 * excludes the partitions of future days, which cost more to plan than to read.
 */
export const idAfter = (now: number): number => firstIdOfDay(now + 2 * dayMs);

/** Marks of most days that one transaction changes. */
const daysAtOnce = 30;

/** SQL on ids for the marks of the days from `since` to `now`, ms: some days at a time, the newest first. */
export function* idsByDays(since: number, now: number, column = "id"): Generator<string> {
  const first = Math.floor(since / dayMs);
  // One more day, for another machine's clock.
  for (let end = Math.floor(now / dayMs) + 2; end > first; end -= daysAtOnce)
    yield `${column} >= ${Math.max(first, end - daysAtOnce) * perDay} and ${column} < ${end * perDay}`;
}

/** SQL on ids for the partitions of these marks. */
export const idsBetween = (ids: readonly number[], column = "id"): string =>
  ids.length === 0
    ? "false"
    : `${column} between ${ids.reduce((a, b) => Math.min(a, b))} and ${ids.reduce((a, b) => Math.max(a, b))}`;

/**
 * True for Postgres' refusal of a mark without a partition: a check_violation that names the table but no constraint.
 * The message would depend on the server's language.
 */
export function isMissingPartition(error: unknown): boolean {
  const { code, table, constraint } = error as Partial<pg.DatabaseError>;
  return code === "23514" && table === "marks" && constraint === undefined;
}

/** Most waiting marks of one station that are processed at once, the first received. */
export const waitingMax = 500;

/** Searches for younger marks are frequent, for older ones rare, ms. */
export const hotMs = 3 * dayMs;

/**
 * SQL on ids for the marks since the day of `since` (ms), for statements that find them by another column. In two
 * ranges, so that Postgres does not search the ids instead: in the plans of a day that it has not analyzed yet, that is
 * as cheap, and it reads all marks of the day.
 */
export function idsSince(since: number, now: number, column = "id"): string {
  const [from, today, to] = [firstIdOfDay(since), firstIdOfDay(now), idAfter(now)];
  return `(${column} >= ${from} and ${column} < ${today} or ${column} >= ${today} and ${column} < ${to})`;
}

/** The same for the days that are searched often. */
export const recentIds = (now: number): string => idsSince(now - hotMs, now);

/** SQL for milliseconds since the epoch of a timestamptz column; null for `infinity`. */
export const msOf = (column: string): string =>
  `(floor(extract(epoch from nullif(nullif(${column}, 'infinity'), '-infinity')) * 1000))::bigint`;

/** SQL for a timestamptz from a bound number of milliseconds; exact, unlike to_timestamp(), which takes seconds. */
export const fromMs = "(timestamptz 'epoch' + ?::bigint * interval '1 ms')";

/** SQL for the title of a station, from its row `s`: name, brand and address, as far as it has them. */
export const stationTitle =
  "concat_ws(', ', nullif(s.name, ''), nullif(nullif(s.brand, s.name), ''), nullif(s.addr, ''))";

export interface MarkRow {
  id: number;
  station_id: string;
  reporter_id: number;
  at: number;
  status: Status;
  remote: boolean;
  needed: number;
  rule: Rule;
  fuels: Grade[] | null;
  fuels_no: Grade[] | null;
  queue: Queue | null;
  prices: Partial<Record<Grade, number>> | null;
  prices_needed: Partial<Record<Grade, number>> | null;
  limit_l: number | null;
  limit_stated: boolean;
  no_cash: boolean | null;
  fuel_cards_only: boolean | null;
  network: string | null;
}

/** Hex digits of a network's hash that are enough to tell the networks of one station apart. */
export const networkDigits = 16;

/** The network of a mark that is not stored yet, as `markColumns` reads it from a stored one. */
export const networkOf = ({
  sharedNetwork,
  incomingMark: { viewer },
}: Pick<Admitted, "sharedNetwork" | "incomingMark">): Pick<Mark, "network"> =>
  viewer === null || sharedNetwork ? {} : { network: viewer.slice(0, networkDigits) };

/** Columns of `marks` that make a MarkRow. */
export const markColumns = `id, station_id, reporter_id, ${msOf("effective_at")} as at, status, remote, needed, rule,
  fuels, fuels_no, queue, prices, prices_needed, limit_l, limit_stated, no_cash, fuel_cards_only,
  case when not shared_network then left(encode(viewer, 'hex'), ${networkDigits}) end as network`;

const { time, orNull, word } = stored;
const grade = word(grades);
const gradeList = orNull(Type.Array(grade));
const numbers = orNull(Type.Record(Type.String(), Type.Number({ minimum: 0, maximum: 1e6 })));
const base = {
  ...{ id: Type.Integer({ minimum: 1 }), at: time, status: word(statuses), rule: Type.String() },
  ...{ remote: Type.Boolean(), needed: Type.Integer({ minimum: 1 }) },
};
const said = { fuels: gradeList, queue: orNull(word(queues)), prices: numbers };
export const markShape = compileShape(
  Type.Object({ ...base, reporter_id: Type.Integer(), ...said, fuels_no: gradeList }),
);

/** A mark as it is stored with the opinion. */
export const opinionShape = compileShape(
  Type.Intersect([
    Type.Object({ ...base, reporterId: Type.Integer() }),
    Type.Partial(Type.Object({ ...said, fuelsNo: gradeList, pricesNeeded: numbers })),
  ]),
);

/** The same as `toMark` for a row that was not checked yet. Throws for an unreadable row. */
export function readMark(row: MarkRow): Mark {
  const fault = markShape(row);
  if (fault !== null) throw new Error(`the mark cannot be read: ${fault}`);
  return toMark(row);
}

/** The mark as the fold sees it, without empty fields, because it is stored whole with the opinion. */
export function toMark(row: MarkRow): Mark {
  const mark: Mark = {
    at: row.at,
    id: row.id,
    reporterId: row.reporter_id,
    status: row.status,
    remote: row.remote,
    needed: row.needed,
    rule: row.rule,
  };
  if (row.fuels?.length) mark.fuels = row.fuels;
  if (row.fuels_no?.length) mark.fuelsNo = row.fuels_no;
  if (row.queue) mark.queue = row.queue;
  if (row.prices !== null) mark.prices = row.prices;
  if (row.prices_needed !== null) mark.pricesNeeded = row.prices_needed;
  if (row.limit_stated) mark.limitL = row.limit_l;
  if (row.no_cash !== null) mark.noCash = row.no_cash;
  if (row.fuel_cards_only !== null) mark.fuelCardsOnly = row.fuel_cards_only;
  if (row.network !== null) mark.network = row.network;
  return mark;
}

export type SeedRow = Seed & { station_id: string };

/** Columns of `seeds` that make a SeedRow. */
export const seedColumns = `station_id, ${msOf("imported_at")} as "importedAt", ${msOf("updated")} as updated, status,
  fuels_now as "fuelsNow", fuels_no as "fuelsNo"`;

/** Marks that never count again, unless the decision about them is taken back. */
const isOut = "review in ('withdrawn', 'rejected')";
const isBeingTakenBack = `taken_back_at is not null
         and exists (select from station_status s where s.station_id = marks.station_id and s.refold)`;

/**
 * The reports of these marks that exist. A mark that a review sent back keeps its last outcome until it is folded
 * again. A withdrawn or rejected mark has no support any more. A mark that its driver has taken back has no outcome
 * until its station is folded without it. `keptAs`: see `rows`.
 */
export async function loadReports(
  db: Statements,
  ids: readonly number[],
  keptAs?: string,
): Promise<Report[]> {
  if (ids.length === 0) return [];
  const days = ids.map(dayOfId);
  return rows<Report>(
    db,
    `select id, station_id as "stationId", remote, needed, rule, review <> 'expired' as accepted,
       coalesce(partner_id, (select k.partner_id from keys k where k.id = key_id)) as "partnerId",
       case when ${isBeingTakenBack} then null when ${isOut} then 'superseded' when processed_at is not null then outcome end as outcome,
       case when not ${isOut} then outcome_status end as status,
       case when not ${isOut} then outcome_reason end as reason,
       case when ${isOut} then 0 else outcome_have end as have
     from marks where id = any(?::bigint[])
       and id >= ${firstIdOfDay(Math.min(...days))} and id < ${firstIdOfDay(Math.max(...days) + dayMs)}`,
    [ids],
    keptAs,
  );
}

/**
 * Identity of a partner's user (decisions 1), hex: only this hash is kept. The raw bytes count, so two spellings are
 * two people, and so is the same text at two partners.
 */
export const partnerReporter = (pepper: string, partnerId: number, userRef: string): string =>
  createHmac("sha256", pepper).update(`p${partnerId}\0`).update(userRef, "utf8").digest("hex");

/** Identity of a widget's anonymous device, hex: the same on every page that shows the map. */
export const deviceReporter = (pepper: string, device: string): string =>
  createHmac("sha256", pepper).update("device\0").update(device, "utf8").digest("hex");

/** The hash of a widget viewer's network, stored with a mark, hex: new devices and harmful changes are counted by it. */
export const viewerHash = (pepper: string, network: string): string =>
  createHmac("sha256", pepper).update("viewer\0").update(network, "utf8").digest("hex");

/** A person in a request of a partner or the operator: a partner's user, or a device of the map. */
export type Person = { partner: number; userRef: string } | { device: string };

/** The person's identity, hex. */
export const reporterOf = (pepper: string, person: Person): string =>
  "device" in person
    ? deviceReporter(pepper, person.device)
    : partnerReporter(pepper, person.partner, person.userRef);
