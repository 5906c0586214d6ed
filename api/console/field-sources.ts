import { Type } from "typebox";
import type { ConsoleDeps } from "#api/console/deps.ts";
import { actCall, type ConsoleCall, consoleCall } from "#api/console/operator-gate.ts";
import { refused } from "#api/http/errors.ts";
import type { ConsoleFieldSources } from "#src/contract/console.ts";
import { entries } from "#src/infrastructure/lists.ts";
import { line } from "#src/operators/inputs.ts";
import { handFields } from "#src/stations/hand-edits.ts";
import {
  joinedSources,
  previewFieldSources,
  readFieldSources,
  setFieldSources,
} from "#src/stations/shown-fields.ts";

const path = "/field-sources";
const query = Type.Object({ sources: line(0, 1000) });

/** Which source wins a field of joined stations, and how many would change by another rule (decisions 14.42). */
export const fieldSourceCalls = (services: ConsoleDeps): ConsoleCall[] => [
  consoleCall("GET", path, { role: "viewer" }, async (ctx) => {
    const rules = await readFieldSources(services.db);
    ctx.body = {
      fields: handFields.map((field) => ({ field, sources: rules.get(field) ?? [] })),
      sources: await joinedSources(services.db),
    } satisfies ConsoleFieldSources;
  }),
  consoleCall("GET", `${path}/{id}/preview`, { role: "viewer", query }, async (ctx) => {
    const field = handFields.find((one) => one === ctx.params["id"]);
    if (field === undefined) throw refused("not-found", "There is no such field.");
    ctx.body = await previewFieldSources(services.db, field, entries(ctx.state.query.sources));
  }),
  actCall(services, "POST", `${path}/{id}`, setFieldSources, { answer: (done) => done }),
];
