import { presentState, stationHead } from "#src/contract/present.ts";
import { emptyState, type StationState } from "#src/domain/state.ts";
import { formatTime, staleAfterHours } from "#src/domain/time.ts";
import { view, withChance } from "#src/domain/view.ts";
import { Type } from "typebox";
import { readStations } from "#src/feed/feed.ts";
import { asOfBefore } from "#src/feed/follower.ts";
import { createIdBatcher } from "#src/infrastructure/batcher.ts";
import type { Config } from "#src/infrastructure/config.ts";
import type { Db } from "#src/infrastructure/db.ts";
import { compileShape, stored } from "#src/infrastructure/quarantine.ts";
import { loadReports } from "#src/marks/marks.ts";
import type { ClaimedDelivery } from "#src/pushes/webhooks/claims.ts";

/** A station as a delivery shows it: JSON, null for one that is removed. */
interface Shown {
  id: string;
  state: StationState;
  chance: number | null;
  json: string | null;
}

/**
 * Reads stations as they are now, by id and in the order of their last changes. Many webhooks need the same stations,
 * so requests during a read share the next one. A read never begins before the call that asks for it.
 */
export const createStationReader = (
  db: Db,
  { statusLifetimeMs }: Config,
  clock: () => number,
): ((ids: readonly string[]) => Promise<ReadonlyMap<string, Shown>>) =>
  createIdBatcher(async (ids) => {
    const found = await readStations(db, ids);
    const now = clock();
    return new Map(
      // An unreadable station is left out; when it can be read again, it has changed.
      found.flatMap(({ removed, state, chance, fault, ...row }) => {
        if (fault !== undefined) return [];
        const fuel = JSON.stringify(withChance(view(state, now, statusLifetimeMs), chance));
        const json = removed ? null : `${stationHead(row)}${fuel}}`;
        return [[row.id, { id: row.id, state, chance, json }] as const];
      }),
    );
  }, 1);

type ReadShown = ReturnType<typeof createStationReader>;

const dataShape = compileShape(
  Type.Partial(
    Type.Object({ stations: Type.Array(stored.text), marks: Type.Array(Type.Integer()) }),
  ),
);

/**
 * The body of a delivery, docs/contract.md 10: type, time of the event, and its data. Stations and outcomes are those
 * of this moment, also when it is sent again: an older state never follows a newer one. Throws for a wrong shape before
 * its stations are read with those of others.
 */
export async function bodyOf(
  db: Db,
  config: Config,
  read: ReadShown,
  { delivery }: ClaimedDelivery,
  now: number,
): Promise<string> {
  const { type, data, created } = delivery;
  const fault = dataShape(data);
  if (fault !== null) throw new TypeError(fault);
  const shown =
    data.stations !== undefined
      ? await stationsOf(config, read, data.stations, delivery.toldUntil)
      : JSON.stringify(
          data.marks !== undefined ? await outcomesOf(db, config, read, data.marks, now) : data,
        );
  const head = JSON.stringify({ type, timestamp: new Date(created).toISOString() });
  return `${head.slice(0, -1)},"data":${shown}}`;
}

/** The envelope of GET /stations/delta; a next call can continue from its `as_of`. */
async function stationsOf(
  { statusLifetimeMs }: Config,
  read: ReadShown,
  ids: readonly string[],
  toldUntil: number | null,
): Promise<string> {
  const asked = new Set(ids);
  const found = [...(await read(ids)).values()].filter(({ id }) => asked.has(id));
  const stations = found.flatMap(({ json }) => json ?? []);
  const rest = {
    removed: found.filter(({ json }) => json === null).map(({ id }) => id),
    count: stations.length,
    as_of: formatTime(asOfBefore(toldUntil ?? 0)),
    stale_after_hours: staleAfterHours(statusLifetimeMs),
  };
  return `{"stations":[${stations.join(",")}],${JSON.stringify(rest).slice(1)}`;
}

/** Outcomes as GET /reports/{report_id} shows them. Marks that are gone meanwhile are left out. */
async function outcomesOf(
  db: Db,
  { statusLifetimeMs }: Config,
  read: ReadShown,
  ids: readonly number[],
  now: number,
): Promise<object> {
  const found = await loadReports(db, ids);
  const stationIds = [...new Set(found.map(({ stationId }) => stationId))];
  const stations = await read(stationIds);
  const byId = new Map(found.map((report) => [report.id, report]));
  const reports = [...new Set(ids)].flatMap((id) => {
    const report = byId.get(id);
    if (report === undefined || report.outcome === null) return [];
    const { state, chance } = stations.get(report.stationId) ?? { state: emptyState, chance: null };
    const fuel = withChance(view(state, now, statusLifetimeMs), chance);
    return [presentState(report, fuel)];
  });
  return { reports, count: reports.length };
}
