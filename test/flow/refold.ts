import { expect } from "chai";
import type { Config } from "#src/infrastructure/config.ts";
import { type Db, rows } from "#src/infrastructure/db.ts";
import { decide } from "#src/domain/decide.ts";
import { explain } from "#src/domain/explain.ts";
import { emptyState, type StationState } from "#src/domain/state.ts";
import {
  markColumns,
  type MarkRow,
  msOf,
  seedColumns,
  type SeedRow,
  toMark,
} from "#src/marks/marks.ts";
import { until } from "#test/flow/client.ts";

/** What `/readyz` says of the change feed. */
interface Ready {
  checks: { stations: { detail: { seq: number } } };
}

/** Marks that were stored and are not processed yet. */
export const countUnprocessed = async (db: Db): Promise<number> =>
  (
    await rows<{ count: number }>(
      db,
      "select count(*) as count from marks where processed_at is null",
    )
  )[0]!.count;

/** Until every mark is processed. */
export const untilProcessed = (db: Db): Promise<number> =>
  until(
    () => countUnprocessed(db),
    (count) => count === 0,
  );

/** Until every mark is processed, every station folded, and each of these web processes has heard of all of it. */
export async function untilServed(
  db: Db,
  webs: readonly { readonly baseUrl: string }[],
): Promise<void> {
  await until(
    async () => {
      const sql = "select count(*) as count from station_status where refold";
      return (await rows<{ count: number }>(db, sql))[0]!.count + (await countUnprocessed(db));
    },
    (left) => left === 0,
  );
  const [newest] = await rows<{ seq: number | null }>(db, "select max(seq) as seq from changes");
  for (const { baseUrl } of webs)
    await until(
      async () =>
        ((await (await fetch(`${baseUrl}/readyz`)).json()) as Ready).checks.stations.detail.seq,
      (seq) => seq >= (newest!.seq ?? 0),
    );
}

/** Expects that every station's saved state is the fold over its counted marks: each in effect, exactly once. */
export async function expectRefolded(db: Db, config: Config): Promise<void> {
  const marks = await rows<MarkRow>(
    db,
    `select ${markColumns} from marks where review in ('none', 'approved') and failed_at is null`,
  );
  const seen = new Map(
    (
      await rows<{ id: number; seen: number }>(
        db,
        `select id, ${msOf("first_seen")} as seen from reporters where first_seen is not null`,
      )
    ).map((row) => [row.id, row.seen]),
  );
  const seeds = await rows<SeedRow>(db, `select ${seedColumns} from seeds`);
  const saved = await rows<{ station_id: string; state: StationState }>(
    db,
    "select station_id, state from station_status where state is not null",
  );
  const touched = [...marks, ...seeds].map((row) => row.station_id);
  expect(saved.map((row) => row.station_id)).to.include.members(touched);
  for (const { station_id: stationId, state } of saved) {
    const history = {
      marks: marks.filter((row) => row.station_id === stationId).map(toMark),
      seeds: seeds.flatMap(({ station_id, ...seed }) => (station_id === stationId ? seed : [])),
    };
    const arrivals = { marks: [], seeds: [] };
    const folded = decide(
      { state: emptyState, opinions: [], history },
      arrivals,
      (id) => seen.get(id) ?? 0,
      Date.now(),
      config,
    );
    expect(state, stationId).to.deep.equal(JSON.parse(JSON.stringify(folded.state)));
    // What the console tells of a station ends where the station is.
    const told = explain(history, null, (id) => seen.get(id) ?? 0, Date.now(), config).state;
    expect(state, stationId).to.deep.equal(JSON.parse(JSON.stringify(told)));
  }
}
