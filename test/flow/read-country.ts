import type { Random } from "#demo/country/random.ts";
import { type Db, inTransaction, rows } from "#src/infrastructure/db.ts";
import {
  emptyState,
  type Position,
  type StationState,
  type UnservedStatus,
} from "#src/domain/state.ts";
import { grades, queues, type Status, statuses } from "#src/domain/vocabulary.ts";
import type { Known } from "#test/oracle/reads.ts";

const hourMs = 3600_000;

/** A time before `now`: often one at which a status, a price or a `fresh_h` ends within minutes. */
function drawTime(random: Random, now: number): number {
  if (random.chance(0.3)) return now - random.int(1, 24) * hourMs + random.int(-2000, 200_000);
  return now - random.int(0, 26 * hourMs);
}

/** Any state that the fold might have left behind, as of `now` (ms). */
export function drawState(random: Random, now: number): StationState {
  if (random.chance(0.2)) return emptyState;
  const some = <T>(list: readonly T[], share: number): T[] =>
    list.filter(() => random.chance(share));
  const position = (): Position => ({ at: drawTime(random, now), id: random.int(1, 1e6) });
  const served = random.chance(0.75) ? drawServed(random, now, some(grades, 0.4)) : null;
  const side = (status: Status) => ({
    status,
    count: random.int(2, 4),
    updated: drawTime(random, now),
  });
  const versions = some(statuses, 0.15)
    .filter((status) => status !== served?.status)
    .map((status): UnservedStatus => {
      const disputed =
        served !== null && random.chance(0.3)
          ? { served: side(served.status), challenger: side(status) }
          : null;
      return { status, count: random.int(1, 3), newest: position(), disputed };
    });
  const state: StationState = {
    ...emptyState,
    served,
    versions,
    seeded:
      served === null && random.chance(0.4)
        ? {
            ...{
              importedAt: now - hourMs,
              updated: drawTime(random, now),
              status: random.pick(statuses),
            },
            ...{ fuelsNow: some(grades, 0.5), fuelsNo: [] },
          }
        : null,
    prices: some(grades, 0.15).map((grade) => ({
      ...{ grade, price: random.int(5000, 7000) / 100, from: position() },
    })),
    lastUpdated: served?.updated ?? (random.chance(0.5) ? drawTime(random, now) : null),
  };
  const at = now + random.int(1, 200_000);
  return random.chance(0.1) ? { ...state, next: { at, state: { ...state, versions: [] } } } : state;
}

function drawServed(
  random: Random,
  now: number,
  fuelsNow: StationState["prices"][number]["grade"][],
) {
  const status = random.pick(statuses);
  return {
    ...{
      status,
      updated: drawTime(random, now),
      confirmations: random.int(0, 9),
      realCount: random.int(0, 5),
    },
    details: {
      fuelsNow,
      fuelsNo: grades.filter((grade) => !fuelsNow.includes(grade) && random.chance(0.3)),
      queue: random.chance(0.5) ? ("" as const) : random.pick(queues),
      limitL: random.chance(0.2) ? random.int(10, 100) : null,
      noCash: random.chance(0.2),
      fuelCardsOnly: random.chance(0.2),
    },
  };
}

/** Gives every station in service a random state; a few lose their service. */
export async function drawStates(db: Db, random: Random, now: number): Promise<void> {
  const found = await rows<{ id: string }>(
    db,
    "select id from stations where removed_at is null order by id",
  );
  const ids = found.map(({ id }) => id);
  const gone = ids.filter(() => random.chance(0.01));
  const states = ids.map(() => JSON.stringify(drawState(random, now)));
  const chances = ids.map(() => (random.chance(0.6) ? 5 * random.int(0, 20) : null));
  await inTransaction(db, async (tx) => {
    await tx.raw(
      `insert into station_status (station_id, state, chance) select id, state::jsonb, chance
       from unnest(?::text[], ?::text[], ?::int[]) as given (id, state, chance)`,
      [ids, states, chances] as never,
    );
    await tx.raw("update stations set removed_at = server_now() where id = any(?::text[])", [
      gone,
    ] as never);
    await tx.raw("select feed_stamp(?::text[])", [ids] as never);
    await tx.raw("select feed_stamp(?::text[], true)", [gone] as never);
  });
}

/** What the database holds, as the oracle wants it. */
export async function loadKnown(db: Db): Promise<Known[]> {
  const found = await rows<
    Omit<Known, "state" | "at"> & { state: StationState | null; at: string }
  >(
    db,
    `select s.id, s.lat, s.lon, s.brand, s.name, s.addr, s.grades_sold, s.opening_hours, s.closed, st.state, st.chance, c.removed,
       floor(extract(epoch from c.at) * 1000) as at
     from changes c join stations s on s.id = c.station_id left join station_status st on st.station_id = s.id`,
  );
  return found.map((row) => ({ ...row, state: row.state ?? emptyState, at: Number(row.at) }));
}
