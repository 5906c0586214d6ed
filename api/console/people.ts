import { type Static, Type } from "typebox";
import { actorOf, consoleCall, type ConsoleCall } from "#api/console/operator-gate.ts";
import { orThrow } from "#api/http/errors.ts";
import type { ConsoleDeps } from "#api/console/deps.ts";
import type { Refusal } from "#src/contract/refusals.ts";
import { forgetBody, reportBody } from "#src/contract/report.ts";
import { eraseByOperator } from "#src/marks/erasure.ts";
import { exportPerson } from "#src/marks/person-export.ts";
import type { Person } from "#src/marks/reporter.ts";
import { invalid } from "#src/operators/act.ts";

/** A partner's user, or a device. It is sent in a body, because addresses are kept in many places. */
export const named = Type.Object(
  {
    partner: Type.Optional(Type.Integer({ minimum: 1, maximum: 2_147_483_647 })),
    user_ref: Type.Optional(reportBody.properties.user_ref),
    device: Type.Optional(forgetBody.properties.device),
  },
  { additionalProperties: false },
);

/** Erasing a person, and handing out their data (decisions 19). */
export const peopleCalls = ({ db, config }: ConsoleDeps): ConsoleCall[] => [
  consoleCall("POST", "/reporters/erase", { role: "operator", body: named }, async (ctx) => {
    const person = orThrow(personOf(ctx.state.body));
    ctx.body = orThrow(await eraseByOperator(db, actorOf(ctx), config, person));
  }),
  consoleCall("POST", "/reporters/export", { role: "operator", body: named }, async (ctx) => {
    const person = orThrow(personOf(ctx.state.body));
    ctx.body = orThrow(await exportPerson(db, actorOf(ctx), config, person));
  }),
];

/** The person that a call names, or why it names none. */
export function personOf({
  partner,
  user_ref: userRef,
  device,
}: Static<typeof named>): Person | Refusal {
  if (device !== undefined && partner === undefined && userRef === undefined) return { device };
  if (device === undefined && partner !== undefined && userRef !== undefined)
    return { partner, userRef };
  return invalid("user_ref", "Name partner and user_ref, or device alone");
}
