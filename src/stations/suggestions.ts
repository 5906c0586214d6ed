import type { ConsoleSuggestion } from "#src/contract/console.ts";
import { isRefusal, refuse, type Refusal } from "#src/contract/refusals.ts";
import { type Suggested, type SuggestionKind, suggestionTextMax } from "#src/domain/suggestion.ts";
import { dayS } from "#src/domain/units.ts";
import { cleanText } from "#src/import/clean-text.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { type Db, inTransaction, rows, type Statements, type Tx } from "#src/infrastructure/db.ts";
import { lockIds } from "#src/infrastructure/locks.ts";
import { msOf } from "#src/marks/marks.ts";
import { already, changed, nothing, operatorAct, unknown } from "#src/operators/act.ts";
import { rowId } from "#src/operators/inputs.ts";

/** A person's suggestion; device and network as hashes in hex (`deviceReporter`, `viewerHash`). */
export interface Suggestion extends Suggested {
  kind: SuggestionKind;
  text: string;
  reporter: string;
  viewer: string;
}

/**
 * Stores what a driver says of a station itself; nothing but the operator's list changes (decisions 15.47). The same of
 * the same person takes the place of the one that is open. Refuses (429) beyond the most of a device or a network in 24
 * hours, and blocked ones.
 */
export const suggest = (
  db: Db,
  { suggestionsPerDevice, suggestionsPerNetwork }: Config,
  { kind, subject, stationId, at, text, reporter, viewer }: Suggestion,
): Promise<{ again: boolean } | Refusal> =>
  inTransaction(db, async (tx) => {
    // The device's lock as well: it may come from several networks at once.
    const sql = `select pg_advisory_xact_lock(${lockIds.suggestions}, lock)
       from (select distinct hashtext(hash) as lock from unnest(?::text[]) as h(hash) order by 1) l`;
    await rows(tx, sql, [[reporter, viewer]]);
    const [said] = await rows<{ own: number; network: number; blocked: boolean; wait: number }>(
      tx,
      `select count(*) filter (where reporter = who) as own, count(*) filter (where viewer = net) as network,
         exists (select from reporters where hash = who and blocked_until > server_now())
           or exists (select from network_blocks b where b.viewer = net and until > server_now()) as blocked,
         coalesce(ceil(${dayS} - extract(epoch from server_now() - min(created_at))), ${dayS})::int as wait
       from (select decode(?, 'hex') as who, decode(?, 'hex') as net) asker left join station_suggestions
         on (reporter = who or viewer = net) and created_at > server_now() - interval '24 hours'
       group by who, net`,
      [reporter, viewer],
    );
    const { own, network, blocked, wait } = said!;
    const enough = (limit: number): Refusal =>
      refuse("user-rate-limited", "Enough was said about stations from here today.", {
        ...{ retryAfterS: Math.max(1, wait), limit, window: "86400s" },
      });
    if (blocked) return enough(suggestionsPerDevice);
    const place = [at?.lat ?? null, at?.lon ?? null, cleanText(text, suggestionTextMax)];
    const sameSql = `update station_suggestions set lat = ?, lon = ?, text = ?
       where subject = ? and kind = ? and reporter = decode(?, 'hex') and verdict is null returning 1`;
    const same = await rows(tx, sameSql, [...place, subject, kind, reporter]);
    if (same.length > 0) return { again: true };
    if (own >= suggestionsPerDevice) return enough(suggestionsPerDevice);
    if (network >= suggestionsPerNetwork) return enough(suggestionsPerNetwork);
    const insertSql = `insert into station_suggestions (lat, lon, text, subject, kind, station_id, reporter, viewer)
       values (?, ?, ?, ?, ?, ?, decode(?, 'hex'), decode(?, 'hex')) on conflict do nothing`;
    await rows(tx, insertSql, [...place, subject, kind, stationId, reporter, viewer]);
    return { again: false };
  });

/** Open suggestions, those that say the same together: what most people say first, then the oldest. */
export const openSuggestions = (db: Db, limit: number): Promise<ConsoleSuggestion[]> =>
  rows<ConsoleSuggestion>(
    db,
    `select min(x.id) as id, kind, station_id, count(*) as people, ${msOf("min(x.created_at)")} as first,
       coalesce(array_agg(text order by x.id desc) filter (where text <> ''), '{}') as texts,
       coalesce(jsonb_agg(jsonb_build_object('id', x.id, 'lat', x.lat, 'lon', x.lon) order by x.id desc)
         filter (where x.lat is not null), '[]') as places,
       case when s.id is not null then jsonb_build_object('name', coalesce(nullif(s.name, ''), s.brand), 'addr', s.addr,
         'lat', s.lat, 'lon', s.lon, 'removed', s.removed_at is not null) end as station
     from station_suggestions x left join stations s on s.id = x.station_id
     where verdict is null group by kind, subject, station_id, s.id order by people desc, min(x.id) limit ?`,
    [limit],
  );

/** The number of what `openSuggestions` lists. */
export async function countSuggestions(db: Db): Promise<number> {
  const sql =
    "select count(distinct (subject, kind)) as count from station_suggestions where verdict is null";
  return (await rows<{ count: number }>(db, sql))[0]!.count;
}

const what = "suggestion";
interface Found {
  kind: SuggestionKind;
  subject: string;
  station_id: string;
  verdict: "done" | "dismissed" | null;
}

const find = async (tx: Tx, id: number): Promise<Found | Refusal> => {
  const sql = "select kind, subject, station_id, verdict from station_suggestions where id = ?";
  return (await rows<Found>(tx, sql, [id]))[0] ?? unknown(what, id);
};

/** What the log says: never who, nor what somebody has written. */
const entryOf = (
  action: string,
  id: number,
  { kind, station_id: station }: Found,
  people: number,
) => ({
  value: { id, people },
  ...{ action: `${what}.${action}`, subject: `${what} ${id}` },
  details: { kind, ...(station === "" ? {} : { station }), people },
});

const decision = (action: "done" | "dismiss", verdict: "done" | "dismissed") =>
  operatorAct(nothing, rowId, async (tx, _, id) => {
    const found = await find(tx, id);
    if (isRefusal(found)) return found;
    const sql = `update station_suggestions set verdict = ?, decided_with = ?
       where subject = ? and kind = ? and verdict is null returning 1`;
    const decided = await rows(tx, sql, [verdict, id, found.subject, found.kind]);
    const undo = { path: `/suggestions/${id}/undo` };
    if (decided.length > 0) return { ...entryOf(action, id, found, decided.length), undo };
    return already(what, id, found.verdict ?? "decided");
  });

/** Notes that this suggestion, and all that say the same, is done, or is not so. The station stays as it is. */
export const decideSuggestion = {
  done: decision("done", "done"),
  dismiss: decision("dismiss", "dismissed"),
};

/** Opens again what was decided together with this suggestion, but for those whose people have said it anew since. */
export const undoSuggestion = operatorAct(nothing, rowId, async (tx, _, id) => {
  const found = await find(tx, id);
  if (isRefusal(found)) return found;
  const sql = `update station_suggestions s set verdict = null, decided_with = null where decided_with = ?
       and not exists (select from station_suggestions n where n.subject = s.subject and n.kind = s.kind
         and n.reporter = s.reporter and n.verdict is null) returning 1`;
  const opened = await rows(tx, sql, [id]);
  if (opened.length === 0) return changed(what, id, "is open, or was said anew since");
  const action = found.verdict === "done" ? "done-undo" : "dismiss-undo";
  return entryOf(action, id, found, opened.length);
});

/** What a person has said that is still kept, for the person; `reporter` in hex. */
export const suggestionsOf = (
  db: Statements,
  reporter: string,
): Promise<Record<string, unknown>[]> =>
  rows<Record<string, unknown>>(
    db,
    `select kind, nullif(station_id, '') as station_id, lat, lon, text, coalesce(verdict, 'open') as state,
       to_char(created_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as said
     from station_suggestions where reporter = decode(?, 'hex') order by id`,
    [reporter],
  );

/** Deletes all that a person has said of stations. False when that was nothing. */
export async function forgetSuggestions(db: Statements, reporter: string): Promise<boolean> {
  const sql = "delete from station_suggestions where reporter = decode(?, 'hex') returning 1";
  return (await rows(db, sql, [reporter])).length > 0;
}
