import type { IncomingMessage } from "node:http";
import { LRUCache } from "lru-cache";
import rawBody from "raw-body";
import type { TSchema } from "typebox";
import { Refused, refused } from "#api/http/errors.ts";
import type { BaseRoute } from "#api/http/route.ts";
import type { Context } from "#api/http/context.ts";
import { parseBody } from "#src/contract/json-body.ts";
import {
  createQueryParser,
  listOfNames,
  type QueryType,
  type QueryValues,
} from "#src/contract/query.ts";
import { type Fault, isRefusal, type Refusal } from "#src/contract/refusals.ts";
import { compileCheck } from "#src/infrastructure/validation.ts";

const bodyLimitDefault = 64 * 1024;

/** Checks path, query and body against the route's schemas: 413, 415 or 422 (decisions 9). */
export function validate({ query, read: readValues, body, bodyLimit }: BaseRoute): {
  /** Sets `ctx.state.query`, or gives the refusal of path or query. */
  readQuery(ctx: Context): Refused | null;
  /** Sets `ctx.state.body`. Undefined when the route takes none. */
  readBody?: (ctx: Context) => Promise<void>;
} {
  const read = queryReader(query, readValues as ReadValues | undefined);
  const readQuery = ({ state, querystring }: Context): Refused | null => {
    if (state.brokenPath) return brokenPath;
    const { values, refusal, ignored } = read(querystring);
    state.ignored = ignored;
    if (refusal === null) state.query = values;
    return refusal;
  };
  if (body === undefined) return { readQuery };
  const check = compileCheck(body, "body");
  return {
    readQuery,
    async readBody({ req, state }) {
      state.body = await readBody(req, bodyLimit);
      const faults = check(state.body);
      if (faults !== null) throw invalid(faults);
    },
  };
}

const invalid = (faults: Fault[]): Refused => refused("validation-failed", faults);

const brokenPath = invalid([
  { loc: ["path"], msg: "Broken percent-encoding or UTF-8", type: "encoding" },
]);

/** Maps and mirrors send the same queries again and again. */
const rememberedMax = 500;
const rememberedLength = 300;

/** The `read` of a route. */
type ReadValues = (values: QueryValues) => object | Refusal;

interface ReadQuery {
  values: object;
  refusal: Refused | null;
  /** For `X-Ignored-Parameters`; "" when every parameter is known. */
  ignored: string;
}

const noQuery: ReadQuery = { values: {}, refusal: null, ignored: "" };

/**
 * A reader of query strings for a route's schema: types first, then ranges. Without a schema it checks
 * the encoding only. Results are remembered and shared, so nobody may change them.
 */
export function queryReader(
  schema: TSchema | undefined,
  readValues: ReadValues = (values) => values,
): (search: string) => ReadQuery {
  const properties = Object.entries(
    (schema as { properties?: Record<string, { type?: string }> } | undefined)?.properties ?? {},
  );
  const parse = createQueryParser(
    new Map(properties.map(([name, { type = "" }]) => [name, queryTypes.get(type) ?? "string"])),
  );
  const check = schema === undefined ? null : compileCheck(schema, "query");
  const known = new LRUCache<string, ReadQuery>({ max: rememberedMax });
  return (search) => {
    if (search === "" && check === null) return noQuery;
    const found = known.get(search);
    if (found !== undefined) return found;
    const parsed = parse(search);
    const faults = parsed.faults ?? check?.(parsed.values) ?? null;
    const values = faults === null ? readValues(parsed.values) : parsed.values;
    const refusal =
      faults !== null ? invalid(faults) : isRefusal(values) ? new Refused(values) : null;
    const read = { values, refusal, ignored: listOfNames(parsed.ignored) };
    if (refusal === null && search.length <= rememberedLength) known.set(search, read);
    return read;
  };
}

const queryTypes = new Map<string, QueryType>(
  (["string", "integer", "number", "boolean"] as const).map((type) => [type, type]),
);

/** Reads and parses a JSON body of at most `limit` bytes. Throws a refusal: 415, 413 or 422. */
export async function readBody(req: IncomingMessage, limit = bodyLimitDefault): Promise<unknown> {
  const { "content-type": type, "content-encoding": encoding = "identity" } = req.headers;
  if ((type !== undefined && !isJson(type)) || encoding.trim().toLowerCase() !== "identity")
    throw unsupported;
  const bytes = await collect(req, limit);
  if (type === undefined && bytes.length > 0) throw unsupported;
  const parsed = parseBody(bytes);
  if (parsed.faults !== undefined) throw invalid(parsed.faults);
  return parsed.value;
}

async function collect(req: IncomingMessage, limit: number): Promise<Buffer> {
  try {
    return await rawBody(req, { limit, length: req.headers["content-length"] ?? null });
  } catch (error) {
    // The rest is read and thrown away, so that the caller gets to see the answer.
    req.resume();
    if ((error as rawBody.RawBodyError).type === "entity.too.large")
      throw refused("body-too-large", `A body of this call may have ${limit} bytes.`);
    throw invalid([{ loc: ["body"], msg: "Body ended too early", type: "incomplete" }]);
  }
}

function isJson(contentType: string): boolean {
  const [type = "", ...parameters] = contentType
    .toLowerCase()
    .split(";")
    .map((part) => part.trim());
  const charset = parameters.find((parameter) => parameter.startsWith("charset="))?.slice(8);
  return type === "application/json" && /^("?)utf-?8\1$/.test(charset ?? "utf-8");
}

const unsupported = refused("unsupported-media-type");
