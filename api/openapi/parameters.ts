import type { TSchema } from "typebox";
import { headerParameter } from "#api/openapi/headers.ts";
import type { Route } from "#api/http/route.ts";

/** Path parameters are read by hand: any text that is no id of ours is a 404, never a 422 (docs/decisions.md 6). */
const pathParameters: Record<string, { description: string; example: string }> = {
  station_id: {
    description: "`id` of a station; opaque. Any other text is 404",
    example: "n1234567",
  },
  report_id: { description: "`report_id` of a mark of yours", example: "88119435001857" },
};

export const pathParametersOf = (path: string): object[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => ({
    name,
    in: "path",
    required: true,
    ...pathParameters[name],
    schema: { type: "string" },
  }));

/** Path, query and header parameters of a route; the query's from the schema that validates it. */
export function parametersOf(route: Route, use: (schema: TSchema) => object): object[] {
  const { properties = {}, required = [] } = (route.query ?? {}) as {
    properties?: Record<string, TSchema>;
    required?: string[];
  };
  const inQuery = Object.entries(properties).map(([name, schema]) => {
    const { description, examples, ...rest } = use(schema) as {
      description?: string;
      examples?: unknown[];
    };
    return {
      name,
      in: "query",
      required: required.includes(name),
      ...(description === undefined ? {} : { description }),
      schema: rest,
      ...(examples === undefined ? {} : { example: examples[0] }),
    };
  });
  return [
    ...pathParametersOf(route.path),
    ...inQuery,
    ...(route.answers?.takes ?? []).map(headerParameter),
  ];
}
