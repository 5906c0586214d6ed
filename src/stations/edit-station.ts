import { randomBytes } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { type Static, Type } from "typebox";
import { isRefusal, type Refusal } from "#src/contract/refusals.ts";
import { grades, readGrades } from "#src/domain/vocabulary.ts";
import type { HandSet } from "#src/contract/console.ts";
import type { StationRow } from "#src/feed/feed.ts";
import { cleanText } from "#src/import/clean-text.ts";
import { hoursMax } from "#src/import/osm-sold.ts";
import { type Db, rows, type Tx } from "#src/infrastructure/db.ts";
import { already, changedSince, invalid, noId, operatorAct, unknown } from "#src/operators/act.ts";
import { line, oneOf, stationId } from "#src/operators/inputs.ts";
import { undoOf } from "#src/operators/operator-log.ts";
import { hoursFault } from "#src/stations/opening-hours.ts";
import {
  fileValue,
  type HandEdits,
  type HandField,
  handFields,
  handSetOf,
  isSameValue,
  noEdits,
  readEdits,
  saveEdits,
  setFile,
  textFields,
  type Values,
  valuesOf,
  withValues,
} from "#src/stations/hand-edits.ts";

/** The console's path of a station. */
export const pathOf = (id: string): string => `/stations/${encodeURIComponent(id)}`;

/** A station as an operator sees it, with its edits by hand. */
export interface StationCard extends StationRow {
  source: string;
  in_service: boolean;
  by_hand: HandSet;
}

type Some<T> = { [Name in keyof T]?: T[Name] | undefined };

/** Longest texts in characters, as imports cut them. */
export const stationTextMax = {
  ...{ name: 120, brand: 80, addr: 200 },
  ...{ grades_sold: 60, opening_hours: hoursMax },
} as const;
const point = Type.Object(
  {
    lat: Type.Number({ minimum: -90, maximum: 90 }),
    lon: Type.Number({ minimum: -180, maximum: 180 }),
  },
  { additionalProperties: false },
);
/** The values that the operator has seen. An old import may have stored longer texts, or other characters. */
const seen = {
  ...{ name: Type.String(), brand: Type.String(), addr: Type.String(), position: point },
  ...{ grades_sold: Type.String(), opening_hours: Type.String() },
};
/** An operator's edit of a station. */
const edit = Type.Object(
  {
    name: Type.Optional(line(0, stationTextMax.name)),
    brand: Type.Optional(line(0, stationTextMax.brand)),
    addr: Type.Optional(line(0, stationTextMax.addr)),
    grades_sold: Type.Optional(line(0, stationTextMax.grades_sold)),
    opening_hours: Type.Optional(line(0, stationTextMax.opening_hours)),
    position: Type.Optional(point),
    /** Fields that go back to the imports' values. */
    from_file: Type.Optional(Type.Array(oneOf(handFields), { maxItems: handFields.length })),
    /** The act is refused if one of these values has changed since. */
    was: Type.Optional(Type.Partial(Type.Object(seen), { additionalProperties: false })),
  },
  { minProperties: 1, additionalProperties: false },
);
type StationWish = Static<typeof edit>;

/**
 * Sets fields of a station by hand, or gives them back to the imports; imports then leave them as they are
 * (decisions 13.16, 13.17, 14.5). It is served at once, because this transaction also writes the change feed.
 */
export const editStation = operatorAct(edit, stationId, async (tx, wish, id) => {
  const found = await lockStation(tx, id);
  if (found === null) return unknown("station", id);
  const { station, edits } = found;
  const old = valuesOf(station);
  const wanted = wantedOf(wish, edits);
  if (isRefusal(wanted)) return wanted;
  const stale = changedSince(wish.was, old);
  if (stale !== null) return stale;
  const given = handFields.filter((field) => wanted[field] !== undefined);
  const back = given.filter((field) => wish.from_file?.includes(field));
  const touched = given.filter(
    (field) => back.includes(field) || !isSameValue(wanted[field], old[field]),
  );
  if (touched.length === 0) return already("station", id, "like this");
  const next = { ...old };
  const newEdits = { ...edits };
  for (const field of touched) {
    Object.assign(next, { [field]: wanted[field] });
    setFile(newEdits, field, back.includes(field) ? null : (fileValue(edits, field) ?? old[field]));
  }
  await saveEdits(tx, newEdits);
  const served = withValues(station, next);
  if (handFields.some((field) => !isSameValue(next[field], old[field])))
    await writeStation(tx, served);
  const before = only(old, touched);
  const after = only(next, touched);
  // What the imports have as it was goes back to the imports.
  const isOfFile = (field: HandField): boolean =>
    isSameValue(fileValue(newEdits, field) ?? undefined, old[field]);
  const [ofFile, ofHand] = [touched.filter(isOfFile), touched.filter((one) => !isOfFile(one))];
  const former = { ...only(old, ofHand), ...(ofFile.length > 0 ? { from_file: ofFile } : {}) };
  return {
    value: { station: cardOf(served, newEdits), before, after },
    action: "station.edit",
    subject: `station ${id}`,
    details: { before, after, ...(back.length > 0 ? { from_file: back } : {}) },
    undo: isDeepStrictEqual(before, after) ? null : undoOf(pathOf(id), former, after),
  };
});

const addition = Type.Object(
  {
    name: line(1, stationTextMax.name),
    brand: Type.Optional(line(0, stationTextMax.brand)),
    addr: Type.Optional(line(0, stationTextMax.addr)),
    ...point.properties,
  },
  { additionalProperties: false },
);

/** Adds a station that no import has; as one of the source `hand` no import takes it out of service. */
export const addStation = operatorAct(addition, noId, async (tx, { lat, lon, ...texts }) => {
  const id = `hand-${randomBytes(6).toString("hex")}`;
  const wanted = wantedOf({ ...texts, position: { lat, lon } }, noEdits(id));
  if (isRefusal(wanted)) return wanted;
  const { name = "", brand = "", addr = "" } = wanted;
  if (name === "") return invalid("name", "Must not be empty");
  await tx("stations").insert({ id, source: "hand", name, brand, addr, lat, lon });
  await rows(tx, "select feed_stamp(?::text[], false)", [[id]]);
  const details = { name, brand, address: addr, lat, lon };
  const undo = { path: `${pathOf(id)}/close`, body: {} };
  return { value: { id }, action: "station.add", subject: `station ${id}`, details, undo };
});

/** A station with its edits by hand; null for an unknown id. */
export async function findStation(db: Db, id: string): Promise<StationCard | null> {
  const [station] = await rows<Stored>(db, storedSql, [id]);
  const edits = (await readEdits(db, [id])).get(id);
  return station === undefined ? null : cardOf(station, edits ?? noEdits(id));
}

type Stored = Omit<StationCard, "by_hand">;

const storedSql = `select id, source, lat, lon, brand, name, addr, grades_sold, opening_hours, removed_at is null as in_service
     from stations where id = ?`;

/** Locks a station: two operators, or an operator and an import, change it one after the other. */
export async function lockStation(
  tx: Tx,
  id: string,
): Promise<{ station: Stored; edits: HandEdits } | null> {
  const [station] = await rows<Stored>(tx, `${storedSql} for no key update`, [id]);
  if (station === undefined) return null;
  // A later statement than the lock: in the same one it would see the edits before the wait.
  return { station, edits: (await readEdits(tx, [id])).get(id) ?? noEdits(id) };
}

export const cardOf = (station: Stored, edits: HandEdits): StationCard => ({
  ...station,
  by_hand: handSetOf(edits),
});

/** The new value of each field in the wish, or the refusal. */
function wantedOf(wish: StationWish, edits: HandEdits): Some<Values> | Refusal {
  const wanted: Some<Values> = {};
  for (const field of textFields) {
    const text = wish[field];
    if (text === undefined) continue;
    const cleaned = cleanText(text, Number.POSITIVE_INFINITY);
    const most = stationTextMax[field];
    if ([...cleaned].length > most) return invalid(field, `Must have at most ${most} characters`);
    const value = field === "grades_sold" ? readGrades(cleaned) : cleaned;
    if (value === null) return invalid(field, `Must be a comma list of ${grades.join(", ")}`);
    const fault = field === "opening_hours" && value !== "" ? hoursFault(value) : null;
    if (fault !== null) return invalid(field, `Must be opening hours as OSM writes them: ${fault}`);
    wanted[field] = value;
  }
  if (wish.position !== undefined) {
    const { lat, lon } = wish.position;
    if (!(Math.abs(lat) <= 90)) return invalid("lat", "Must be a number from -90 to 90");
    if (!(Math.abs(lon) <= 180)) return invalid("lon", "Must be a number from -180 to 180");
    if (lat === 0 && lon === 0) return invalid("lat", "0, 0 is no place of a station");
    wanted.position = { lat, lon };
  }
  for (const field of wish.from_file ?? []) {
    if (wanted[field] !== undefined)
      return invalid("from_file", `Gives ${field} back to the file, and ${field} is set as well`);
    const value = fileValue(edits, field);
    // A field that is not set by hand already has the file's value.
    if (value !== null) Object.assign(wanted, { [field]: value });
  }
  return wanted;
}

const only = (values: Values, fields: readonly HandField[]): Some<Values> =>
  Object.fromEntries(fields.map((field) => [field, values[field]]));

async function writeStation(tx: Tx, station: Stored): Promise<void> {
  const { id, lat, lon, brand, name, addr, grades_sold, opening_hours } = station;
  const facts = { lat, lon, brand, name, addr, grades_sold, opening_hours };
  await tx("stations")
    .where({ id })
    .update({ ...facts, updated_at: tx.raw("server_now()") });
  await rows(tx, "select feed_stamp(?::text[], ?::boolean)", [[id], !station.in_service]);
}
