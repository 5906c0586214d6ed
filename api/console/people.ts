import { Type, type Static } from "typebox";
import { actorOf, consoleCall, idOf, type ConsoleCall } from "#api/console/operator-gate.ts";
import { Refused, orThrow } from "#api/http/errors.ts";
import type { ConsoleDeps } from "#api/console/deps.ts";
import type { Refusal } from "#src/contract/refusals.ts";
import { forgetBody, reportBody } from "#src/contract/report.ts";
import { eraseByOperator, findPerson, refuseUnknownPartner } from "#src/marks/erasure.ts";
import { exportPerson } from "#src/marks/person-export.ts";
import type { Person } from "#src/marks/marks.ts";
import { invalid, unknown } from "#src/operators/act.ts";
import { reportersOf } from "#src/marks/held.ts";
import { namedNetworks } from "#src/marks/source-blocks.ts";
import { longId } from "#src/operators/inputs.ts";

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

const networksShown = 200;

/** Names of partners, keys and cities, which a selection takes by id (decisions 13.24, 13.25). */
export const choiceCalls = ({ db, clock, config }: ConsoleDeps): ConsoleCall[] => [
  consoleCall("GET", "/choices", { role: "viewer" }, async (ctx) => {
    const [partners, keys, cities] = await Promise.all([
      db("partners").select("id", "name").orderBy("id"),
      db("keys").select("id", "partner_id", "label", "prefix").orderBy("id"),
      db("cities").distinct<{ name: string }[]>("name").orderBy("name"),
    ]);
    ctx.body = { partners, keys, cities: cities.map(({ name }) => name) };
  }),
  consoleCall("GET", "/networks", { role: "viewer" }, async (ctx) => {
    ctx.body = { networks: await namedNetworks(db, networksShown) };
  }),
  consoleCall("GET", "/reporters/{id}", { role: "viewer" }, async (ctx) => {
    const id = idOf(longId, ctx.params["id"]);
    const found = await reportersOf(db, new Set([id]), clock());
    ctx.body = { reporter: orThrow(found.get(id) ?? unknown("reporter", id)) };
  }),
  consoleCall("POST", "/reporters/find", { role: "operator", body: named }, async (ctx) => {
    const person = orThrow(personOf(ctx.state.body));
    const refused = await refuseUnknownPartner(db, person);
    if (refused !== null) throw new Refused(refused);
    const found = await findPerson(db, config, person);
    const ids = new Set(found === null ? [] : [found.id]);
    const [reporter = null] = (await reportersOf(db, ids, clock())).values();
    ctx.body = { reporter };
  }),
];
