import { inTransaction, rows } from "#src/infrastructure/db.ts";
import type { StationState } from "#src/domain/state.ts";
import { instants as transitions, view } from "#src/domain/view.ts";
import { msOf } from "#src/marks/marks.ts";
import type { RoleDeps } from "#workers/role.ts";

const batch = 1000;

/**
 * Writes what time alone changed into the rows: expired statuses become `nodata`, disputes end. The folded state itself
 * stays, so that a later reader still knows when each change took place. Readers compute the same changes themselves,
 * on time. Returns the number of stations.
 */
export async function settleTransitions({ db, config }: RoleDeps): Promise<number> {
  for (let total = 0; ;) {
    const settled = await inTransaction(db, async (tx) => {
      const due = await rows<{ station_id: string; state: StationState; now: number }>(
        tx,
        `select station_id, state, ${msOf("server_now()")} as now from station_status
         where next_at <= server_now() order by station_id limit ${batch} for no key update skip locked`,
      );
      const next = due.map(
        ({ state, now }) =>
          transitions(state, config.statusLifetimeMs).find((at) => at > now) ?? null,
      );
      await tx.raw(
        `update station_status st set status = d.status, updated_at = server_now(),
           next_at = timestamptz 'epoch' + d.next * interval '1 ms'
         from unnest(?::text[], ?::text[], ?::bigint[]) as d(station_id, status, next) where st.station_id = d.station_id`,
        [
          due.map((row) => row.station_id),
          due.map((row) => view(row.state, row.now, config.statusLifetimeMs).status),
          next,
        ] as never,
      );
      return due.length;
    });
    total += settled;
    if (settled < batch) return total;
  }
}
