import { type PackedFile, packFile, sendPacked } from "#api/http/negotiation.ts";
import { refused } from "#api/http/errors.ts";
import type { HttpDeps } from "#api/http/deps.ts";
import { apiBase, type Route, type PageRouter } from "#api/http/route.ts";
import { createDocument } from "#api/openapi/document.ts";

/** The path of the document. */
export const openApiPath = `${apiBase}/openapi.json`;
/** The same for tools that know only OpenAPI 3.0. */
export const openApi30Path = `${apiBase}/openapi-3.0.json`;
const allow = "GET, HEAD, OPTIONS";

/**
 * `GET /api/v1/partner/openapi.json` and `openapi-3.0.json`: public and not metered (decisions 8). The document
 * and the files are made when they are first asked for. Answers what makes the document.
 */
export function openApiPages(
  router: PageRouter,
  { config }: Pick<HttpDeps, "config">,
  routes: readonly Route[],
): () => object {
  let made: object | undefined;
  const document = (): object => (made ??= createDocument(routes, config));
  for (const [path, make] of [
    [openApiPath, document],
    [openApi30Path, () => toOpenApi30(document())],
  ] as const) {
    let file: PackedFile | undefined;
    router.get(path, (ctx) => {
      file ??= packFile("json", Buffer.from(JSON.stringify(make())), "W/");
      ctx.set("Cache-Control", "public, no-cache");
      sendPacked(ctx, file);
    });
    router.all(path, (ctx) => {
      const headers = { Allow: allow };
      if (ctx.method !== "OPTIONS")
        throw refused("method-not-allowed", `Use one of: ${allow}.`, { headers });
      ctx.set(headers);
      ctx.status = 204;
    });
  }
  return document;
}

/**
 * An OpenAPI 3.1 document as 3.0.3, for generators that know nothing newer. It translates only
 * the differences that our documents use: null as a type, `const`, names by pattern, limits that exclude their
 * number, examples, the licence's name.
 */
function toOpenApi30(document: object): object {
  const { info, ...older } = translate(document) as { info: object; openapi: string };
  const license = { name: "MIT", url: "https://opensource.org/license/mit" };
  return { ...older, openapi: "3.0.3", info: { ...info, license } };
}

/** Names under which a value stands, and no schema. */
const values = new Set(["default", "enum", "example", "examples", "value"]);

function translate(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(translate);
  if (typeof part !== "object" || part === null) return part;
  const translated = Object.fromEntries(
    Object.entries(part).map(([name, one]) => [name, values.has(name) ? one : translate(one)]),
  ) as Schema;
  return isSchema(translated) ? schemaOf(translated) : translated;
}

interface Schema {
  type?: string;
  anyOf?: Schema[];
  $ref?: string;
  const?: unknown;
  enum?: unknown[];
  patternProperties?: Record<string, Schema>;
  exclusiveMinimum?: number;
  examples?: unknown[];
}

const isSchema = ({ type, anyOf, const: fixed }: Schema): boolean =>
  typeof type === "string" || Array.isArray(anyOf) || fixed !== undefined;

function schemaOf(schema: Schema): object {
  const { const: fixed, exclusiveMinimum, examples, anyOf, patternProperties, ...rest } = schema;
  const [byPattern] = Object.values(patternProperties ?? {});
  return {
    ...rest,
    ...(byPattern === undefined ? {} : { additionalProperties: byPattern }),
    ...(anyOf === undefined ? {} : alternativesOf(anyOf)),
    ...(fixed === undefined ? {} : { enum: [fixed] }),
    ...(typeof exclusiveMinimum === "number"
      ? { minimum: exclusiveMinimum, exclusiveMinimum: true }
      : {}),
    ...(Array.isArray(examples) ? { example: examples[0] } : {}),
  };
}

function alternativesOf(all: readonly Schema[]): object {
  const others = all.filter(({ type }) => type !== "null");
  const words = others.map((one) => one.enum).every((one) => one !== undefined)
    ? others.flatMap((one) => one.enum!)
    : null;
  if (others.length === all.length) return words === null ? { anyOf: others } : listOf(words);
  // Without null in the list it would still be refused.
  if (words !== null) return { ...others[0], ...listOf([...words, null]), nullable: true };
  const [only] = others;
  if (others.length === 1 && only!.$ref === undefined) return { ...only, nullable: true };
  // OpenAPI 3.0 takes nothing else beside a reference. The references here are to objects.
  return { type: "object", nullable: true, anyOf: others };
}

const listOf = (words: unknown[]): object => ({ type: "string", enum: words });
