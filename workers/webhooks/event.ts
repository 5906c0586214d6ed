import { formatTime, staleAfterHours } from "#src/domain/time.ts";
import { emptyState } from "#src/domain/state.ts";
import { view } from "#src/domain/view.ts";
import { asOfBefore, readStations } from "#src/feed/feed.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { type Db, rows } from "#src/infrastructure/db.ts";
import { loadReports, msOf } from "#src/marks/marks.ts";
import type { Turn } from "#src/pushes/webhooks/turns.ts";

/**
 * The body of a delivery, docs/contract.md 10: type, time of the event, and its data. Stations and outcomes are those of
 * this moment, also when it is sent again: an older state never follows a newer one.
 */
export async function bodyOf(
  db: Db,
  config: Config,
  { endpointId, delivery }: Turn,
  now: number,
): Promise<string> {
  const { type, data, created } = delivery;
  const shown =
    data.stations !== undefined
      ? await stationsOf(db, config, endpointId, data.stations, now)
      : data.marks !== undefined
        ? await outcomesOf(db, config, data.marks, now)
        : data;
  return JSON.stringify({ type, timestamp: new Date(created).toISOString(), data: shown });
}

/** The envelope of GET /stations/delta. */
async function stationsOf(
  db: Db,
  { statusLifetimeMs }: Config,
  endpointId: number,
  ids: readonly string[],
  now: number,
): Promise<object> {
  const found = await readStations(db, ids);
  const stations = found
    .filter(({ removed }) => !removed)
    .map(({ id, lat, lon, brand, name, addr, state }) => {
      return { id, lat, lon, brand, name, addr, fuel: view(state, now, statusLifetimeMs) };
    });
  return {
    stations,
    removed: found.filter(({ removed }) => removed).map(({ id }) => id),
    count: stations.length,
    as_of: formatTime(await asOfEndpoint(db, endpointId)),
    stale_after_hours: staleAfterHours(statusLifetimeMs),
  };
}

/**
 * The cursor for GET /stations/delta with which it goes on after the deliveries made so far: before the first change that
 * is in none of them, whether a mark or time alone has made it, and whether upkeep has come to it or not.
 */
async function asOfEndpoint(db: Db, endpointId: number): Promise<number> {
  const [bound] = await rows<{ at: number }>(
    db,
    `select ${msOf(`least(
         coalesce((select at from changes where seq > e.change_seq order by seq limit 1),
           (select at from changes order by seq desc limit 1)),
         (select at from time_changes where seq > e.time_change_seq order by at limit 1),
         (select min(next_at) from station_status))`)} as at
     from webhook_endpoints e where e.id = ?`,
    [endpointId],
  );
  return asOfBefore(bound?.at ?? 0);
}

/** Outcomes as GET /reports/{report_id} shows them. Marks that are gone meanwhile are left out. */
async function outcomesOf(
  db: Db,
  { statusLifetimeMs }: Config,
  ids: readonly number[],
  now: number,
): Promise<object> {
  const found = await loadReports(db, ids);
  const stationIds = [...new Set(found.map(({ stationId }) => stationId))];
  const states = new Map((await readStations(db, stationIds)).map(({ id, state }) => [id, state]));
  const byId = new Map(found.map((report) => [report.id, report]));
  const reports = [...new Set(ids)].flatMap((id) => {
    const report = byId.get(id);
    if (report === undefined || report.outcome === null) return [];
    const { stationId, accepted, remote, outcome, status, reason, needed, have, rule } = report;
    const fuel = view(states.get(stationId) ?? emptyState, now, statusLifetimeMs);
    return [
      {
        ...{ report_id: String(id), station_id: stationId, state: "processed", accepted, remote },
        published: {
          outcome,
          status: status ?? fuel.status,
          resolution_reason: reason ?? fuel.resolution_reason,
          ...{ needed, have, rule },
        },
        ...{ fuel, duplicate: false },
      },
    ];
  });
  return { reports, count: reports.length };
}
