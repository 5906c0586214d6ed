import type { TSchema } from "typebox";
import type { Tag } from "#api/openapi/answers.ts";
import { headerComponents } from "#api/openapi/headers.ts";
import { type DocumentedRoute, operationOf } from "#api/openapi/operation.ts";
import { codesOf, refusalComponents } from "#api/openapi/refusals.ts";
import { apiBase, type Route } from "#api/http/route.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { problem } from "#src/contract/shapes/problem.ts";

/**
 * The OpenAPI 3.1 document of these routes (docs/contract.md 9), made of the schemas that validate their requests and
 * of their `answers`. A route without `answers` is left out. `baseUrl` is the service's address.
 */
export function createDocument(
  routes: readonly Route[],
  { problemBase, baseUrl }: Pick<Config, "problemBase" | "baseUrl">,
): object {
  const components = createSchemaComponents();
  components.use(problem);
  const documented = routes.filter(
    (route): route is DocumentedRoute => route.answers !== undefined,
  );
  const paths: Record<string, Record<string, object>> = {};
  for (const route of documented) {
    (paths[route.path] ??= {})[route.method.toLowerCase()] = operationOf(route, components.use);
  }
  return {
    openapi: "3.1.0",
    info: { ...about, contact: { name: "The operator of this service", url: baseUrl } },
    servers: [{ url: baseUrl + apiBase }],
    tags,
    paths,
    components: {
      securitySchemes,
      schemas: components.named,
      headers: headerComponents(paths),
      examples: refusalComponents(new Set(documented.flatMap(codesOf)), problemBase),
    },
  };
}

const securitySchemes = {
  secretKey: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "svc_live_…",
    description: "From server to server, never in a page. May be bound to IP addresses.",
  },
  publishableKey: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "pk_live_…",
    description: "For the widget; bound to the partner's domains by `Origin` and `Referer`.",
  },
};

/** The Info Object. The version is docs/contract.md 9. */
const about = {
  title: "Partner Fuel-Availability API",
  version: "1.0",
  license: { name: "MIT", identifier: "MIT" },
  description: `Which filling stations have fuel, from the marks of drivers.

**Keys.** Every request carries \`Authorization: Bearer <KEY>\`. Secret keys may call everything, publishable keys what the widget needs.

**Limits.** By clock minute and UTC day; every answer says what is left. After 429 wait \`Retry-After\` seconds.

**Errors.** Always \`application/problem+json\` (RFC 9457). The last part of \`type\` is the code, \`request_id\` finds the operator's log line. There is no 400: what cannot be read is 422. An unknown path is 404 \`not-found\`.

**HEAD** answers wherever GET does, with the same headers and no body. **OPTIONS** answers 204 with \`Allow\`, the methods of the path.

**Pages.** A page of a domain that a publishable key is bound to may call and read what the key opens (CORS). Preflights carry no key and are not counted. No page can read what a secret key is answered.

**Forms.** Lists of stations are JSON; with \`Accept\` they are also GeoJSON (\`application/geo+json\`), lines of JSON (\`application/x-ndjson\`) and CSV (\`text/csv\`, secret keys). Each of these has a path of its own as well, such as \`/stations.geojson\`.

**Times** are UTC, \`YYYY-MM-DD HH:MM:SS\`.

**Versions.** New fields and values may appear at any time; breaking changes come under a new prefix, announced 180 days ahead with \`Deprecation\` and \`Sunset\`.`,
};

const tags: { name: Tag; description: string }[] = [
  { name: "Stations", description: "Stations with their fuel status, and cities." },
  { name: "Marks", description: "Marks of your users, and what became of them." },
  { name: "Account", description: "What you have used, and your limits." },
  { name: "Webhooks", description: "What is pushed to your server instead of being asked for." },
  { name: "Widget", description: "What the embedded map calls with a publishable key." },
];

interface SchemaComponents {
  /** The schema as it stands in the document: named parts are references. */
  use(schema: TSchema): object;
  /** `components.schemas`: every named schema that was used. */
  readonly named: Record<string, object>;
}

/**
 * Takes schemas apart: a schema with a `title` becomes a component of that name, and a reference takes its place. A
 * schema with `documentedAs` stands for another one, which is checked at another place.
 */
function createSchemaComponents(): SchemaComponents {
  const named: Record<string, object> = {};
  const use = (schema: unknown): unknown => {
    if (Array.isArray(schema)) return schema.map(use);
    if (typeof schema !== "object" || schema === null) return schema;
    if ("documentedAs" in schema) return use(schema.documentedAs);
    const parts = Object.entries(schema).map(([name, part]) => [
      name,
      // Values, not schemas: a default or an example may look like one.
      ["default", "const", "enum", "examples"].includes(name) ? part : use(part),
    ]);
    const plain = Object.fromEntries(parts) as { title?: unknown };
    if (typeof plain.title !== "string") return plain;
    const { title, ...rest } = plain;
    const before = named[title];
    if (before !== undefined && JSON.stringify(before) !== JSON.stringify(rest))
      throw new Error(`two schemas are called ${title}`);
    named[title] = rest;
    return { $ref: `#/components/schemas/${title}` };
  };
  return { use: (schema) => use(schema) as object, named };
}
