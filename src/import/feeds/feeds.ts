import type { Knex } from "knex";
import { type Static, type TObject, Type } from "typebox";
import { type ConsoleFeed, guardNames } from "#src/contract/console-imports.ts";
import { dayS, hourS } from "#src/domain/units.ts";
import { runState } from "#src/import/runs.ts";
import { readSource, type Source } from "#src/import/source.ts";
import { sourceNamed } from "#src/import/source-list.ts";
import { type Db, rows } from "#src/infrastructure/db.ts";
import { msOf } from "#src/marks/marks.ts";
import {
  already,
  changed,
  type Done,
  invalid,
  noId,
  nothing,
  operatorAct,
  unknown,
} from "#src/operators/act.ts";
import { idText, line, oneOf, rowId, within } from "#src/operators/inputs.ts";

/** All feeds, or the one of this id, the oldest first. */
export const listFeeds = (db: Db, id: number | null = null): Promise<ConsoleFeed[]> =>
  rows<ConsoleFeed>(
    db,
    `select f.id, f.source, f.files, f.replace_source, f.every_s, f.alarm_after_s, f.failures,
       f.paused_at is not null as paused, ${msOf("f.due_at")} as due, ${msOf("f.news_at")} as news,
       f.paused_at is null and ${isSilent} as silent, ${runState} as state, fault,
       coalesce((summary #>> '{stations,refused}')::int, 0)
         + coalesce((summary #>> '{statuses,refused}')::int, 0) as left_out,
       ${msOf("started_at")} as started, ${msOf("finished_at")} as finished
     from feeds f left join imports on imports.id = f.run_id
     where f.id = coalesce(?::int, f.id) order by f.id`,
    [id],
  );

/** SQL: a feed `f` has brought nothing new for longer than an operator wants to wait. */
export const isSilent = "f.news_at < server_now() - f.alarm_after_s * interval '1 s'";

/** An address as it may be told to everybody: its query may hold a key. */
export const withoutQuery = (address: string): string => address.replace(/[?#].*$/s, "");

const filesMax = 20;
const added = Type.Object({
  /** A name, or a description of the operator's own. */
  source: Type.Union([idText(40), Type.Object({}, { additionalProperties: true })]),
  every_s: within(60, 31 * dayS),
  urls: Type.Optional(Type.Array(line(1, 2000), { maxItems: filesMax })),
  paths: Type.Optional(Type.Array(line(1, 300), { maxItems: filesMax })),
  replace_source: Type.Optional(Type.Boolean()),
  alarm_after_s: Type.Optional(within(60, 366 * dayS)),
});

/**
 * An operator adds a feed, which is due at once. Without `urls` and `paths` its files are those that the description of
 * the source names. The hosts of addresses are checked at each fetch.
 */
export const addFeed = operatorAct(added, noId, async (tx, wish) => {
  const { every_s: everyS, urls = [], paths = [], replace_source: replaces = false } = wish;
  const source = sourceOf(wish.source);
  if (typeof source === "string") return invalid("source", source);
  if (urls.length > 0 && paths.length > 0)
    return invalid("paths", "Give either addresses or files of a folder");
  const asked = [...urls, ...paths];
  const files = asked.length > 0 ? asked : source.files.flatMap(({ address = [] }) => address);
  const wrong = files.length === 0 ? noFiles : faultOf(files, paths.length > 0);
  if (wrong !== null) return invalid(paths.length > 0 ? "paths" : "urls", wrong);
  const alarmAfterS = wish.alarm_after_s ?? Math.max(3 * everyS, 2 * periodS(source), dayS);
  const own = typeof wish.source === "string" ? null : JSON.stringify(source);
  // Two adds at once see each other; runs wait for an instant.
  await rows(tx, "lock table feeds in share row exclusive mode");
  const [made] = await rows<{ id: number }>(
    tx,
    `insert into feeds (source, description, files, every_s, alarm_after_s, replace_source)
     select ?, ?::jsonb, ?::text[], ?, ?, ?
     where not exists (select from feeds where source = ? and files = ?::text[]) returning id`,
    [source.name, own, files, everyS, alarmAfterS, replaces, source.name, files],
  );
  if (made === undefined) return already("feed", source.name, "added");
  const told = files.map(withoutQuery);
  const details = { source: source.name, files: told, every_s: everyS, replace_source: replaces };
  return done(made.id, "add", details);
});

const noFiles = "The description of this source names no address: give one for each of its files";

/** The source of this name, or the one that an operator describes; or the fault. */
function sourceOf(wish: string | object): Source | string {
  if (typeof wish === "string")
    return sourceNamed(wish) ?? "There is no such source: `operator source list` shows all";
  const read = readSource(wish);
  return "source" in read ? read.source : read.faults.join("; ");
}

/** The fault of addresses and paths that no feed can have; null when all are good. */
function faultOf(files: readonly string[], arePaths: boolean): string | null {
  const isGood = (address: string): boolean => {
    const url = URL.canParse(address) ? new URL(address) : null;
    return url !== null && /^https?:$/.test(url.protocol) && url.username + url.hash === "";
  };
  // More stars would take an endless time where they do not match.
  const isWrong = (path: string): boolean =>
    /^[/\\]|(^|[/\\])\.\.([/\\]|$)|\*.*\/|\*.*\*.*\*/.test(path) || URL.canParse(path);
  if (!arePaths && !files.every(isGood))
    return "An address should begin with https://, and have neither a user nor a fragment";
  return arePaths && files.some(isWrong)
    ? "A path should lie below FEEDS_FOLDER, without .., and * may stand in its file name only, twice at most"
    : null;
}

/** How often a source changes by its description, seconds; 0 where it does not say. */
function periodS({ every = "" }: Source): number {
  const [, count = 0, unit] = /^(\d+)(min|h|d)$/.exec(every) ?? [];
  return Number(count) * (unit === "min" ? 60 : unit === "h" ? hourS : dayS);
}

/** An act on a feed that is, or is not, paused; `set` gives the columns that change. */
const change = <Input extends TObject>(
  verb: "run" | "pause" | "resume",
  input: Input,
  set: (now: Knex.Raw, wish: Static<Input>) => object,
) =>
  operatorAct(input, rowId, async (tx, wish, id) => {
    const sql = "select paused_at is not null as paused from feeds where id = ? for update";
    const [feed] = await rows<{ paused: boolean }>(tx, sql, [id]);
    if (feed === undefined) return unknown("feed", id);
    if (feed.paused && verb !== "resume") return changed("feed", id, "is paused: resume it first");
    if (!feed.paused && verb === "resume") return already("feed", id, "running");
    await tx("feeds")
      .where({ id })
      .update(set(tx.raw("server_now()"), wish));
    const undo = { run: null, pause: "resume", resume: "pause" }[verb];
    return {
      ...done(id, verb, wish as object),
      undo: undo === null ? null : { path: `/feeds/${id}/${undo}` },
    };
  });

const forced = Type.Object({
  force: Type.Optional(Type.Array(oneOf(guardNames), { maxItems: 10 })),
});

/** An operator has a feed run now, and imported even if nothing is new; `force` names guards that its next run ignores. */
export const runFeed = change("run", forced, (due_at, { force = [] }) => {
  return { due_at, seen: "null", force };
});

export const pauseFeed = change("pause", nothing, (paused_at) => ({ paused_at }));

/** It is due at once, and its silence counts from now. */
export const resumeFeed = change("resume", nothing, (due_at) => {
  return { paused_at: null, due_at, news_at: due_at, failures: 0 };
});

/** What it has imported stays, and so do the rows of its runs. A run that is under way goes on to its end. */
export const removeFeed = operatorAct(nothing, rowId, async (tx, _, id) => {
  const sql = "delete from feeds where id = ? returning source, files";
  const [gone] = await rows<{ source: string; files: string[] }>(tx, sql, [id]);
  return gone === undefined
    ? unknown("feed", id)
    : done(id, "remove", { ...gone, files: gone.files.map(withoutQuery) });
});

const done = (id: number, verb: string, details: object = {}): Done<{ id: number }> => ({
  ...{ value: { id }, action: `feed.${verb}`, subject: `feed ${id}`, details },
});
