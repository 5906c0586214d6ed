import { Type } from "typebox";
import { consoleCall, type ConsoleCall } from "#api/console/call.ts";
import type { Services } from "#api/http/services.ts";
import { listLog } from "#src/operators/operator-log-rows.ts";

const shown = 100;
const part = Type.Optional(Type.String({ maxLength: 200 }));
const filter = Type.Object({
  actor: part,
  action: part,
  subject: part,
  before: Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })),
});

/** Who did what: nothing is ever taken out of it. */
export const logCalls = ({ db }: Services): ConsoleCall[] => [
  consoleCall({
    method: "GET",
    path: "/log",
    role: "viewer",
    query: filter,
    async handle({ query }) {
      const entries = await listLog(db, query, shown);
      const next = entries.length === shown ? (entries.at(-1)?.id ?? null) : null;
      return { body: { entries, next } };
    },
  }),
];
