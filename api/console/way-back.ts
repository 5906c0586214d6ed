import { isDeepStrictEqual } from "node:util";
import type { ConsoleLogEntry } from "#src/contract/console.ts";
import type { ConsoleDecision } from "#src/contract/decisions.ts";
import { type Db, rows } from "#src/infrastructure/db.ts";
import type { IssuedKey } from "#src/keys/issued-keys.ts";
import type { Partner } from "#src/keys/partners.ts";
import type { Batch } from "#src/marks/bulk-decisions.ts";
import type { LoggedDecision } from "#src/operators/operator-log.ts";
import { type HandEdits, handSetOf, noEdits, readEdits } from "#src/stations/hand-edits.ts";

type Entry = Pick<ConsoleLogEntry, "id" | "action" | "subject" | "details">;
type Values = Record<string, unknown>;

/** The present state of the subjects of a page's decisions. */
export interface Facts {
  batches: ReadonlyMap<number, Batch>;
  stations: ReadonlyMap<string, Values>;
  edits: ReadonlyMap<string, HandEdits>;
  partners: ReadonlyMap<number, Partner>;
  keys: ReadonlyMap<number, IssuedKey>;
}

/** Reads what these decisions are about: one query for each kind of it. */
export async function factsOf(db: Db, found: readonly LoggedDecision[]): Promise<Facts> {
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
  const [batches, stations, edits, asked] = await Promise.all([
    some<Batch>("mark_batches", detail("id"), "bigint"),
    some<Values & { id: string }>("stations", stationIds, "text"),
    readEdits(db, stationIds),
    some<Partner>("partners", partners, "bigint"),
  ]);
  return {
    batches: new Map(batches.map((one) => [one.id, one])),
    stations: new Map(stations.map((one) => [one.id, one])),
    edits,
    partners: new Map(asked.map((one) => [one.id, one])),
    keys: new Map(keys.map((one) => [one.id, one])),
  };
}

const textIn = (values: Values, name: string): string => {
  const text = values[name];
  return typeof text === "string" ? text : "";
};

/** The id in a subject such as `station n17`; null for another noun. */
export const subjectOf = ({ subject }: Pick<Entry, "subject">, noun: string): string | null =>
  subject.startsWith(`${noun} `) ? subject.slice(noun.length + 1) : null;

/** The name of its station, partner or key's partner, as it is now; "" for none. */
export function nameOf(entry: Entry, { stations, partners, keys }: Facts): string {
  const station = stations.get(subjectOf(entry, "station") ?? textIn(entry.details, "station"));
  if (station !== undefined) return String(station["name"] || station["brand"]);
  const key = keys.get(Number(subjectOf(entry, "key")));
  const partner = subjectOf(entry, "partner") ?? entry.details["partner"] ?? key?.partner_id;
  return partners.get(Number(partner))?.name ?? "";
}

/** The console's page of what a decision is about. */
export function pageOf(entry: Entry, { batches, keys }: Facts): string {
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

/**
 * The call that takes a decision back, while what it changed is still as it left it; null otherwise. `now` in ms. The
 * call itself refuses when somebody is faster: by `was`, or by `after`, the decision's entry in the log.
 */
export function wayBack(
  entry: Entry,
  { next }: Pick<LoggedDecision, "next">,
  facts: Facts,
  now: number,
): ConsoleDecision["undo"] {
  const { action, details } = entry;
  const batch = facts.batches.get(Number(details["id"]));
  if (batch !== undefined && subjectOf(entry, "mark") === null) {
    const records = batch.act === "rollback" ? "rollbacks" : "review/decisions";
    const path = `/${records}/${batch.id}/undo`;
    return batch.undone_at === null ? { method: "POST", path } : null;
  }
  if (action === "station.edit") return editBack(entry, facts);
  if (action === "partner.update" || action === "key.update") return settingsBack(entry, facts);
  const call = next === null ? callBack(entry, facts, now) : null;
  return call === null ? null : { ...call, path: `${call.path}?after=${entry.id}` };
}

/** The way back of a decision that is the last one about its subject. */
function callBack(entry: Entry, facts: Facts, now: number): ConsoleDecision["undo"] {
  const { action, details } = entry;
  const at = (noun: string): string => encodeURIComponent(subjectOf(entry, noun) ?? "");
  const post = (path: string, body?: object): ConsoleDecision["undo"] => ({
    ...{ method: "POST", path },
    ...(body === undefined ? {} : { body }),
  });
  const lasts = (name: string): boolean => Date.parse(textIn(details, name)) > now;
  switch (action) {
    case "review.approve":
    case "review.reject":
      return subjectOf(entry, "mark") === null ? null : post(`/review/${at("mark")}/undo`);
    case "reporter.block":
    case "network.block": {
      const noun = action === "reporter.block" ? "reporter" : "network";
      const until = lasts("before") ? Date.parse(textIn(details, "before")) : null;
      // The log has digits of a network's hash; without a block nothing may know the whole.
      if (!lasts("until") && (until === null || noun === "network")) return null;
      return post(`/${noun}s/${at(noun)}/block`, { until });
    }
    case "suggestion.done":
    case "suggestion.dismiss":
      return post(`/suggestions/${at("suggestion")}/undo`);
    case "station.add":
      return post(`/stations/${at("station")}/close`, {});
    case "station.close":
      return post(`/stations/${at("station")}/reopen`);
    case "station.reopen":
      return post(`/stations/${at("station")}/close`, {});
    case "station.merge":
      return post(`/stations/${at("station")}/split`);
    case "station.split":
      return post(`/stations/${at("station")}/merge`, { other: details["from"] });
    case "limit-request.approve":
    case "limit-request.reject":
      return post(`/limit-requests/${at("limit request")}/undo`);
    case "partner.launch":
      return lasts("launch_until")
        ? { method: "DELETE", path: `/partners/${at("partner")}/launch` }
        : null;
    case "key.limit": {
      const isRevoked = facts.keys.get(Number(at("key")))?.revoked_at !== null;
      if (!lasts("limited_until") || isRevoked) return null;
      return post(`/keys/${at("key")}/limit`, { to: details["limited_to"], until: null });
    }
    case "brand.alias":
      return typeof details["before"] === "string"
        ? post(`/brands/${at("brand")}/alias`, { brand: details["before"] })
        : { method: "DELETE", path: `/brands/${at("brand")}/alias` };
    case "brand.unalias":
      return post(`/brands/${at("brand")}/alias`, { brand: details["brand"] });
    case "station.field-sources":
      return post(`/field-sources/${at("field")}`, { sources: details["before"] });
    case "feed.pause":
      return post(`/feeds/${at("feed")}/resume`);
    case "feed.resume":
      return post(`/feeds/${at("feed")}/pause`);
    default:
      return null;
  }
}

/** True if each of these fields still has this value. */
const isStill = (values: Values, now: Values): boolean =>
  Object.entries(values).every(([field, value]) => isDeepStrictEqual(value, now[field]));

/** Fields that the imports have as they were go back to the imports. */
function editBack({ subject, details }: Entry, facts: Facts): ConsoleDecision["undo"] {
  const id = subjectOf({ subject }, "station") ?? "";
  const station = facts.stations.get(id);
  const { before, after } = details as { before?: Values; after?: Values };
  if (station === undefined || before === undefined || after === undefined) return null;
  const position = { lat: station["lat"], lon: station["lon"] };
  const isAsBefore = isDeepStrictEqual(before, after);
  if (isAsBefore || !isStill(after, { ...station, position })) return null;
  const file: Values = { ...handSetOf(facts.edits.get(id) ?? noEdits(id)) };
  const fields = Object.keys(before);
  const back = fields.filter((field) => isDeepStrictEqual(file[field], before[field]));
  const set = fields.filter((field) => !back.includes(field));
  return {
    ...{ method: "PATCH", path: `/stations/${encodeURIComponent(id)}` },
    body: {
      ...Object.fromEntries(set.map((field) => [field, before[field]])),
      ...(back.length > 0 ? { from_file: back } : {}),
      was: after,
    },
  };
}

/** The way back of an edit of a partner or a key: to the values before it. */
function settingsBack(entry: Entry, { partners, keys }: Facts): ConsoleDecision["undo"] {
  const noun = entry.action === "key.update" ? "key" : "partner";
  const id = Number(subjectOf(entry, noun));
  const row = noun === "key" ? keys.get(id) : partners.get(id);
  const { before, after } = entry.details as { before?: Values; after?: Values };
  // An entry of an earlier version does not say what was before.
  if (row === undefined || before === undefined || after === undefined) return null;
  const now = JSON.parse(JSON.stringify(row)) as Values;
  if (isDeepStrictEqual(before, after) || now["revoked_at"] || !isStill(after, now)) return null;
  const { expires_at: expires, ...others } = before;
  const expiry = expires === null ? null : Date.parse(textIn(before, "expires_at"));
  const body = { ...(expires === undefined ? others : { ...others, expires: expiry }), was: after };
  return { method: "PATCH", path: `/${noun}s/${id}`, body };
}
