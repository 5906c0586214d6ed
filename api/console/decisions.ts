import { Type } from "typebox";
import { consoleCall, type ConsoleCall } from "#api/console/operator-gate.ts";
import type { ConsoleDeps } from "#api/console/deps.ts";
import {
  actionsLike,
  type ConsoleBlock,
  type ConsoleDecision,
  decisionKinds,
} from "#src/contract/decisions.ts";
import type { ConsoleLogEntry } from "#src/contract/console.ts";
import { type Db, rows } from "#src/infrastructure/db.ts";
import { cutToPage } from "#src/infrastructure/lists.ts";
import type { IssuedKey } from "#src/keys/issued-keys.ts";
import type { Partner } from "#src/keys/partners.ts";
import type { Batch } from "#src/marks/bulk-decisions.ts";
import { listBlocks } from "#src/marks/source-blocks.ts";
import { changedSince } from "#src/operators/act.ts";
import { oneOf } from "#src/operators/inputs.ts";
import { listDecisions, type LoggedDecision } from "#src/operators/operator-log.ts";
import { inMs, presented } from "#src/operators/presented.ts";

const shown = 50;
const id = Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }));
const filter = Type.Object({
  actor: Type.Optional(Type.String({ maxLength: 200 })),
  kind: Type.Optional(oneOf(decisionKinds)),
  before: id,
  /** The decision of this entry of the log alone. */
  entry: id,
});

/** The decisions of operators: a view of their log, with the record of each and the way back (decisions 13.28). */
export const decisionCalls = ({ db, clock }: ConsoleDeps): ConsoleCall[] => [
  consoleCall("GET", "/decisions", { role: "viewer", query: filter }, async (ctx) => {
    const { kind, ...wish } = ctx.state.query;
    const found = await listDecisions(db, actionsLike(kind), wish, shown + 1);
    const { page, next } = cutToPage(found, shown);
    const facts = await factsOf(db, page);
    const decisions = page.map((entry) => decisionOf(entry, facts, clock()));
    ctx.body = { decisions, next };
  }),
  consoleCall("GET", "/blocks", { role: "viewer" }, async (ctx) => {
    const blocks = await listBlocks(db);
    ctx.body = { blocks: blocks.map((block) => presented(block, inMs)) satisfies ConsoleBlock[] };
  }),
];

function decisionOf(found: LoggedDecision, facts: Facts, now: number): ConsoleDecision {
  const { next, undo: _, ...logged } = found;
  const entry = { ...presented(logged, inMs), details: logged.details as Record<string, unknown> };
  const batch = facts.batches.get(Number(entry.details["id"]));
  const isGroup = batch !== undefined && subjectOf(entry, "mark") === null;
  const undo = isGroup ? groupUndo(batch) : undoOf(found, facts, now);
  const later =
    next === null
      ? null
      : {
          ...{ actor: next.actor, at: Date.parse(String(next.at)) },
          undone: next.action === `${entry.action}-undo`,
        };
  const back =
    isGroup && batch.undo_actor !== null && batch.undone_at !== null
      ? { actor: batch.undo_actor, at: inMs(batch.undone_at), undone: true }
      : null;
  return {
    ...entry,
    // Entries of a great decision count a part of it each.
    details: isGroup
      ? { ...entry.details, marks: batch.marks, stations: batch.stations }
      : entry.details,
    ...{ name: nameOf(entry, facts), page: pageOf(entry, facts), undo },
    since: undo === null ? (back ?? later) : null,
  };
}

function groupUndo({ id, act, undone_at }: Batch): ConsoleDecision["undo"] {
  const records = act === "rollback" ? "rollbacks" : "review/decisions";
  return undone_at === null ? { method: "POST", path: `/${records}/${id}/undo` } : null;
}

/**
 * The call that takes a decision back, while what it changed is still as it left it; null otherwise. `now` in ms. The
 * call itself refuses when somebody is faster: by `was`, or by `after`, the decision's entry in the log.
 */
function undoOf(
  { id, subject, undo, next }: LoggedDecision,
  { stations, partners, keys }: Facts,
  now: number,
): ConsoleDecision["undo"] {
  const key = keys.get(Number(subjectOf({ subject }, "key")));
  if (undo === null || (undo.until ?? now + 1) <= now || key?.revoked_at) return null;
  const { method = "POST", path, body } = undo;
  const { until, was } = (body ?? {}) as Values;
  // The former end of a block has passed meanwhile.
  const call = typeof until === "number" && until <= now ? { ...body, until: null } : body;
  const made = { method, path, ...(call === undefined ? {} : { body: call }) } as const;
  if (was === undefined) return next === null ? { ...made, path: `${path}?after=${id}` } : null;
  const station = stations.get(subjectOf({ subject }, "station") ?? "");
  const place = station && { ...station, position: { lat: station["lat"], lon: station["lon"] } };
  const row = place ?? key ?? partners.get(Number(subjectOf({ subject }, "partner")));
  return row === undefined || changedSince(was as object, row) !== null ? null : made;
}

type Entry = Pick<ConsoleLogEntry, "id" | "action" | "subject" | "details">;
type Values = Record<string, unknown>;

/** The present state of the subjects of a page's decisions. */
interface Facts {
  batches: ReadonlyMap<number, Batch>;
  stations: ReadonlyMap<string, Values>;
  partners: ReadonlyMap<number, Partner>;
  keys: ReadonlyMap<number, IssuedKey>;
}

/** Reads what these decisions are about: one query for each kind of it. */
async function factsOf(db: Db, found: readonly LoggedDecision[]): Promise<Facts> {
  const ids = (noun: string): number[] => named(noun).map(Number).filter(Number.isSafeInteger);
  const named = (noun: string): string[] => [
    ...new Set(found.flatMap((entry) => subjectOf(entry, noun) ?? [])),
  ];
  const detail = (name: string): number[] =>
    found.map(({ details }) => Number((details as Values)[name])).filter(Number.isSafeInteger);
  const some = <Row extends { id: number | string }>(from: string, list: unknown[], type: string) =>
    rows<Row>(db, `select * from ${from} where id = any(?::${type}[])`, [list]);
  const keys = await some<IssuedKey>("keys", ids("key"), "int");
  const marked = found.map(({ details }) => textIn(details as Values, "station"));
  const stationIds = [...new Set([...named("station"), ...marked])].filter((id) => id !== "");
  const partners = [...ids("partner"), ...detail("partner"), ...keys.map((key) => key.partner_id)];
  const [batches, stations, asked] = await Promise.all([
    some<Batch>("mark_batches", detail("id"), "bigint"),
    some<Values & { id: string }>("stations", stationIds, "text"),
    some<Partner>("partners", partners, "bigint"),
  ]);
  return {
    batches: new Map(batches.map((one) => [one.id, one])),
    stations: new Map(stations.map((one) => [one.id, one])),
    partners: new Map(asked.map((one) => [one.id, one])),
    keys: new Map(keys.map((one) => [one.id, one])),
  };
}

const textIn = (values: Values, name: string): string => {
  const text = values[name];
  return typeof text === "string" ? text : "";
};

/** The id in a subject such as `station n17`; null for another noun. */
const subjectOf = ({ subject }: Pick<Entry, "subject">, noun: string): string | null =>
  subject.startsWith(`${noun} `) ? subject.slice(noun.length + 1) : null;

/** The name of its station, partner or key's partner, as it is now; "" for none. */
function nameOf(entry: Entry, { stations, partners, keys }: Facts): string {
  const station = stations.get(subjectOf(entry, "station") ?? textIn(entry.details, "station"));
  if (station !== undefined) return String(station["name"] || station["brand"]);
  const key = keys.get(Number(subjectOf(entry, "key")));
  const partner = subjectOf(entry, "partner") ?? entry.details["partner"] ?? key?.partner_id;
  return partners.get(Number(partner))?.name ?? "";
}

/** The console's page of what a decision is about. */
function pageOf(entry: Entry, { batches, keys }: Facts): string {
  const { action, details } = entry;
  const at = (noun: string): string => encodeURIComponent(subjectOf(entry, noun) ?? "");
  const [noun] = action.split(".");
  const record = Number(
    subjectOf(entry, "rollback") ?? subjectOf(entry, "decision") ?? details["id"],
  );
  if (noun === "marks") return `/rollback/${record}`;
  if (noun === "review" && (subjectOf(entry, "decision") !== null || batches.has(record)))
    return `/review/${record}`;
  if (noun === "review") return `/stations/${encodeURIComponent(textIn(details, "station"))}`;
  if (noun === "reporter") return `/rollback?reporter=${at("reporter")}`;
  if (noun === "network") return `/rollback?network=${at("network")}`;
  if (action === "station.field-sources") return "/imports";
  if (noun === "station") return `/stations/${at("station")}`;
  if (noun === "partner") return `/partners/${at("partner")}`;
  if (noun === "key")
    return `/partners/${keys.get(Number(at("key")))?.partner_id ?? String(details["partner"])}`;
  if (noun === "limit-request") return "/limit-requests";
  if (noun === "suggestion") return "/suggestions";
  if (noun === "feed") return "/feeds";
  return { brand: "/brands", incident: "/incidents" }[noun!] ?? "/imports";
}
