import type { Static, TSchema } from "typebox";
import type * as client from "#client/types.ts";
import type { limitWish } from "#api/account/limit-requests.ts";
import type {
  limitRequest,
  limitRequestList,
  rotatedKey,
  usage,
} from "#src/contract/shapes/account.ts";
import type { fuelBlock } from "#src/contract/shapes/fuel.ts";
import type {
  batchResult,
  erasedPerson,
  reportOutput,
  reportState,
  reportStates,
} from "#src/contract/shapes/marks.ts";
import type { problem } from "#src/contract/shapes/problem.ts";
import type {
  city,
  cityList,
  oneStation,
  station,
  stationDelta,
  stationList,
  stationPage,
  stationsAlong,
} from "#src/contract/shapes/stations.ts";
import type { Refusal } from "#src/contract/refusals.ts";
import type { FuelBlock } from "#src/domain/state.ts";
import type { UsageDay } from "#src/domain/usage.ts";
import type { LimitRequest } from "#src/limits/limit-requests.ts";

/** Compiles only while each of both can stand for the other. */
type Same<A, B> = [A, B] extends [B, A] ? true : { documented: A; ours: B };
/** What is documented may say more of a value (which words, say), and has the same fields. */
type Fits<S extends TSchema, B> = [Static<S>, keyof B] extends [B, keyof Static<S>]
  ? true
  : { documented: Static<S>; ours: B };

const same: {
  fuel: Same<Static<typeof fuelBlock>, FuelBlock>;
  clientFuel: Same<Static<typeof fuelBlock>, client.FuelBlock>;
  station: Same<Static<typeof station>, client.Station>;
  list: Same<Static<typeof stationList>, client.StationList>;
  page: Same<Static<typeof stationPage>, client.StationPage>;
  delta: Same<Static<typeof stationDelta>, client.Delta>;
  along: Same<Static<typeof stationsAlong>, client.StationsAlong>;
  states: Fits<typeof reportStates, client.ReportStates>;
  one: Same<Static<typeof oneStation>, client.OneStation>;
  city: Same<Static<typeof city>, client.City>;
  cities: Same<Static<typeof cityList>, client.CityList>;
  result: Fits<typeof reportOutput, client.ReportResult>;
  state: Fits<typeof reportState, client.ReportState>;
  batch: Fits<typeof batchResult, client.BatchResult>;
  erased: Same<Static<typeof erasedPerson>, client.Erased>;
  problem: Fits<typeof problem, client.Problem>;
  detail: Same<Static<typeof problem>["detail"], Refusal["detail"]>;
  usageDay: Same<Static<typeof usage>["days"][number], UsageDay>;
  usage: Same<Static<typeof usage>, client.Usage>;
  limitWish: Same<Static<typeof limitWish>, client.LimitWish>;
  limitRequest: Same<Static<typeof limitRequest>, client.LimitRequest>;
  limitRequests: Same<Static<typeof limitRequestList>, client.LimitRequestList>;
  rotatedKey: Same<Static<typeof rotatedKey>, client.RotatedKey>;
  limitRequestStatus: Same<
    Static<typeof limitRequest>["status"] | "withdrawn",
    LimitRequest["status"]
  >;
} = {
  ...{ fuel: true, clientFuel: true, station: true, list: true, page: true, delta: true },
  ...{
    along: true,
    states: true,
    one: true,
    city: true,
    cities: true,
    output: true,
    result: true,
    state: true,
  },
  ...{
    batch: true,
    erased: true,
    problem: true,
    detail: true,
    usageDay: true,
    usage: true,
    limitWish: true,
    limitRequest: true,
    limitRequests: true,
    rotatedKey: true,
    limitRequestStatus: true,
  },
};

describe("the shapes of the OpenAPI document", () => {
  it("are the service's and the client's own, as the compiler says", () => void same);
});
