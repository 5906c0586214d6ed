import fc, { type Arbitrary } from "fast-check";
import { type Resolve, type Schema, valuesOf, words } from "#test/fuzz/values.ts";
import type { OpenApi } from "#test/harness/contract.ts";

/** A request before it is bytes. */
export interface Drawn {
  method: string;
  /** Path and query, percent-encoded unless something is wrong with it. */
  target: string;
  headers: [name: string, value: string][];
  body: Buffer | null;
  key: "secret" | "publishable";
  /** How it was spoilt; "" when it fits the document. */
  spoilt: string;
}

interface Parameter {
  name: string;
  in: string;
  required: boolean;
  schema: Schema;
  example?: unknown;
}
interface Described {
  parameters: Parameter[];
  requestBody?: { content: Record<string, { schema: Schema }> };
}

const apiBase = "/api/v1/partner";

/** What is there to be asked for. */
export interface Known {
  stationIds: readonly string[];
}

/** Requests that fit the document, of every operation alike. */
export function goodRequests(document: OpenApi, known: Known): Arbitrary<Drawn> {
  const resolve: Resolve = (reference) =>
    document.components.schemas[reference.split("/").at(-1) ?? ""] as Schema;
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) =>
      requestsOf(method, path, operation as unknown as Described, resolve, known),
    ),
  );
  return fc.oneof(...operations);
}

function requestsOf(
  method: string,
  path: string,
  { parameters, requestBody }: Described,
  resolve: Resolve,
  known: Known,
): Arbitrary<Drawn> {
  const values = fc.record(
    Object.fromEntries(parameters.map((one) => [one.name, parameterOf(one, resolve, known)])),
    { requiredKeys: parameters.filter(({ required }) => required).map(({ name }) => name) },
  );
  const schema = requestBody?.content["application/json"]?.schema;
  const body =
    schema === undefined
      ? fc.constant(null)
      : valuesOf(schema, resolve).map((value) => Buffer.from(JSON.stringify(value)));
  return fc
    .record({
      values,
      body,
      key: fc.constantFrom("secret" as const, "secret" as const, "publishable" as const),
      head: fc.boolean(),
      accept: fc.constantFrom("", "", "application/geo+json", "application/x-ndjson", "text/csv"),
      encoding: fc.constantFrom("", "", "gzip", "br"),
    })
    .map(({ values: given, body: bytes, key, head, accept, encoding }) => {
      const value = (where: string): [string, string][] =>
        parameters
          .filter((one) => one.in === where && given[one.name] !== undefined)
          .map(({ name }) => [name, String(given[name])]);
      const filled = value("path").reduce(
        (text, [name, one]) => text.replace(`{${name}}`, () => encodeURIComponent(one)),
        path,
      );
      const query = value("query").map(([name, one]) => `${name}=${encodeURIComponent(one)}`);
      return {
        method: head && method === "get" ? "HEAD" : method.toUpperCase(),
        target: `${apiBase}${filled}${query.length > 0 ? "?" : ""}${query.join("&")}`,
        headers: [
          ...value("header"),
          ...(bytes === null ? [] : [["Content-Type", "application/json"] as [string, string]]),
          ...(accept === "" ? [] : [["Accept", accept] as [string, string]]),
          ...(encoding === "" ? [] : [["Accept-Encoding", encoding] as [string, string]]),
        ],
        body: bytes,
        key,
        spoilt: "",
      };
    });
}

/** A value of a parameter: of its schema, its example, or a word of the service. Headers hold no line breaks. */
function parameterOf(
  { name, in: where, schema, example }: Parameter,
  resolve: Resolve,
  { stationIds }: Known,
): Arbitrary<unknown> {
  if (where === "header")
    return fc.oneof(
      fc.constantFrom(String(example), "*", "respond-async", "wait=0", "0"),
      fc.stringMatching(/^[ -~]{0,40}$/),
    );
  const drawn = valuesOf(schema, resolve);
  if (where === "path") {
    const any = drawn.filter(
      (text) => text !== "" && String(text) !== "." && String(text) !== "..",
    );
    const fixed = new Set(["all", "delta", "stream", "along"]);
    return fc.oneof(
      fc.constantFrom(...stationIds),
      any.filter((text) => !fixed.has(String(text))),
    );
  }
  if (name === "city") return fc.oneof(fc.constant("Тестоград"), drawn);
  if (name === "updated_since")
    return fc.oneof(
      fc
        .integer({ min: 0, max: 50 * 3600 })
        .map((s) => new Date(Date.now() - s * 1000).toISOString()),
      drawn,
    );
  return example === undefined
    ? fc.oneof(drawn, words)
    : fc.oneof(fc.constant(example), words, drawn);
}
