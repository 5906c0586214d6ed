import type { Knex } from "knex";

/**
 * The call that takes an operator's act back is stored with its entry in the log (decisions 13.28). Entries of earlier
 * versions get the one that was derived from them until now, so that nothing loses its undo. Locks the log for about a
 * second for each 50,000 such entries: acts of operators wait, marks do not. What processes of the previous version do
 * until they end has no undo on the page of decisions.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw("alter table operator_log add column undo jsonb");
  for (let last = "0"; ;) {
    const { rows } = (await knex.raw(
      `select l.id, action, subject, details, to_jsonb(e) as edits
       from operator_log l left join station_edits e on 'station ' || e.station_id = subject
       where l.id > ? and action = any(?::text[]) order by l.id limit 5000`,
      [last, Object.keys(undos)],
    )) as { rows: Entry[] };
    if (rows.length === 0) return;
    last = rows.at(-1)!.id;
    const made = rows.flatMap((entry) => {
      const undo = undos[entry.action]!(entry, subjectId(entry), entry.details);
      return undo === null ? [] : [{ id: entry.id, undo }];
    });
    await knex.raw(
      `update operator_log l set undo = m.undo from jsonb_to_recordset(?::jsonb) as m (id bigint, undo jsonb)
       where l.id = m.id`,
      [JSON.stringify(made)],
    );
  }
}

export async function down(): Promise<void> {
  throw new Error("migrations go forward only: restore a backup instead");
}

interface Entry {
  id: string;
  action: string;
  subject: string;
  details: Details;
  edits: Record<string, unknown> | null;
}
type Details = Record<string, unknown> & {
  before?: Record<string, unknown>;
  after?: Record<string, unknown>;
};
type Undo = (entry: Entry, id: string, details: Details) => object | null;

const subjectId = ({ action, subject }: Entry): string => {
  const words = action.startsWith("limit-request.") ? 2 : 1;
  return encodeURIComponent(subject.split(" ").slice(words).join(" "));
};
const ms = (time: unknown): number => (typeof time === "string" ? Date.parse(time) : 0);

const block =
  (noun: "reporter" | "network"): Undo =>
  (_, id, { before, until }) => {
    const last = noun === "network" ? ms(until) : Math.max(ms(until), ms(before));
    const former = ms(before) > Date.now() ? ms(before) : null;
    return { path: `/${noun}s/${id}/block`, body: { until: former }, until: last };
  };

/** A decision about one mark; those about many have their record. */
const review: Undo = ({ subject }, id) =>
  subject.startsWith("mark ") ? { path: `/review/${id}/undo` } : null;

/** Entries of the first versions do not say what was before. */
const settings =
  (nouns: string): Undo =>
  (_, id, { before, after }) => {
    if (before === undefined || after === undefined || Object.keys(before).length === 0)
      return null;
    const { expires_at: expires, ...others } = before;
    const end = expires === null ? null : ms(expires);
    const body = { ...others, ...(expires === undefined ? {} : { expires: end }), was: after };
    return { method: "PATCH", path: `/${nouns}/${id}`, body };
  };

/** What the imports have as it was goes back to the imports. */
const edit: Undo = ({ edits }, id, { before, after }) => {
  if (before === undefined || after === undefined) return null;
  const text = (value: unknown): string => {
    const { lat, lon } = (value ?? {}) as { lat?: number; lon?: number };
    return lat === undefined ? JSON.stringify(value ?? null) : `${lat},${lon}`;
  };
  if (Object.keys(before).every((field) => text(before[field]) === text(after[field]))) return null;
  const own = { ...edits, file_position: { lat: edits?.["file_lat"], lon: edits?.["file_lon"] } };
  const file = own as Record<string, unknown>;
  const isOfFile = (field: string): boolean => text(file[`file_${field}`]) === text(before[field]);
  const ofFile = Object.keys(before).filter(isOfFile);
  const ofHand = Object.entries(before).filter(([field]) => !ofFile.includes(field));
  const back = ofFile.length > 0 ? { from_file: ofFile } : {};
  const body = { ...Object.fromEntries(ofHand), ...back, was: after };
  return { method: "PATCH", path: `/stations/${id}`, body };
};

const post =
  (path: (id: string) => string, body?: (details: Details) => object): Undo =>
  (_, id, details) => ({
    path: path(id),
    ...(body === undefined ? {} : { body: body(details) }),
  });
const suggestion = post((id) => `/suggestions/${id}/undo`);
const close = post(
  (id) => `/stations/${id}/close`,
  () => ({}),
);
const limitRequest = post((id) => `/limit-requests/${id}/undo`);

const undos: Readonly<Record<string, Undo>> = {
  "review.approve": review,
  "review.reject": review,
  "reporter.block": block("reporter"),
  "network.block": block("network"),
  "suggestion.done": suggestion,
  "suggestion.dismiss": suggestion,
  "station.edit": edit,
  "station.add": close,
  "station.close": post((id) => `/stations/${id}/reopen`),
  "station.reopen": close,
  "station.merge": post((id) => `/stations/${id}/split`),
  "station.split": post(
    (id) => `/stations/${id}/merge`,
    ({ from }) => ({ other: from }),
  ),
  "station.field-sources": post(
    (id) => `/field-sources/${id}`,
    ({ before }) => ({ sources: before }),
  ),
  "limit-request.approve": limitRequest,
  "limit-request.reject": limitRequest,
  "partner.update": settings("partners"),
  "partner.launch": (_, id, { launch_until: until }) =>
    ms(until) === 0 ? null : { method: "DELETE", path: `/partners/${id}/launch`, until: ms(until) },
  "key.update": settings("keys"),
  "key.limit": (_, id, { limited_to: to, limited_until: until }) =>
    ms(until) === 0
      ? null
      : { path: `/keys/${id}/limit`, body: { to, until: null }, until: ms(until) },
  "brand.alias": (_, id, { before }) =>
    typeof before === "string"
      ? { path: `/brands/${id}/alias`, body: { brand: before } }
      : { method: "DELETE", path: `/brands/${id}/alias` },
  "brand.unalias": post(
    (id) => `/brands/${id}/alias`,
    ({ brand }) => ({ brand }),
  ),
  "feed.pause": post((id) => `/feeds/${id}/resume`),
  "feed.resume": post((id) => `/feeds/${id}/pause`),
};
