import { actCall, consoleCall, type ConsoleCall } from "#api/console/operator-gate.ts";
import type { ConsoleDeps } from "#api/console/deps.ts";
import { listFailed, readBacklog } from "#src/marks/backlog.ts";
import { retryMark } from "#src/marks/retry.ts";
import { isUnavailable, rows } from "#src/infrastructure/db.ts";
import type { ConsoleHealth } from "#src/contract/console.ts";
import type { ConsoleFailedMark } from "#src/contract/console-review.ts";
import { hourMs } from "#src/domain/units.ts";
import { firstIdOfDay, idAfter } from "#src/marks/marks.ts";
import { basemapState } from "#src/infrastructure/map-settings.ts";
import { depthOf, queueNames } from "#src/infrastructure/queue-state.ts";
import { countHeld } from "#src/marks/held.ts";
import { inMs, presented } from "#src/operators/presented.ts";
import { countSuggestions } from "#src/stations/suggestions.ts";

const failedShown = 100;

/** The state of the service, as the process that answers sees it, and everything that needs an operator. */
export const healthCalls = (services: ConsoleDeps): ConsoleCall[] => [
  consoleCall("GET", "/health", { role: "viewer" }, async (ctx) => {
    const { ready, degraded, checks } = services.health.report();
    const [marks, queues, basemap] = await Promise.all([
      marksOf(services),
      queuesOf(services),
      basemapState(services.config),
    ]);
    ctx.body = { ready, degraded, checks, marks, queues, basemap } satisfies ConsoleHealth;
  }),
  consoleCall("GET", "/failed-marks", { role: "viewer" }, async (ctx) => {
    const failed = await listFailed(services.db, failedShown);
    const marks: ConsoleFailedMark[] = failed.map((mark) => presented(mark, inMs));
    ctx.body = { marks };
  }),
  actCall(services, "POST", "/failed-marks/{id}/retry", retryMark),
];

async function marksOf({ db, clock }: ConsoleDeps): Promise<ConsoleHealth["marks"]> {
  const since = clock() - hourMs;
  try {
    const [{ oldestS, ...backlog }, held, suggestions, [received], [stations], [asked]] =
      await Promise.all([
        readBacklog(db),
        countHeld(db),
        countSuggestions(db),
        rows<{ count: number }>(
          db,
          "select count(*) from marks where received_at > server_now() - interval '1 hour' and id >= ? and id < ?",
          [firstIdOfDay(since), idAfter(clock())],
        ),
        rows<{ count: number }>(db, "select count(*) from stations where removed_at is null"),
        rows<{ count: number }>(db, "select count(*) from limit_requests where status = 'pending'"),
      ]);
    const figures = { ...backlog, oldest_s: oldestS, held, pending_requests: asked!.count };
    return { ...figures, suggestions, last_hour: received!.count, stations: stations!.count };
  } catch (error) {
    if (isUnavailable(error)) return null;
    throw error;
  }
}

async function queuesOf({ producer, clock }: ConsoleDeps): Promise<ConsoleHealth["queues"]> {
  try {
    return await Promise.all(
      queueNames.map(async (queue) => ({
        queue,
        ...(await depthOf(producer.queue(queue), clock())),
      })),
    );
  } catch {
    // Every fault of a queue means that Redis is away or frozen.
    return null;
  }
}
