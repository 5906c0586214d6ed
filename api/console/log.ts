import { Type } from "typebox";
import { consoleCall, type ConsoleCall } from "#api/console/call.ts";
import type { Services } from "#api/http/services.ts";
import { listActions } from "#src/operators/operator-log.ts";
import { inMs, presented } from "#src/operators/presented.ts";

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
  consoleCall("GET", "/log", { role: "viewer", query: filter }, async (ctx) => {
    const found = await listActions(db, ctx.state.query, "part", shown);
    const entries = found.map((entry) => presented(entry, inMs));
    const next = entries.length === shown ? (entries.at(-1)?.id ?? null) : null;
    ctx.body = { entries, next };
  }),
];
