import { createHash } from "node:crypto";
import { rows, type Statements } from "#src/infrastructure/db.ts";
import { grouped, slices } from "#src/infrastructure/lists.ts";

const [idLength, hashLength, askedAtOnce] = [64, 23, 5000];

/**
 * `<label>-<own id>` where that is an id of ours, else with a hash in place of the own id, so that two own ids never
 * meet (decisions 14.43).
 */
export function idOf(label: string, own: string): string {
  const id = `${label}-${own}`;
  return id.length <= idLength && plainOf(own) !== null ? id : hashedId(label, own);
}

export const hashedId = (label: string, own: string): string => `${label}-${hashOf(own)}`;

/** The id that versions before 14.43 made: strange characters were hyphens, and own ids could meet. */
export function earlierIdOf(label: string, own: string): string {
  const id = `${label}-${own.replace(/=+$/, "").replace(/[^A-Za-z0-9_-]+/g, "-")}`;
  return id.length <= idLength ? id : hashedId(label, own);
}

/** An own id that can be a part of ours, and that no hash is like; else null. */
const plainOf = (own: string): string | null =>
  /^(?![0-9a-f]{23}$)[A-Za-z0-9_-]+$/.test(own) ? own : null;

// Lone surrogates would all be one letter in UTF-8.
const hashOf = (own: string): string =>
  createHash("sha256")
    .update(/\p{Cs}/u.test(own) ? JSON.stringify(own) : own)
    .digest("hex")
    .slice(0, hashLength);

/** Our id of an object that OpenStreetMap writes as `node/123`; any other text as it is. */
export const stationIdIn = (text: string): string =>
  text.replace(/^(?:(n)ode|(w)ay|(r)elation)\/(?=\d+$)/, "$1$2$3");

/** A station, or the one that it is a part of, by an id that `source` has for it. */
export interface OwnMatch {
  id: string;
  source: string;
  /** False if it is out of service. */
  open: boolean;
}

/**
 * The stations that have these ids at their sources, by the texts: an own id as the source writes it, or `source:id`
 * (decisions 14.47). A text that nobody's id is has no entry.
 */
export async function stationsByOwnId(
  on: Statements,
  texts: readonly string[],
): Promise<Map<string, OwnMatch[]>> {
  const asked = texts.flatMap((text) => {
    const [, source = "", own = ""] = /^([\w-]+):(.+)$/s.exec(text) ?? [];
    return [{ text, source: null, own: text }, ...(own === "" ? [] : [{ text, source, own }])];
  });
  const found: (OwnMatch & { text: string })[] = [];
  for (const some of slices(asked, askedAtOnce)) {
    const sql = "select * from stations_by_own_id(?::text[], ?::text[], ?::text[])";
    const sources = some.map(({ source }) => source);
    const owns = [plainOf, hashOf].map((of) => some.map(({ own }) => of(own)));
    for (const { n, ...one } of await rows<OwnMatch & { n: number }>(on, sql, [sources, ...owns]))
      found.push({ ...one, text: some[n - 1]!.text });
  }
  return grouped(found, ({ text }) => text);
}

/**
 * The id of the station that a text names: by its id, or by one of its source (decisions 14.47); else the text.
 * `several`: sources have different ones, the candidates in words. Those out of service count where there is no other.
 */
export async function stationNamed(
  on: Statements,
  text: string,
): Promise<{ id: string; several?: string }> {
  const id = stationIdIn(text);
  const [known] = /^[\w-]+$/.test(id)
    ? await rows(on, "select from stations where id = ?", [id])
    : [];
  const all = (await stationsByOwnId(on, [text])).get(text) ?? [];
  const open = all.filter((one) => one.open);
  const found = open.length > 0 ? open : all;
  const several = severalOf(text, found);
  if (known !== undefined || several === null) return { id: known ? id : (found[0]?.id ?? id) };
  return { id, several: `Several sources have this id: name one of ${several}` };
}

/**
 * What a person can choose from, "it-mimit:7 (it-mimit-7), es:7 (es-7)", where these are several stations; null for one,
 * in whatever sources, and for none.
 */
export const severalOf = (own: string, found: readonly OwnMatch[]): string | null =>
  new Set(found.map(({ id }) => id)).size <= 1
    ? null
    : found.map(({ source, id }) => `${source}:${own} (${id})`).join(", ");
