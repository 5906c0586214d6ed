import type { Config } from "#src/infrastructure/config.ts";
import { type Db, rows } from "#src/infrastructure/db.ts";
import { findReporterId, refuseUnknownPartner, sideOf } from "#src/marks/erasure.ts";
import { type Person, reporterOf } from "#src/marks/reporter.ts";
import { act, type NotDone } from "#src/operators/act.ts";

/** All that is kept of a person, with the names of the API; times are texts in UTC. */
export interface PersonExport {
  /** Null for a device of the map. */
  partner: number | null;
  /** Null when nobody of this name is known, or not any more. */
  first_seen: string | null;
  marks: Record<string, unknown>[];
}

const time = (column: string): string => `to_char(${column}, 'YYYY-MM-DD HH24:MI:SS')`;

/**
 * Hands out what is kept of a person, for the person (docs/decisions.md 19.6). The hash and the number of the reporter
 * stay inside. The operator's log says that it was done, and not for whom.
 */
export const exportPerson = (
  db: Db,
  actor: string,
  config: Pick<Config, "reporterPepper">,
  person: Person,
): Promise<PersonExport | NotDone> =>
  act(db, actor, async (tx) => {
    const refused = await refuseUnknownPartner(tx, person);
    if (refused !== null) return refused;
    const id = await findReporterId(tx, reporterOf(config.reporterPepper, person));
    const [reporter] = await rows<{ first_seen: string | null }>(
      tx,
      `select ${time("first_seen")} as first_seen from reporters where id = ?`,
      [id],
    );
    const marks = await rows<{ mark: Record<string, unknown> }>(
      tx,
      `select json_strip_nulls(json_build_object('report_id', id::text, 'station_id', station_id, 'key', key_id,
         'received', ${time("received_at")}, 'effective', ${time("effective_at")}, 'status', status, 'lat', lat,
         'lon', lon, 'acc_m', acc_m, 'network', encode(viewer, 'hex'), 'express', express, 'fuels', fuels,
         'fuels_no', fuels_no, 'queue', queue, 'prices', prices, 'limit_l', limit_l, 'no_cash', no_cash,
         'fuel_cards_only', fuel_cards_only, 'text', comment, 'external_id', external_id, 'remote', remote,
         'review', review, 'outcome', outcome)) as mark
       from marks where reporter_id = ? order by id`,
      [id],
    );
    const value = {
      partner: "device" in person ? null : person.partner,
      first_seen: reporter?.first_seen ?? null,
      marks: marks.map(({ mark }) => mark),
    };
    return { value, action: "reporter.export", subject: sideOf(person) };
  });
