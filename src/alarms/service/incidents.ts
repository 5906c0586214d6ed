import { Type } from "typebox";
import type { ConsoleIncident, ConsolePublicText } from "#src/contract/console.ts";
import type { Refusal } from "#src/contract/refusals.ts";
import { feeds } from "#src/domain/service-state.ts";
import { type Db, rows, type Tx } from "#src/infrastructure/db.ts";
import { compileShape, type Quarantine, stored } from "#src/infrastructure/quarantine.ts";
import { msOf } from "#src/marks/marks.ts";
import { already, invalid, noId, operatorAct, unknown } from "#src/operators/act.ts";
import { changeOf } from "#src/operators/operator-log.ts";
import { line, oneOf, orNull, rowId } from "#src/operators/inputs.ts";

const { text, time, word } = stored;
const publicText = Type.Object({ en: text, ru: orNull(text) });
const incidentShape = compileShape(
  Type.Object({
    ...{ title: publicText, feeds: Type.Array(word(feeds)), opened: time, closed: orNull(time) },
    updates: Type.Array(Type.Object({ at: time, text: publicText })),
  }),
);

/** Open incidents, and closed ones of the last `days` days, as far as they can be read; the newest first. */
export async function listIncidents(
  db: Db,
  days: number,
  quarantine: Pick<Quarantine, "sift">,
): Promise<ConsoleIncident[]> {
  const sql = `select i.id, jsonb_build_object('en', title, 'ru', title_ru) as title, feeds,
       ${msOf("opened_at")} as opened, ${msOf("closed_at")} as closed,
       (select jsonb_agg(jsonb_build_object('at', ${msOf("at")},
           'text', jsonb_build_object('en', text, 'ru', text_ru)) order by u.id)
         from incident_updates u where u.incident_id = i.id) as updates
     from incidents i
     where closed_at is null or closed_at > server_now() - ?::int * interval '1 day'
     order by closed_at is null desc, i.id desc limit ${shownMax}`;
  const found = await rows<ConsoleIncident>(db, sql, [days]);
  return quarantine.sift("incidents", found, ({ id }) => String(id), incidentShape);
}

const shownMax = 200;

/** Longest texts, in characters. */
const titleMax = 120;
const textMax = 1000;
/** `text_ru` is for readers of Russian: null or "" when nobody has written it. */
const told = { text: line(0, textMax), text_ru: Type.Optional(orNull(line(0, textMax))) };
const opened = Type.Object({
  title: line(0, titleMax),
  title_ru: Type.Optional(orNull(line(0, titleMax))),
  feeds: Type.Optional(Type.Array(oneOf(feeds), { maxItems: feeds.length })),
  ...told,
});

const inBoth = (en: string, ru: string | null = null): ConsolePublicText => ({
  en,
  ru: ru || null,
});

/** An operator tells everybody of an incident. */
export const openIncident = operatorAct(
  opened,
  noId,
  async (tx, { feeds: touched = [], ...wish }) => {
    const title = inBoth(wish.title, wish.title_ru);
    const text = inBoth(wish.text, wish.text_ru);
    const wrong = faultIn("title", title, titleMax) ?? faultIn("text", text, textMax);
    if (wrong !== null) return wrong;
    const sql =
      "insert into incidents (title, title_ru, feeds) values (?, ?, ?::text[]) returning id";
    const [made] = await rows<{ id: number }>(tx, sql, [title.en, title.ru, [...new Set(touched)]]);
    const { id } = made!;
    await addUpdate(tx, id, text);
    return {
      ...{ value: { id }, action: "incident.open", subject: `incident ${id}` },
      details: { title, text, feeds: touched },
    };
  },
);

const telling = (isEnd: boolean) =>
  operatorAct(Type.Object(told), rowId, async (tx, wish, id) => {
    const text = inBoth(wish.text, wish.text_ru);
    const wrong = faultIn("text", text, textMax);
    if (wrong !== null) return wrong;
    const sql = "select closed_at is null as open from incidents where id = ? for update";
    const [known] = await rows<{ open: boolean }>(tx, sql, [id]);
    if (known === undefined) return unknown("incident", id);
    if (!known.open) return already("incident", id, "closed");
    await addUpdate(tx, id, text);
    if (isEnd) await rows(tx, "update incidents set closed_at = server_now() where id = ?", [id]);
    return {
      ...{ value: { id }, action: isEnd ? "incident.close" : "incident.update" },
      ...{ subject: `incident ${id}`, details: { text } },
    };
  });

/** An operator tells more about an open incident, or that it is over. */
export const updateIncident = telling(false);
export const closeIncident = telling(true);

const corrected = Type.Object(
  {
    title: Type.Optional(line(0, titleMax)),
    title_ru: opened.properties.title_ru,
    text: Type.Optional(told.text),
    text_ru: told.text_ru,
  },
  { minProperties: 1, additionalProperties: false },
);

/** An operator corrects the title and the newest text of an incident. Its former words stay in the operator's log. */
export const editIncident = operatorAct(corrected, rowId, async (tx, wish, id) => {
  const [found] = await rows<{ title: ConsolePublicText; text: ConsolePublicText; update: number }>(
    tx,
    `select jsonb_build_object('en', title, 'ru', title_ru) as title,
       jsonb_build_object('en', u.text, 'ru', u.text_ru) as text, u.id as update
     from incidents i join incident_updates u on u.incident_id = i.id
     where i.id = ? order by u.id desc limit 1 for update of i`,
    [id],
  );
  if (found === undefined) return unknown("incident", id);
  const { update, ...old } = found;
  const title = inBoth(wish.title ?? old.title.en, wish.title_ru ?? old.title.ru);
  const text = inBoth(wish.text ?? old.text.en, wish.text_ru ?? old.text.ru);
  const wrong = faultIn("title", title, titleMax) ?? faultIn("text", text, textMax);
  if (wrong !== null) return wrong;
  const details = changeOf(old, { title, text }, ["title", "text"]);
  if (Object.keys(details.after).length === 0) return already("incident", id, "like this");
  const titleSql = "update incidents set title = ?, title_ru = ? where id = ?";
  await rows(tx, titleSql, [title.en, title.ru, id]);
  const textSql = "update incident_updates set text = ?, text_ru = ? where id = ?";
  await rows(tx, textSql, [text.en, text.ru, update]);
  return { value: { id }, action: "incident.edit", subject: `incident ${id}`, details };
});

const addUpdate = (tx: Tx, id: number, { en, ru }: ConsolePublicText): Promise<unknown> =>
  rows(tx, "insert into incident_updates (incident_id, text, text_ru) values (?, ?, ?)", [
    id,
    en,
    ru,
  ]);

/** The fault of a text that cannot be published; null for a good text. */
function faultIn(field: string, text: ConsolePublicText, most: number): Refusal | null {
  for (const one of [text.en, ...(text.ru === null ? [] : [text.ru])]) {
    if (one.trim() === "") return invalid(field, "must not be empty");
    if ([...one].length > most) return invalid(field, `must have at most ${most} characters`);
    if (/\p{C}/u.test(one)) return invalid(field, "must not contain control characters");
  }
  return null;
}
