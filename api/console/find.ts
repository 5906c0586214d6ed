import { Type } from "typebox";
import { consoleCall, type ConsoleCall } from "#api/console/operator-gate.ts";
import type { ConsoleDeps } from "#api/console/deps.ts";
import type { ConsoleHits } from "#src/contract/console.ts";
import { findPartnersAndKeys } from "#src/keys/partner-reports.ts";
import { stationNames } from "#src/marks/station-history.ts";

/** Hits of each kind. */
const shown = 6;
const typed = Type.Object({ q: Type.String({ minLength: 1, maxLength: 120 }) });

/**
 * The palette's hits beside the console's pages (decisions 13.19). Stations come from the read model, to spare a scan
 * of the table; Postgres adds the station with exactly this id, which may be out of service.
 */
export const findCall = ({ db, model, clock }: ConsoleDeps): ConsoleCall =>
  consoleCall("GET", "/find", { role: "viewer", query: typed }, async (ctx) => {
    const q = ctx.state.query.q.trim();
    const none: ConsoleHits = { partners: [], keys: [], stations: [] };
    if (q === "") {
      ctx.body = none;
      return;
    }
    const ids = [q, ...model.typed(q, shown, clock())];
    const [found, stations] = await Promise.all([
      findPartnersAndKeys(db, q, shown),
      stationNames(db, [...new Set(ids)]),
    ]);
    ctx.body = { ...found, stations: stations.slice(0, shown) } satisfies ConsoleHits;
  });
