import { wrongFile } from "#src/import/read-text.ts";

// Keys in small letters without signs and namespaces, as ArcGIS, OData, OGC, Spring, Django, CKAN and others have them.
const things = "(page|result|record|item|row|feature|station|element|object|document|entrie|hit)s?";
const more = new RegExp(
  `^(exceededtransferlimit|\\w*limit(exceeded|reached)|(is|was)?(truncated|partial|incomplete)(results?)?|(has)?(more|next)(${things}|data)?(available|remain(ing)?)?)$`,
);
const next =
  /^(odata)?next(page|records)?(link|url|uri|href|token|cursor|offset|start|skip|number|key|id|marker)?$|^(continuation(token)?|continue|lastevaluatedkey)$/;
const noNext = /^(|null|undefined|none|false|0|#|-|\{\}|\[\])$/i;
const total = new RegExp(
  `^((?<all>(total|full)(number)?(of)?(count|size|found|${things})?|num(ber)?(found|matched|of${things}))|(odata)?count|found|matched|(nb?)?hits|${things}(total|count))$`,
);
const pages = /^((total|last|num|nb)pages?|pages|pages?(count|total))$/;
const ends = /^((is)?(complete|last|final)(page)?|(is)?end|eof|done)$/;
/** Objects beside a list that are about it, and not about something else that is counted. */
const about =
  /^(meta|pag|links?$|response|results?$|data$|d$|hits|info$|header|cursor|properties|view$)/;

/**
 * What the values around a list of `items` at `path` say of more than these; undefined if they say nothing. A link to a
 * next page says nothing where a total says that all are here (`isAll`): CKAN always has one.
 */
export function cutSign(
  around: unknown,
  path: string[],
  items: number,
  isAll = false,
): string | undefined {
  const all = Object.entries(Object(around) as Record<string, unknown>).map(readSign);
  isAll ||= all.some(({ name, number }) => number === items && total.exec(name)?.groups!["all"]);
  for (const { key, value, name, said, number } of all) {
    const isCut =
      (more.test(name) && /^(true|1|y|yes)$/i.test(said)) ||
      /^(partial|truncated|incomplete)(_|$)/i.test(said) ||
      (ends.test(name) && /^(false|no)$/i.test(said)) ||
      (next.test(name) && !isAll && !noNext.test(said)) ||
      (total.test(name) && number > items) ||
      (pages.test(name) && number > 1) ||
      (name === "links" && !isAll && /"rel":\[?"next"/.test(JSON.stringify(value)));
    if (isCut) return `${key}: ${said.slice(0, 80)}`;
    const isAbout = typeof value === "object" && (key === path[0] || about.test(name));
    const below = isAbout ? cutSign(value, path.slice(1), items, isAll) : undefined;
    if (below !== undefined) return below;
  }
  return undefined;
}

function readSign([key, value]: [string, unknown]) {
  const name = key.toLowerCase().replace(/^.*:|[^a-z]/g, "");
  const { value: inner, href = inner } = Object(value) as { value?: unknown; href?: unknown };
  const plain = typeof value === "object" ? (href ?? (next.test(name) ? value : "")) : value;
  const said = JSON.stringify(plain)?.replaceAll('"', "") ?? "";
  const number = Number(/^[\d,. ]+$/.exec(said)?.[0].replace(/\D/g, ""));
  return { key, value, name, said, number };
}

/** Throws a wrong-file fault for a list that says itself that it is a part. */
export function refuseCut(around: unknown, records: string, items: number): void {
  const sign = cutSign(around, records.split("."), items);
  if (sign !== undefined)
    throw wrongFile(
      `its list has ${items} records and says itself that there are more (${sign})`,
      "Fetch all of it, or join its pages in one file. If it is whole, import it again with `--force half`.",
    );
}
