import { createSchemaComponents } from "#api/openapi/components.ts";
import { headerComponents } from "#api/openapi/headers.ts";
import { about, tags } from "#api/openapi/about.ts";
import { type DocumentedRoute, operationOf, optionsOf } from "#api/openapi/operation.ts";
import { codesOf, refusalComponents } from "#api/openapi/refusals.ts";
import { apiBase } from "#api/http/route.ts";
import type { Route } from "#api/http/route.ts";
import { problem } from "#src/contract/shapes/problem.ts";

/**
 * The OpenAPI 3.1 document of these routes (docs/contract.md 9), made of the schemas that validate their requests and
 * of what they say of their answers. A route that says nothing is left out. `problemBase` is the prefix of `type`.
 */
export function createDocument(routes: readonly Route[], problemBase: string): object {
  const components = createSchemaComponents();
  components.use(problem);
  const documented = routes.filter(
    (route): route is DocumentedRoute => route.answers !== undefined,
  );
  const paths: Record<string, Record<string, object>> = {};
  for (const route of documented) {
    (paths[route.path] ??= {})[route.method.toLowerCase()] = operationOf(route, components.use);
  }
  for (const [path, item] of Object.entries(paths))
    item["options"] = optionsOf(documented.filter((route) => route.path === path));
  return {
    openapi: "3.1.0",
    info: about,
    servers: [{ url: apiBase }],
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
