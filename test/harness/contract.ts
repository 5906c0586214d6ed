import { parse } from "csv-parse/sync";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";

/** An answer as it came, its body unpacked. */
export interface SeenAnswer {
  method: string;
  /** Below the API's base, without the query. */
  path: string;
  status: number;
  headers: Headers;
  /** Null where the body was not read whole. */
  body: string | null;
}

/** Says what in an answer is not as the OpenAPI document says; null when all is. */
export type Contract = (answer: SeenAnswer) => string | null;

interface HeaderObject {
  required?: boolean;
  schema: Record<string, unknown>;
}
interface MediaType {
  schema: object;
  examples?: Record<string, unknown>;
}
interface ResponseObject {
  headers?: Record<string, HeaderObject | { $ref: string }>;
  content?: Record<string, MediaType>;
}
type Operation = { responses: Record<string, ResponseObject> };
export interface OpenApi {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, object>; headers: Record<string, HeaderObject> };
}

/** What HTTP itself needs, and what says how to keep and vary an answer. */
const transport = new Set([
  ...["connection", "content-encoding", "content-length", "content-type", "date", "keep-alive"],
  ...["transfer-encoding", "vary", "cache-control"],
]);
const problemType = "application/problem+json";

/** A check of answers against an OpenAPI document. Fields and headers that it does not name are faults too. */
export function createContract(document: OpenApi): Contract {
  const ajv = new Ajv2020({ strict: false, allErrors: false, formats: { uri, uuid } });
  // Each under a name of its own: as a part of another schema it would be compiled again wherever it is named.
  for (const [name, schema] of Object.entries(document.components.schemas))
    ajv.addSchema({ ...byName(schema), $id: `api:${name}` });
  const compiled = new Map<object, ValidateFunction>();
  const faultOf = (schema: object, value: unknown): string | null => {
    let validate = compiled.get(schema);
    if (validate === undefined) compiled.set(schema, (validate = ajv.compile(byName(schema))));
    return validate(value) ? null : ajv.errorsText(validate.errors, { dataVar: "body" });
  };

  const templates = Object.keys(document.paths).map((template) => ({
    template,
    pattern: new RegExp(`^${template.replaceAll(/\{\w+\}/g, "([^/]+)")}$`),
  }));
  // A fixed path wins over one with parameters.
  templates.sort((a, b) => a.template.split("{").length - b.template.split("{").length);

  /** Every response of a path: what a method that it does not have is answered with. */
  const operationOf = (path: string, method: string): Operation | null => {
    const found = templates.find(({ pattern }) => pattern.test(path));
    const item = found === undefined ? undefined : document.paths[found.template];
    if (item === undefined) return null;
    const known = item[method === "HEAD" ? "get" : method.toLowerCase()];
    const refusals = refusalsOnly(item["get"] ?? item["post"] ?? item["delete"]);
    return known ?? (method === "OPTIONS" ? withMethods(refusals) : refusals);
  };

  return ({ method, path, status, headers, body }) => {
    // With `Accept` a list's path answers as its neighbour `/stations.csv`, which the document says in words.
    const form = status === 200 ? formsByType.get(typeOf(headers) ?? "") : undefined;
    const named = form === undefined || path.endsWith(form) ? path : path + form;
    const operation = operationOf(named, method) ?? unknownPath(document);
    const response = operation?.responses[String(status)];
    if (response === undefined) return `status ${status} is not documented`;
    const headerFault = checkHeaders(document, response, headers);
    if (headerFault !== null) return headerFault;
    const type = typeOf(headers);
    const expected = Object.keys(response.content ?? {});
    if (type === null) return expected.length === 0 || body === null ? null : "no content type";
    const media = response.content?.[type];
    if (media === undefined) return `content type ${type} is not documented`;
    if (method === "HEAD") return body ? "HEAD with a body" : null;
    return body === null ? null : checkBody(media, type, body, headers, faultOf);
  };
}

const typeOf = (headers: Headers): string | null =>
  headers.get("content-type")?.split(";")[0] ?? null;

const formsByType = new Map([
  ["application/geo+json", ".geojson"],
  ["application/x-ndjson", ".ndjson"],
  ["text/csv", ".csv"],
]);

function checkHeaders(
  document: OpenApi,
  { headers: documented = {} }: ResponseObject,
  headers: Headers,
): string | null {
  const known = new Set(transport);
  for (const [name, header] of Object.entries(documented)) {
    known.add(name.toLowerCase());
    const object = "$ref" in header ? document.components.headers[nameOf(header.$ref)] : header;
    if (object === undefined) return `no component ${JSON.stringify(header)}`;
    const value = headers.get(name);
    if (value === null && object.required === true) return `header ${name} is missing`;
    if (value !== null && !headerFits(object.schema, value)) return `header ${name}: ${value}`;
  }
  const stranger = [...headers.keys()].find((name) => !known.has(name));
  return stranger === undefined ? null : `header ${stranger} is not documented`;
}

function headerFits(schema: Record<string, unknown>, text: string): boolean {
  const { type, const: fixed, enum: words, pattern, minimum } = schema;
  if (type === "integer" && !/^\d+$/.test(text)) return false;
  if (type === "number" && !/^\d+(\.\d+)?$/.test(text)) return false;
  if (typeof minimum === "number" && Number(text) < minimum) return false;
  if (fixed !== undefined && text !== fixed) return false;
  if (Array.isArray(words) && !words.includes(text)) return false;
  return typeof pattern !== "string" || new RegExp(pattern, "u").test(text);
}

function checkBody(
  media: MediaType,
  type: string,
  body: string,
  headers: Headers,
  faultOf: (schema: object, value: unknown) => string | null,
): string | null {
  if (type === "application/x-ndjson") {
    for (const line of body.split("\n").slice(0, -1)) {
      const fault = faultOf(media.schema, JSON.parse(line));
      if (fault !== null) return fault;
    }
    return body === "" || body.endsWith("\n") ? null : "a line without its end";
  }
  if (type === "text/csv") {
    const [names, ...lines] = parse(body);
    const odd = lines.find(({ length }) => length !== names?.length);
    return faultOf(media.schema, body) ?? (odd === undefined ? null : `a line of ${odd.length}`);
  }
  if (type === "text/event-stream") return faultOf(media.schema, body);
  const value = JSON.parse(body) as { type?: string; request_id?: string };
  const fault = faultOf(media.schema, value);
  if (fault !== null || type !== problemType) return fault;
  const code = value.type?.split("/").at(-1) ?? "";
  if (media.examples?.[code] === undefined) return `code ${code} is not documented here`;
  return value.request_id === headers.get("x-request-id") ? null : "request_id is another's";
}

/** A wrong method meets the path's refusals alone. */
const refusalsOnly = (operation: Operation | undefined): Operation | null =>
  operation === undefined
    ? null
    : {
        responses: Object.fromEntries(
          Object.entries(operation.responses).filter(([status]) => Number(status) >= 400),
        ),
      };

/** The document says it in words: OPTIONS is answered 204 with the path's methods, a preflight with what pages may send. */
function withMethods(refusals: Operation | null): Operation | null {
  if (refusals === null) return null;
  const { headers = {} } = refusals.responses["500"] as ResponseObject;
  const schema = { type: "string", pattern: "^[A-Z]+(, [A-Z]+)*$" };
  const text = { schema: { type: "string" } };
  const own = {
    Allow: { required: true, schema },
    "Access-Control-Allow-Methods": { schema },
    "Access-Control-Allow-Headers": text,
    "Access-Control-Max-Age": text,
  };
  return { responses: { ...refusals.responses, "204": { headers: { ...headers, ...own } } } };
}

/** The document says it in words: an unknown path is 404 `not-found`, after the key and the limits. */
function unknownPath({ paths }: OpenApi): Operation | null {
  const [item] = Object.values(paths);
  const some = refusalsOnly(item?.["get"] ?? item?.["post"]);
  const like = some?.responses["401"]?.content?.[problemType];
  if (some === null || like === undefined) return null;
  const { headers = {} } = some.responses["500"] as ResponseObject;
  const media = { ...like, examples: { "not-found": {} } };
  const notFound: ResponseObject = { headers, content: { [problemType]: media } };
  const forbidden = some.responses["403"] as ResponseObject;
  const codes = { ...forbidden.content?.[problemType]?.examples, "secret-key-required": {} };
  const anyForbidden = { headers, content: { [problemType]: { ...like, examples: codes } } };
  return { responses: { ...some.responses, "403": anyForbidden, "404": notFound } };
}

/** Objects with named fields take no others: the service may add some any day, but not unnoticed by its tests. */
function closed(schema: unknown): object {
  const close = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(close);
    if (typeof part !== "object" || part === null) return part;
    const plain = Object.fromEntries(
      Object.entries(part).map(([name, value]) => [name, close(value)]),
    ) as { type?: unknown; additionalProperties?: unknown; properties?: unknown };
    const isOpen = plain.type === "object" && plain.properties !== undefined;
    return isOpen && plain.additionalProperties === undefined
      ? { ...plain, additionalProperties: false }
      : plain;
  };
  return close(schema) as object;
}

/** The schema closed, and components in it named as they are added. */
const byName = (schema: object): object =>
  JSON.parse(
    JSON.stringify(closed(schema)).replaceAll('"#/components/schemas/', '"api:'),
  ) as object;

const nameOf = (reference: string): string => reference.split("/").at(-1) ?? "";
const uri = (text: string): boolean => URL.canParse(text);
const uuid = /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/;
