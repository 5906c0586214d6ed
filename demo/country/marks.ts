import { makeStatement, type DemoStatement } from "#demo/country/statements.ts";
import type { Random } from "#demo/country/random.ts";
import { aside } from "#demo/country/stations.ts";
import type { Point } from "#src/domain/geo.ts";
import type { Rule, Status } from "#src/domain/vocabulary.ts";
import { rows, type Tx } from "#src/infrastructure/db.ts";
import { fromMs } from "#src/marks/marks.ts";

export interface DemoMark extends DemoStatement {
  stationId: string;
  reporterHash: string;
  status: Status;
  /** Effective time in ms. */
  at: number;
  receivedAt: number;
  position: (Point & { accM: number }) | null;
  remote: boolean;
  needed: number;
  rule: Rule;
  newcomer: boolean;
}

/** What a driver said at a station, with the verdict that intake would have fixed (decisions 2). */
export function makeMark(
  random: Random,
  station: Point & { id: string },
  said: {
    status: Status;
    at: number;
    remote: boolean;
    nearbyMarks: boolean;
    reporterHash: string;
    newcomer: boolean;
  },
): DemoMark {
  const { status, remote, nearbyMarks } = said;
  const doubted = status === "no" && nearbyMarks;
  const place = aside(station, random.between(5, 120), random.between(0, 360));
  return {
    stationId: station.id,
    reporterHash: said.reporterHash,
    newcomer: said.newcomer,
    status,
    at: said.at,
    receivedAt: said.at,
    position: remote ? null : { ...place, accM: random.int(4, 60) },
    remote,
    needed: remote || doubted ? 2 : 1,
    rule: remote ? "remote" : doubted ? "no-nearby-marks" : "geolocated",
    ...makeStatement(random, station.id, status),
  };
}

const chunkRows = 2000;

/** Stores marks of reporters that exist, unprocessed, oldest first, so that their ids are in the order of time. */
export async function insertMarks(tx: Tx, marks: readonly DemoMark[]): Promise<void> {
  const ordered = marks.toSorted((a, b) => a.receivedAt - b.receivedAt);
  for (let from = 0; from < ordered.length; from += chunkRows)
    await insertChunk(tx, ordered.slice(from, from + chunkRows));
}

async function insertChunk(tx: Tx, marks: readonly DemoMark[]): Promise<void> {
  const column = <T>(value: (mark: DemoMark) => T): T[] => marks.map(value);
  // Lists travel joined: unnest would flatten an array of arrays.
  const joined = (list: readonly string[]): string | null =>
    list.length === 0 ? null : list.join(",");
  const time = (name: string): string => fromMs.replace("?", `given.${name}`);
  await rows(
    tx,
    `insert into marks (id, station_id, reporter_id, source, status, effective_at, received_at, lat, lon, acc_m,
       remote, needed, rule, newcomer, fuels, fuels_no, queue, prices, limit_l, limit_stated, no_cash, fuel_cards_only)
     select next_mark_id(${time("received")}), given.station_id, reporters.id, 'demo', given.status, ${time("at")},
       ${time("received")}, given.lat, given.lon, given.acc_m, given.remote, given.needed, given.rule, given.newcomer,
       string_to_array(given.fuels, ','), string_to_array(given.fuels_no, ','), given.queue, given.prices::jsonb,
       given.limit_l, given.limit_l is not null, given.no_cash, given.cards
     from unnest(?::text[], ?::text[], ?::text[], ?::bigint[], ?::bigint[], ?::float8[], ?::float8[], ?::float8[],
         ?::boolean[], ?::smallint[], ?::text[], ?::boolean[], ?::text[], ?::text[], ?::text[], ?::text[], ?::integer[],
         ?::boolean[], ?::boolean[]) with ordinality
       as given (station_id, reporter, status, at, received, lat, lon, acc_m, remote, needed, rule, newcomer,
         fuels, fuels_no, queue, prices, limit_l, no_cash, cards, place)
     join reporters on reporters.hash = decode(given.reporter, 'hex')
     order by given.place`,
    [
      column((mark) => mark.stationId),
      column((mark) => mark.reporterHash),
      column((mark) => mark.status),
      column((mark) => mark.at),
      column((mark) => mark.receivedAt),
      column((mark) => mark.position?.lat ?? null),
      column((mark) => mark.position?.lon ?? null),
      column((mark) => mark.position?.accM ?? null),
      column((mark) => mark.remote),
      column((mark) => mark.needed),
      column((mark) => mark.rule),
      column((mark) => mark.newcomer),
      column((mark) => joined(mark.fuels)),
      column((mark) => joined(mark.fuelsNo)),
      column((mark) => mark.queue),
      column((mark) => (mark.prices === null ? null : JSON.stringify(mark.prices))),
      column((mark) => mark.limitL),
      column((mark) => mark.noCash),
      column((mark) => mark.fuelCardsOnly),
    ],
  );
}

/** Stores reporters that are not there yet. */
export async function insertReporters(
  tx: Tx,
  reporters: readonly { hash: string; firstSeen: number }[],
): Promise<void> {
  await rows(
    tx,
    `insert into reporters (hash, first_seen)
      select decode(hash, 'hex'), ${fromMs.replace("?", "seen")} from unnest(?::text[], ?::bigint[]) as given (hash, seen)
      on conflict (hash) do nothing`,
    [reporters.map(({ hash }) => hash), reporters.map(({ firstSeen }) => firstSeen)],
  );
}
