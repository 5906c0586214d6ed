import type { TSchema } from "typebox";
import type { HeaderName, TakenHeader } from "#api/openapi/headers.ts";
import type { ProblemCode } from "#src/contract/refusals.ts";

/**
 * A route's description beside its request schemas: the OpenAPI document is made of both, and the tests check
 * every answer against it. Refusals that every route has (keys, limits, outages) are not named here.
 */
export interface Answers {
  /** Unique, for generated clients: `listStations`. */
  operationId: string;
  tag: Tag;
  /** Markdown, under the route's summary. */
  description: string;
  /** Answers that are not refusals, by status. */
  replies: Readonly<Record<number, ReplyShape>>;
  /** Refusals of this route's own. */
  problems?: readonly ProblemCode[];
  /** Request headers that change the answer. */
  takes?: readonly TakenHeader[];
  /** Named examples of the request's body. */
  bodyExamples?: Readonly<Record<string, unknown>>;
}

export type Tag = "Stations" | "Marks" | "Account" | "Webhooks" | "Widget";

export interface ReplyShape {
  description: string;
  /** Headers that every answer of this status carries. */
  headers?: readonly HeaderName[];
  /** Headers that some carry. */
  sometimes?: readonly HeaderName[];
  /** The body in each media type; none at all: no body. */
  forms?: Readonly<Record<string, Form>>;
}

export interface Form {
  schema: TSchema;
  example: unknown;
}

/** A JSON body. */
export const json = (schema: TSchema, example: unknown): Record<string, Form> => ({
  "application/json": { schema, example },
});

/** An answer with a JSON body. */
export const reply = (description: string, schema: TSchema, example: unknown): ReplyShape => ({
  description,
  forms: json(schema, example),
});
