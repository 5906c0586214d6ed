import { consoleCall, type ConsoleCall, idOf } from "#api/console/operator-gate.ts";
import { named, personOf } from "#api/console/people.ts";
import { orThrow, Refused } from "#api/http/errors.ts";
import type { ConsoleDeps } from "#api/console/deps.ts";
import { findPerson, refuseUnknownPartner } from "#src/marks/erasure.ts";
import { reportersOf } from "#src/marks/held.ts";
import { namedNetworks } from "#src/marks/networks.ts";
import { unknown } from "#src/operators/act.ts";
import { longId } from "#src/operators/inputs.ts";

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
