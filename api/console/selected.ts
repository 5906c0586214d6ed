import { type Static, Type } from "typebox";
import { statuses } from "#src/domain/vocabulary.ts";
import type { Selection } from "#src/marks/selection.ts";
import { idText, line, moment } from "#src/operators/inputs.ts";

const row = Type.Optional(Type.Integer({ minimum: 1, maximum: 2_147_483_647 }));

/** Which marks a decision is about (decisions 4.18). */
export const selected = Type.Object(
  {
    key: row,
    partner: row,
    reporter: Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })),
    station: Type.Optional(idText(64)),
    /** "": near no city. */
    city: Type.Optional(line(0, 200)),
    network: Type.Optional(
      Type.String({ pattern: "^[0-9a-f]{8,64}$", wanted: "be 8 to 64 hex digits, 0-9 and a-f" }),
    ),
    status: Type.Optional(Type.Union(statuses.map((status) => Type.Literal(status)))),
    remote: Type.Optional(Type.Boolean()),
    first_seen_since: Type.Optional(moment),
    first_seen_until: Type.Optional(moment),
    since: Type.Optional(moment),
    until: Type.Optional(moment),
  },
  { additionalProperties: false },
);

export const selectionOf = (body: Static<typeof selected>): Selection => {
  const { first_seen_since: firstSeenSince, first_seen_until: firstSeenUntil, ...others } = body;
  return { ...others, firstSeenSince, firstSeenUntil };
};
