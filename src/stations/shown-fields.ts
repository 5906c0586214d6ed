import { Type } from "typebox";
import type { Point } from "#src/domain/geo.ts";
import { shownMember } from "#src/domain/shown-source.ts";
import type { StationRow } from "#src/feed/feed.ts";
import { type Db, inTransaction, rows, type Statements, type Tx } from "#src/infrastructure/db.ts";
import { grouped, slices } from "#src/infrastructure/lists.ts";
import { already, invalid, operatorAct, unknown } from "#src/operators/act.ts";
import { idText, oneOf } from "#src/operators/inputs.ts";
import {
  fileValue,
  type HandEdits,
  type HandField,
  handFields,
  isSameValue,
  noEdits,
  readEdits,
  saveEdits,
  setFile,
  type Values,
  valuesOf,
  withValues,
} from "#src/stations/hand-edits.ts";

/** The sources that win a field of joined stations, the first one first. */
export type FieldSources = ReadonlyMap<HandField, readonly string[]>;

/** Of the fields that show a part's value: what the station's own source says, and the part. */
export type Own = Partial<Record<HandField, { file: string | Point; of: string }>>;

interface Sourced extends StationRow {
  source: string;
}

/** A joined station as it is stored, and its parts by id. */
export interface Whole {
  station: Sourced;
  edits: HandEdits;
  own: Own;
  parts: readonly Sourced[];
}

/** Stations of an act, and of an import's transaction: until it commits, other writers of them wait. */
const [actMax, chunkWholes] = [5000, 500];
const sourcesMax = 20;

/**
 * What a joined station shows by the rules (decisions 14.42): of each field the value of the first source in its list
 * that says something, of other fields the own source's value. What is set by hand stays; `edits` then has the value
 * that a field goes back to.
 */
export function shownFields({ station, edits, own, parts }: Whole, rules: FieldSources) {
  const values = valuesOf(station);
  const self = { ...station, values: { ...values } };
  for (const field of handFields) {
    const file = own[field]?.file ?? fileValue(edits, field);
    if (file !== null) Object.assign(self.values, { [field]: file });
  }
  const members = [self, ...parts.map((part) => ({ ...part, values: valuesOf(part) }))] as const;
  const next: Omit<Whole, "parts"> = { station, edits: { ...edits }, own: {} };
  for (const field of handFields) {
    const order = rules.get(field) ?? [];
    const chosen = shownMember([...members], order, (one) => one.values[field] !== "");
    const value = chosen.values[field];
    if (chosen !== self) next.own[field] = { file: self.values[field], of: chosen.id };
    if (fileValue(edits, field) === null) Object.assign(values, { [field]: value });
    else setFile(next.edits, field, value);
  }
  return { ...next, station: withValues(station, values) };
}

/**
 * A row of the own source's file: the fields that show a part's value go on showing it, and `own` takes the file's.
 * `stored` is the station as it is stored, with its `edits`.
 */
export function keepShown(
  file: StationRow,
  stored: StationRow,
  edits: HandEdits | undefined,
  own: Own,
): { station: StationRow; own: Own } {
  const [says, shown] = [valuesOf(file), valuesOf(stored)];
  const kept: Partial<Values> = {};
  const next: Own = {};
  for (const [field, { of }] of Object.entries(own) as [HandField, { of: string }][]) {
    const byHand = edits === undefined ? null : fileValue(edits, field);
    Object.assign(kept, { [field]: byHand ?? shown[field] });
    next[field] = { file: says[field], of };
  }
  return { station: withValues(file, kept), own: next };
}

export async function readOwn(on: Statements, ids: readonly string[]): Promise<Map<string, Own>> {
  const sql = "select station_id, fields from station_own where station_id = any(?::text[])";
  const found = await rows<{ station_id: string; fields: Own }>(on, sql, [ids]);
  return new Map(found.map(({ station_id: id, fields }) => [id, fields]));
}

export async function saveOwn(tx: Tx, id: string, own: Own): Promise<void> {
  if (Object.keys(own).length === 0)
    await rows(tx, "delete from station_own where station_id = ?", [id]);
  else
    await rows(
      tx,
      `insert into station_own (station_id, fields) values (?, ?::jsonb)
       on conflict (station_id) do update set fields = excluded.fields`,
      [id, JSON.stringify(own)],
    );
}

export async function readFieldSources(on: Statements): Promise<FieldSources> {
  const sql = "select field, sources from field_sources order by field";
  const found = await rows<{ field: HandField; sources: string[] }>(on, sql);
  return new Map(found.map(({ field, sources }) => [field, sources]));
}

/**
 * Says which source wins a field of joined stations, the first one that says something; none: the own source of each.
 * 5,000 stations change at once, `left` others at the next import of one of their sources, or by the same act.
 */
export const setFieldSources = operatorAct(
  Type.Object(
    { sources: Type.Array(idText(40), { maxItems: sourcesMax }) },
    { additionalProperties: false },
  ),
  oneOf(handFields),
  async (tx, { sources }, field) => {
    if (!handFields.includes(field)) return unknown("field", field);
    if (new Set(sources).size < sources.length) return invalid("sources", "Has a source twice");
    await rows(tx, "lock table field_sources in share row exclusive mode");
    const before = (await readFieldSources(tx)).get(field) ?? [];
    if (sources.length === 0) await rows(tx, "delete from field_sources where field = ?", [field]);
    else
      await rows(
        tx,
        `insert into field_sources (field, sources) values (?, ?)
         on conflict (field) do update set sources = excluded.sources`,
        [field, sources],
      );
    const wrong = await wrongOf(tx, await wholesWith(tx, null));
    await stamp(tx, await showFields(tx, wrong.slice(0, actMax)));
    const [changed, left] = [Math.min(wrong.length, actMax), Math.max(0, wrong.length - actMax)];
    if (changed === 0 && before.join() === sources.join()) return already("field", field, "so");
    return {
      value: { field, sources, changed, left },
      action: "station.field-sources",
      subject: `field ${field}`,
      details: { before, sources, changed, left },
      undo: { path: `/field-sources/${field}`, body: { sources: before } },
    };
  },
);

/** How many of the `joined` stations would `change` if these sources won the field. Changes nothing. */
export async function previewFieldSources(db: Db, field: HandField, sources: readonly string[]) {
  const rules = new Map(await readFieldSources(db)).set(field, sources);
  const wholes = await wholesWith(db, null);
  let change = 0;
  for (const some of slices(wholes, chunkWholes)) change += (await wrongOf(db, some, rules)).length;
  return { joined: wholes.length, change };
}

/** The sources that joined stations have, by name. */
export const joinedSources = async (db: Db): Promise<string[]> =>
  (
    await rows<{ source: string }>(
      db,
      `select distinct source from station_pairs join stations on id in (station_id, into_id)
       where verdict = 'joined' order by 1`,
    )
  ).map(({ source }) => source);

/** Shows in the stations that are joined with some of `source` what the rules say; after its import. */
export async function showSource(db: Db, source: string): Promise<void> {
  for (const some of slices(await wholesWith(db, source), chunkWholes)) {
    const wrong = await wrongOf(db, some);
    if (wrong.length > 0)
      await inTransaction(db, async (tx) => stamp(tx, await showFields(tx, wrong)));
  }
}

/** Shows in joined stations what the rules say. Gives those that have changed, for the stamp at the transaction's end. */
export async function showFields(tx: Tx, ids: readonly string[]): Promise<Shown> {
  if (ids.length === 0) return { served: [], gone: [] };
  const sql = "select from stations where id = any(?::text[]) order by id for no key update";
  await rows(tx, sql, [ids]);
  // Later statements than the lock, which may have waited for an edit or for other rules.
  const rules = await readFieldSources(tx);
  const changed = (await wholesOf(tx, ids)).flatMap((whole) => {
    const next = shownFields(whole, rules);
    return isShown(whole, next) ? [] : [{ next, removed: whole.station.removed }];
  });
  for (const { next } of changed) {
    const { id, lat, lon, brand, name, addr, grades_sold, opening_hours } = next.station;
    await saveEdits(tx, next.edits);
    await saveOwn(tx, id, next.own);
    const facts = { lat, lon, brand, name, addr, grades_sold, opening_hours };
    await tx("stations")
      .where({ id })
      .update({ ...facts, updated_at: tx.raw("server_now()") });
  }
  const [gone, served] = [true, false].map((isGone) =>
    changed.filter(({ removed }) => removed === isGone).map(({ next }) => next.station.id),
  );
  return { served: served!, gone: gone! };
}

interface Shown {
  served: string[];
  gone: string[];
}

async function stamp(tx: Tx, { served, gone }: Shown): Promise<void> {
  await rows(tx, "select feed_stamp(?::text[], false)", [served]);
  await rows(tx, "select feed_stamp(?::text[], true)", [gone]);
}

/** Stations with parts; those that are of `source`, or have a part of it. */
const wholesWith = async (on: Statements, source: string | null): Promise<string[]> =>
  (
    await rows<{ id: string }>(
      on,
      `select distinct whole.id from station_pairs join stations part on part.id = station_id
         join stations whole on whole.id = into_id
       where verdict = 'joined' and (?::text is null or ? in (part.source, whole.source)) order by 1`,
      [source, source],
    )
  ).map(({ id }) => id);

/** Those that do not show what the rules say. */
async function wrongOf(
  on: Statements,
  ids: readonly string[],
  given?: FieldSources,
): Promise<string[]> {
  const rules = given ?? (await readFieldSources(on));
  const wholes = await wholesOf(on, ids);
  return wholes
    .filter((whole) => !isShown(whole, shownFields(whole, rules)))
    .map(({ station }) => station.id);
}

async function wholesOf(on: Statements, ids: readonly string[]) {
  const columns = "id, source, lat, lon, brand, name, addr, grades_sold, opening_hours";
  const sql = `select ${columns}, removed_at is not null as removed from stations where id = any(?::text[]) order by id`;
  const stations = await rows<Sourced & { removed: boolean }>(on, sql, [ids]);
  const partsSql = `select ${columns}, into_id as whole from station_pairs join stations on id = station_id
     where verdict = 'joined' and not gone and into_id = any(?::text[]) order by id`;
  const parts = await rows<Sourced & { whole: string }>(on, partsSql, [ids]);
  const [edits, own] = [await readEdits(on, ids), await readOwn(on, ids)];
  const partsOf = grouped(parts, ({ whole }) => whole);
  return stations.map((station) => ({
    ...{ station, edits: edits.get(station.id) ?? noEdits(station.id) },
    ...{ own: own.get(station.id) ?? {}, parts: partsOf.get(station.id) ?? [] },
  }));
}

const isShown = (now: Whole, then: Omit<Whole, "parts">): boolean =>
  handFields.every((field) => {
    const [before, after] = [now.own[field], then.own[field]];
    return (
      isSameValue(valuesOf(now.station)[field], valuesOf(then.station)[field]) &&
      isSameValue(fileValue(now.edits, field) ?? "", fileValue(then.edits, field) ?? "") &&
      isSameValue(before?.file, after?.file) &&
      before?.of === after?.of
    );
  });
