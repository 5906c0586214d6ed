import type { TSchema } from "typebox";
import type { Answers, ReplyShape } from "#api/openapi/answers.ts";
import { headerParameter, headersOf } from "#api/openapi/headers.ts";
import { codesOf, refusalsOf } from "#api/openapi/refusals.ts";
import type { Access, Route } from "#api/http/route.ts";

/** A route with a description of its answers. */
export type DocumentedRoute = Route & { answers: Answers };

/** The Operation Object of a route. */
export function operationOf(route: DocumentedRoute, use: (schema: TSchema) => object): object {
  const { operationId, tag, description, replies, bodyExamples } = route.answers;
  const body = route.body && {
    required: true,
    content: {
      "application/json": {
        schema: use(route.body),
        examples: valuesOf(bodyExamples ?? {}),
      },
    },
  };
  return {
    operationId,
    tags: [tag],
    summary: route.summary,
    description: `${description}\n\n${keysOf[route.access]}`,
    security: securityOf(route.access),
    parameters: parametersOf(route, use),
    ...(body === undefined ? {} : { requestBody: body }),
    responses: {
      ...Object.fromEntries(
        Object.entries(replies).map(([status, reply]) => [status, responseOf(reply, use)]),
      ),
      ...refusalsOf(codesOf(route)),
    },
  };
}

const keysOf: Record<Access, string> = {
  any: "Keys: secret or publishable.",
  secret: "Keys: secret.",
};

const securityOf = (access: Access): object[] =>
  access === "any" ? [{ secretKey: [] }, { publishableKey: [] }] : [{ secretKey: [] }];

function responseOf(
  { description, headers, sometimes, forms = {} }: ReplyShape,
  use: (schema: TSchema) => object,
): object {
  const content = Object.entries(forms).map(([type, { schema, example }]) => [
    type,
    { schema: use(schema), example },
  ]);
  return {
    description,
    headers: headersOf(headers, sometimes),
    ...(content.length === 0 ? {} : { content: Object.fromEntries(content) as object }),
  };
}

const valuesOf = (examples: Readonly<Record<string, unknown>>): object =>
  Object.fromEntries(Object.entries(examples).map(([name, value]) => [name, { value }]));

/** Path parameters are read by hand: any text that is no id of ours is a 404, never a 422 (decisions 6). */
const pathParameters: Record<string, { description: string; example: string }> = {
  station_id: {
    description: "`id` of a station; opaque. Any other text is 404",
    example: "n1234567",
  },
  user_ref: {
    description: "The user as in your marks; 1 to 128 characters, percent-encoded UTF-8",
    example: "user-17",
  },
  report_id: { description: "`report_id` of a mark of yours", example: "88119435001857" },
  webhook_id: { description: "`id` of a webhook of yours", example: "3" },
  delivery_id: { description: "`id` of a delivery of this webhook", example: "1204" },
};

const pathParametersOf = (path: string): object[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => ({
    name,
    in: "path",
    required: true,
    ...pathParameters[name],
    schema: { type: "string" },
  }));

/** Path, query and header parameters of a route; the query's from the schema that validates it. */
function parametersOf(route: Route, use: (schema: TSchema) => object): object[] {
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
