import { between, list, text } from "#src/contract/shapes/kinds.ts";
import { Type } from "typebox";

const fault = Type.Object(
  {
    loc: list(
      "Where it is: body, query, path or request, then names and places",
      Type.Union([Type.String(), Type.Integer()]),
    ),
    msg: text("What was expected"),
    type: text("Kind of the fault, for programs: `missing`, `too_long`"),
    input: Type.Optional(Type.Unknown({ description: "What was given, cut to 100 characters" })),
    ctx: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: "Values of the rule, such as a limit",
      }),
    ),
  },
  { title: "Fault", description: "One fault of a schema check." },
);

/** docs/contract.md 7. */
export const problem = Type.Object(
  {
    type: Type.String({
      format: "uri",
      description: "Its last part is the code; the URL answers with a page that explains it",
    }),
    title: text("The code in words, the same for each problem of it"),
    status: between("The HTTP status", 400, 599),
    detail: Type.Union([Type.String(), Type.Array(fault, { minItems: 1 })], {
      description: "What was expected; with `validation-failed` a list of faults",
    }),
    limit: Type.Optional(
      Type.Integer({ description: "On rate errors: the limit that was hit, requests a window" }),
    ),
    window: Type.Optional(
      Type.String({ pattern: "^\\d+s$", description: "On rate errors: its time, `60s`" }),
    ),
    request_id: Type.String({ minLength: 1, description: "Quote it to the operator" }),
  },
  { title: "Problem", description: "RFC 9457." },
);
