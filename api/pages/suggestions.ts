import { orThrow, refused } from "#api/http/errors.ts";
import type { Middleware } from "#api/http/route.ts";
import type { PageDeps } from "#api/pages/deps.ts";
import { mountOpenCalls, pageCall } from "#api/pages/page-calls.ts";
import { suggestionBody } from "#src/contract/shapes/suggestions.ts";
import { suggestedOf } from "#src/domain/suggestion.ts";
import { viewerNetwork } from "#src/infrastructure/addresses.ts";
import { deviceReporter, viewerHash } from "#src/marks/marks.ts";
import { suggest } from "#src/stations/suggestions.ts";

/**
 * `/suggestions/send`: what a driver says of a station itself (decisions 15.47). Only the map's own pages may call, and
 * each device and network is limited. 201, or 200 where the same person had said the same.
 */
export function suggestionCalls({ db, config, clock, model }: PageDeps): Middleware[] {
  const { reporterPepper: pepper } = config;
  const send = pageCall<null>()("POST", "/send", { body: suggestionBody }, async (ctx) => {
    const { device, kind, text = "", station_id: given, ...place } = ctx.state.body;
    const id = given === undefined ? undefined : model.presentId(given);
    const said = suggestedOf({ kind, station_id: id, ...place });
    if (typeof said === "string")
      throw refused("validation-failed", [
        { loc: ["body", said], msg: `A suggestion of this kind needs ${said}`, type: "missing" },
      ]);
    if (said.stationId !== "" && model.locations.find(said.stationId) === undefined)
      throw refused("station-not-found", "There is no such station.");
    const { again } = orThrow(
      await suggest(db, config, {
        ...{ ...said, kind, text },
        reporter: deviceReporter(pepper, device),
        viewer: viewerHash(pepper, viewerNetwork(ctx.state.ip)),
      }),
    );
    ctx.status = again ? 200 : 201;
    ctx.body = { again };
  });
  return mountOpenCalls({ config, clock }, "/suggestions", [send]);
}
