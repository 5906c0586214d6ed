import { expect } from "chai";
import { type Db, rows } from "#src/infrastructure/db.ts";
import type { StationState } from "#src/domain/state.ts";
import { view } from "#src/domain/view.ts";
import { checkMarks, type StoredMark } from "#test/fault/history.ts";
import { isKept, type Sent } from "#test/fault/load.ts";
import type { Stage } from "#test/fault/stage.ts";
import { until } from "#test/flow/client.ts";
import { countUnprocessed, expectRefolded } from "#test/flow/refold.ts";

/** From when to when something was away, ms since the epoch. */
export interface Outage {
  from: number;
  to: number;
}

const overlaps = ({ startedAt, endedAt }: Sent, outage: Outage | null): boolean =>
  outage !== null && startedAt <= outage.to && endedAt >= outage.from;

/**
 * No answer but 200, 202 and 429, and while Postgres is away 503 with Retry-After; none hangs; at least 95 % are 200
 * or 202 outside the outage. `broken`: calls that lost their connection, as those of a killed web process do.
 */
export function expectAnswers(
  sent: readonly Sent[],
  {
    outage = null,
    postgresAway = false,
    broken = false,
  }: {
    outage?: Outage | null;
    postgresAway?: boolean;
    broken?: boolean;
  },
): void {
  const odd = sent.filter((one) => {
    if (isKept(one) || one.status === 429) return false;
    if (one.status === 503)
      return !(postgresAway && overlaps(one, outage) && Number(one.retryAfter) > 0);
    return !(one.status === 0 && broken && overlaps(one, outage));
  });
  expect(
    odd.slice(0, 5).map((one) => ({
      ...one,
      afterOutageMs: outage === null ? null : one.startedAt - outage.to,
    })),
    `${odd.length} of ${sent.length} answers`,
  ).to.deep.equal([]);
  const outside = sent.filter((one) => !overlaps(one, outage));
  expect(outside.length, "calls outside the outage").to.be.greaterThan(100);
  expect(outside.filter(isKept).length / outside.length).to.be.at.least(0.95);
}

type Served = Pick<Stage, "config" | "clients"> & { country: Pick<Stage["country"], "db"> };

/**
 * Every acknowledged mark is in effect exactly once: stored under the id that was answered, processed or withdrawn, and in the
 * state of its station, which is the fold over all marks and what both web processes serve.
 */
export async function expectInEffectOnce(stage: Served, sent: readonly Sent[]): Promise<void> {
  const { country, config } = stage;
  await until(
    () => countUnprocessed(country.db),
    (count) => count === 0,
  );
  expect(checkMarks(sent, await storedMarks(country.db))).to.deep.equal([]);
  await expectRefolded(country.db, config);
  await expectServed(stage);
}

/** Every mark as it is stored, by the name that its sender gave it. */
export const storedMarks = (db: Db): Promise<StoredMark[]> =>
  rows<StoredMark>(
    db,
    `select id, external_id,
       (outcome is not null or review = 'withdrawn') and failed_at is null as done from marks where external_id is not null`,
  );

/** What only a deletion makes fewer, and the days that marks have a table for. */
export const countRows = async (db: Db): Promise<Record<string, number>> =>
  (
    await rows<Record<string, number>>(
      db,
      `select (select count(*) from marks) as marks, (select count(*) from opinions) as opinions,
         (select count(*) from mark_keys) as keys, (select count(*) from reporters) as reporters,
         (select count(*) from marks where lat is not null) as positions,
         (select count(*) from pg_inherits where inhparent = 'marks'::regclass) as days`,
    )
  )[0]!;

/** Every web process serves the states that are stored. */
export async function expectServed({ country, config, clients }: Served): Promise<void> {
  const states = await rows<{ station_id: string; state: StationState }>(
    country.db,
    "select station_id, state from station_status where state is not null",
  );
  for (const client of clients) {
    for (const { station_id: id, state } of states) {
      const wanted = view(state, Date.now(), config.statusLifetimeMs);
      const served = await until(
        () => client.get(`/stations/${id}`),
        (answer) =>
          answer.status === 200 &&
          JSON.stringify(answer.body.station.fuel) === JSON.stringify(wanted),
      );
      expect(served.body.station.fuel).to.deep.equal(wanted);
    }
  }
}
