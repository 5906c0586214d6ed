import { type TSchema, Type } from "typebox";
import { emptyState, type StationState } from "#src/domain/state.ts";
import { grades, queues, statuses } from "#src/domain/vocabulary.ts";
import { compileShape, stored } from "#src/infrastructure/quarantine.ts";

const { time, orNull, word } = stored;
const count = Type.Integer({ minimum: 0 });
const status = word(statuses);
const gradeList = Type.Array(word(grades), { maxItems: grades.length });
const position = Type.Object({ at: time, id: Type.Number() });
const side = Type.Object({ status, count, updated: time });
const details = Type.Object({
  ...{ fuelsNow: gradeList, fuelsNo: gradeList, queue: word(["", ...queues]) },
  ...{ limitL: orNull(count), noCash: Type.Boolean(), fuelCardsOnly: Type.Boolean() },
});
const itself = Type.Unsafe<StationState>({ $ref: "#" } as TSchema);

/** The parts of a folded state that readers use, as the marks worker writes them. */
const stateShape = compileShape(
  Type.Object({
    served: orNull(
      Type.Object({ status, updated: time, confirmations: count, realCount: count, details }),
    ),
    seeded: orNull(
      Type.Object({
        ...{ importedAt: time, updated: time, status, fuelsNow: gradeList, fuelsNo: gradeList },
      }),
    ),
    versions: Type.Array(
      Type.Object({
        ...{ status, count, newest: position },
        disputed: orNull(Type.Object({ served: side, challenger: side })),
      }),
    ),
    prices: Type.Array(
      Type.Object({
        ...{ grade: word(grades), from: position },
        price: Type.Number({ minimum: 0, maximum: 1e6 }),
      }),
    ),
    publications: Type.Record(Type.String(), position),
    lastUpdated: orNull(time),
    last: orNull(position),
    next: orNull(Type.Object({ at: time, state: itself })),
  }),
);

/**
 * The state of a station as it is stored; null for none yet. For an unreadable one `fault` has the reason, without
 * values, and `state` is the empty one, which must not count as knowledge (decisions 21.34).
 */
export function readStored(value: unknown): { state: StationState; fault: string | null } {
  if (value === null || value === undefined) return { state: emptyState, fault: null };
  const fault = stateShape(value);
  return { state: fault === null ? (value as StationState) : emptyState, fault };
}
