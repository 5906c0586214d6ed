import type { TSchema } from "typebox";
import { parseQuery, type ParsedQuery, type QueryType } from "#src/contract/query.ts";
import { compileCheck } from "#src/infrastructure/validation.ts";

export type QueryReader = (search: string) => ParsedQuery;

const types = new Set(["string", "integer", "number", "boolean"]);

/**
 * A reader of query strings for a route's schema: types first, then ranges. Without a schema only the encoding.
 * Values are frozen; the same search gives the same object as long as it is asked for often.
 */
export function queryReader(schema: TSchema | undefined): QueryReader {
  const properties = (schema as { properties?: Record<string, { type?: string }> } | undefined)
    ?.properties;
  const names = new Map(
    Object.entries(properties ?? {}).map(([name, { type = "" }]) => [
      name,
      (types.has(type) ? type : "string") as QueryType,
    ]),
  );
  const check = schema === undefined ? null : compileCheck(schema, "query");
  const read: QueryReader = (search) => {
    if (search === "" && check === null) return { values: {} };
    const parsed = parseQuery(search, names);
    if (parsed.faults !== undefined || check === null) return parsed;
    const faults = check(parsed.values);
    return faults === null ? parsed : { faults };
  };
  const lately = new Map<string, ParsedQuery>();
  return (search) => {
    const known = lately.get(search);
    if (known !== undefined) return known;
    const parsed = read(search);
    if (parsed.faults !== undefined || search.length > rememberedLength) return parsed;
    // The same object again and again: what follows from it can be remembered by it.
    Object.freeze(parsed.values);
    if (lately.size >= remembered) lately.clear();
    lately.set(search, parsed);
    return parsed;
  };
}

/** Who polls asks the same again and again. */
const remembered = 256;
const rememberedLength = 256;
