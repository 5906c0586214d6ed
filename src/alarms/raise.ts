import { english, type Sentence } from "#src/contract/sentences.ts";
import type { AlarmKind } from "#src/contract/alarm-kinds.ts";
import type { ClockName } from "#src/domain/followed-time.ts";
import { hourMs } from "#src/domain/units.ts";
import type { Clock } from "#src/infrastructure/clock.ts";
import { rows, type Statements } from "#src/infrastructure/db.ts";

/** An event for an operator. It goes to e-mail, a webhook and `/readyz`, so it has no personal data and no secrets. */
export interface Alarm {
  kind: AlarmKind;
  /** Its subject, such as a source or a station; of a network only the beginning of its hash. */
  subject: Sentence | string;
  /** The name of its city, if it has one. */
  city?: string;
  /** Its time, ms. Equal alarms within one UTC hour are one. */
  at: number;
  /** Number of events, such as held marks; 1 by default. */
  count?: number;
  /** Further figures by their names, for people. A later alarm of the hour replaces those of the same name. */
  details?: Readonly<Record<string, string | number>>;
}

/** The name of a source of marks in an alarm: no address, and just enough of its hash to tell it apart. */
export const subjectOfSource = (viewer: string | null, partnerId: number | null): Sentence =>
  viewer === null
    ? { code: "partner", partner: partnerId! }
    : { code: "network", network: viewer.slice(0, 8) };

/** For a watch over the periodic duties: raises the alarm that one has stopped. All processes that see it raise one. */
export const dutyAlarm =
  (db: Statements, clock: Clock) =>
  (duty: string): Promise<void> =>
    raiseAlarms(db, [{ kind: "duty-late", subject: { code: "duty", duty }, at: clock() }]);

/** For a quarantine: raises the alarm that rows of a table cannot be read. All processes that see it raise one an hour. */
export const rowsAlarm =
  (db: Statements, clock: Clock) =>
  (table: string, rows: number): Promise<void> =>
    raiseAlarms(db, [
      {
        kind: "rows-unreadable",
        subject: { code: "table", table },
        at: clock(),
        details: { rows },
      },
    ]);

/** For the time of a process: raises the alarm that clocks are off. */
export const clockAlarm =
  (db: Statements, role: string) =>
  (clocks: readonly ClockName[], at: number): Promise<void> =>
    raiseAlarms(
      db,
      clocks.map((name) => ({
        ...{ kind: "clock-off" as const, at },
        subject: name === "own" ? { code: "clock-of-role", role } : { code: "clock", clock: name },
      })),
    );

/**
 * Raises alarms in the transaction of their events (decisions 16.16), in one statement. There is one alarm for each
 * kind, subject, city and hour; a repeat counts and is not told again. Send it close to the commit, before
 * `feed_stamp`: its rows stay locked until then. They are written in a fixed order, so transactions do not deadlock.
 */
export async function raiseAlarms(tx: Statements, alarms: readonly Alarm[]): Promise<void> {
  if (alarms.length === 0) return;
  const raised = together(alarms);
  await rows(
    tx,
    `with raised as (
       insert into alarms (kind, subject, said, city, hour, count, details)
       select kind, subject, said::jsonb, city, timestamptz 'epoch' + hour * interval '1 ms', count, details::jsonb
       from unnest(?::text[], ?::text[], ?::text[], ?::text[], ?::bigint[], ?::int[], ?::text[])
         as a(kind, subject, said, city, hour, count, details)
       order by kind, subject, city, hour
       on conflict (kind, subject, city, hour) do update
         set count = least(alarms.count, 1000000000) + excluded.count, last_at = excluded.last_at, said = excluded.said,
           details = alarms.details || excluded.details
       -- xmax is 0 in a row that was inserted.
       returning xmax = 0 as fresh
     )
     select pg_notify('alarms', '') from raised where fresh limit 1`,
    [
      raised.map(({ kind }) => kind),
      raised.map(({ subject }) => english(subject)),
      raised.map(({ subject }) => (typeof subject === "string" ? null : JSON.stringify(subject))),
      raised.map(({ city = "" }) => city),
      raised.map(({ at }) => at),
      raised.map(({ count = 1 }) => count),
      raised.map(({ details = {} }) => JSON.stringify(details)),
    ],
    "raise_alarms",
  );
}

/** Each alarm once, with the beginning of its hour as its time: a statement cannot change a row twice. */
function together(alarms: readonly Alarm[]): Alarm[] {
  const byKey = new Map<string, Alarm>();
  for (const { at, ...alarm } of alarms) {
    const hour = Math.floor(at / hourMs) * hourMs;
    const key = JSON.stringify([alarm.kind, english(alarm.subject), alarm.city ?? "", hour]);
    const { count = 0, details } = byKey.get(key) ?? {};
    byKey.set(key, {
      ...alarm,
      at: hour,
      count: count + (alarm.count ?? 1),
      details: { ...details, ...alarm.details },
    });
  }
  return [...byKey.values()];
}
