import { wrongFile } from "#src/import/read-text.ts";

// Keys in small letters without signs, as ArcGIS, OData, OGC, Spring, Django, Laravel, Salesforce and others have them.
const more =
  /^(exceededtransferlimit|(is|was)?(truncated|partial|incomplete)(results?)?|(has)?(more|next)(pages?|results?|records?|items?|data|available)?)$/;
const next =
  /^(odata)?next((page)?(link|url|href|token|cursor)|page|recordsurl|marker)?$|^(continuation(token)?|lastevaluatedkey)$/;
const total =
  /^(odata)?count$|^total(count|records|results|items|elements|hits|size|rows|features|stations)?$|^num(ber)?(found|matched)$|^nb?hits$|^(result|record|item|row|feature)s?(total|count)$/;
const pages = /^((total|last|num|nb)pages?|pages|pages?(count|total))$/;
/** Objects beside a list that are about it, and not about something else that is counted. */
const about = /^(meta|pag|links$|response|results?$|data$|d$|hits|info$|header|cursor|properties)/;

/** What the values around a list of `items` at `path` say of more than these; undefined if they say nothing. */
export function cutSign(around: unknown, path: string[], items: number): string | undefined {
  for (const [key, value] of Object.entries(Object(around) as Record<string, unknown>)) {
    const name = key.toLowerCase().replace(/[^a-z]/g, "");
    const { value: inner, href = inner } = Object(value) as { value?: unknown; href?: unknown };
    const said =
      JSON.stringify(typeof value === "object" ? href : value)?.replaceAll('"', "") ?? "";
    const number = /^\d+$/.test(said) ? Number(said) : 0;
    const isCut =
      (more.test(name) && /^(true|1|y|yes)$/i.test(said)) ||
      /^(partial|truncated|incomplete)$/i.test(said) ||
      (/^((is)?(complete|last|lastpage)|done)$/.test(name) && said === "false") ||
      (next.test(name) && !/^(|null|undefined|false|0)$/.test(said)) ||
      (total.test(name) && number > items) ||
      (pages.test(name) && number > 1) ||
      (name === "links" && JSON.stringify(value).includes('"rel":"next"'));
    if (isCut) return `${key}: ${said.slice(0, 80)}`;
    const isAbout = typeof value === "object" && (key === path[0] || about.test(name));
    const below = isAbout ? cutSign(value, path.slice(1), items) : undefined;
    if (below !== undefined) return below;
  }
  return undefined;
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
