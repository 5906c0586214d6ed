import type * as client from "#client/types.ts";
import type { City } from "#snapshots/cities.ts";
import type { FuelBlock } from "#src/domain/state.ts";
import type { BatchItem, ReportBody } from "#src/contract/report.ts";
import type { Grade, Queue, ServedStatus, Status, WebhookEvent } from "#src/domain/vocabulary.ts";
import type { ServedFacts } from "#src/feed/feed.ts";

/** Compiles only while each of both can stand for the other. */
type Same<A, B> = [A, B] extends [B, A] ? true : { ours: A; client: B };

const same: {
  status: Same<Status, client.Status>;
  served: Same<ServedStatus, client.ServedStatus>;
  grade: Same<Grade, client.Grade>;
  queue: Same<Queue, client.Queue>;
  fuel: Same<FuelBlock, client.FuelBlock>;
  station: Same<ServedFacts & { fuel: FuelBlock }, client.Station>;
  city: Same<City, client.City>;
  report: Same<ReportBody, client.Report>;
  batch: Same<BatchItem, client.BatchReport>;
  event: Same<WebhookEvent | "webhook.test", client.WebhookEvent["type"]>;
} = {
  ...{ status: true, served: true, grade: true, queue: true, fuel: true, station: true },
  ...{ city: true, report: true, batch: true, event: true },
};

describe("the client's types", () => {
  it("are the service's own, as the compiler says", () => void same);
});
