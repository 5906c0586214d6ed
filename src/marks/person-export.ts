import type { Refusal } from "#src/contract/refusals.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { type Db, rows } from "#src/infrastructure/db.ts";
import { findPerson, refuseUnknownPartner, sideOf } from "#src/marks/erasure.ts";
import { type Person, reporterOf } from "#src/marks/marks.ts";
import { formatTime } from "#src/domain/time.ts";
import type { Grade } from "#src/domain/vocabulary.ts";
import { alertsOf } from "#src/pushes/alerts/devices.ts";
import { act } from "#src/operators/act.ts";
import { suggestionsOf } from "#src/stations/suggestions.ts";

/** All stored data of a person, with the names of the API; times are texts in UTC. */
export interface PersonExport {
  /** Null for a device of the map. */
  partner: number | null;
  /** Null when nobody of this name is known, or not any more. */
  first_seen: string | null;
  /** The end of an operator's block of the person (decisions 4.13). */
  blocked_until: string | null;
  /** The alerts of a device of the map (decisions 19.12). */
  alerts: { grade: Grade; lat: number; lon: number; radius_km: number; until: string }[];
  /** What it has said of stations themselves (decisions 15.47). */
  suggestions: Record<string, unknown>[];
  /** The newest first. */
  marks: Record<string, unknown>[];
}

/**
 * Exports the stored data of a person, for the person (decisions 19.6), without the reporter's hash and number. The
 * operator's log notes the export, but not the person.
 */
export async function exportPerson(
  db: Db,
  actor: string,
  config: Config,
  person: Person,
): Promise<PersonExport | Refusal> {
  const refused = await refuseUnknownPartner(db, person);
  if (refused !== null) return refused;
  const reporter = await findPerson(db, config, person);
  const hash = reporterOf(config.reporterPepper, person);
  const value: PersonExport = {
    partner: "device" in person ? null : person.partner,
    first_seen: textOf(reporter?.first_seen),
    blocked_until: textOf(reporter?.blocked_until),
    alerts: await readAlerts(db, hash),
    suggestions: await suggestionsOf(db, hash),
    marks: reporter === null ? [] : await readMarks(db, reporter.id),
  };
  const entry = { action: "reporter.export", subject: sideOf(person) };
  return act(db, actor, async () => ({ value, ...entry }));
}

const readAlerts = async (db: Db, reporter: string): Promise<PersonExport["alerts"]> =>
  (await alertsOf(db, reporter)).map(({ grade, lat, lon, radius_m, expires }) => ({
    ...{ grade, lat, lon, radius_km: radius_m / 1000, until: formatTime(expires) },
  }));

const textOf = (at: Date | null | undefined): string | null =>
  at == null ? null : formatTime(at.getTime());

const time = (column: string): string =>
  `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS')`;

async function readMarks(db: Db, reporterId: number): Promise<Record<string, unknown>[]> {
  const found = await rows<{ mark: Record<string, unknown> }>(
    db,
    `select json_strip_nulls(json_build_object('report_id', id::text, 'station_id', station_id, 'key', key_id,
       'received', ${time("received_at")}, 'effective', ${time("effective_at")}, 'status', status, 'lat', lat,
       'lon', lon, 'acc_m', acc_m, 'network', encode(viewer, 'hex'), 'express', express, 'fuels', fuels,
       'fuels_no', fuels_no, 'queue', queue, 'prices', prices, 'limit_l', limit_l, 'no_cash', no_cash,
       'fuel_cards_only', fuel_cards_only, 'text', comment, 'external_id', external_id, 'remote', remote,
       'review', review, 'taken_back', ${time("taken_back_at")}, 'outcome', outcome)) as mark
     from marks where reporter_id = ? order by id desc`,
    [reporterId],
  );
  return found.map(({ mark }) => mark);
}
