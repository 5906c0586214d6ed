import type { AlarmKind } from "#src/alarms/kinds.ts";
import type { ClockName } from "#src/domain/followed-time.ts";
import { hourMs } from "#src/domain/units.ts";
import type { Clock } from "#src/infrastructure/clock.ts";
import { rows, type Statements } from "#src/infrastructure/db.ts";

/** Something that an operator has to know. It goes to e-mail, a webhook and `/readyz`: no personal data, no secrets. */
export interface Alarm {
  kind: AlarmKind;
  /** What it is about: a source (`partner 7`, `network 3f9ac27b`: the beginning of its hash) or a station. */
  subject: string;
  /** The name of its city, where it has one. */
  city?: string;
  /** When, ms. The same alarm within one UTC hour is one. */
  at: number;
  /** How many things happened, such as marks held; 1 unless it is said. */
  count?: number;
  /** Further figures by their names, for people. A later alarm of the hour replaces those of the same name. */
  details?: Readonly<Record<string, string | number>>;
}

/** What an alarm calls a source of marks: without an address, and with as much of its hash as tells it apart. */
export const subjectOfSource = (viewer: string | null, partnerId: number | null): string =>
  viewer === null ? `partner ${partnerId}` : `network ${viewer.slice(0, 8)}`;

/** For a watch over the periodic duties: raises the alarm that one has stopped. All processes that see it raise one. */
export const dutyAlarm =
  (db: Statements, clock: Clock) =>
  (duty: string): Promise<void> =>
    raiseAlarms(db, [{ kind: "duty-late", subject: `duty ${duty}`, at: clock() }]);

/** For a quarantine: raises the alarm that rows of a table cannot be read. All processes that see it raise one an hour. */
export const rowsAlarm =
  (db: Statements, clock: Clock) =>
  (table: string, rows: number): Promise<void> =>
    raiseAlarms(db, [
      { kind: "rows-unreadable", subject: `table ${table}`, at: clock(), details: { rows } },
    ]);

/** For the time of a process: raises the alarm that clocks are off. */
export const clockAlarm =
  (db: Statements, role: string) =>
  (clocks: readonly ClockName[], at: number): Promise<void> =>
    raiseAlarms(
      db,
      clocks.map((name) => ({
        ...{ kind: "clock-off" as const, at },
        subject: name === "own" ? `clock of a ${role} process` : `clock of ${name}`,
      })),
    );

/**
 * Raises alarms in the transaction of what they are about (decisions 16.16): one statement. Of each kind,
 * subject, city and hour there is one alarm; a repeat counts and is not told again. Send it close to the commit, before
 * `feed_stamp`: its rows stay locked until then. Several are taken in one order, so transactions do not deadlock.
 */
export async function raiseAlarms(tx: Statements, alarms: readonly Alarm[]): Promise<void> {
  if (alarms.length === 0) return;
  const raised = together(alarms);
  await rows(
    tx,
    `with raised as (
       insert into alarms (kind, subject, city, hour, count, details)
       select kind, subject, city, timestamptz 'epoch' + hour * interval '1 ms', count, details::jsonb
       from unnest(?::text[], ?::text[], ?::text[], ?::bigint[], ?::int[], ?::text[])
         as a(kind, subject, city, hour, count, details)
       order by kind, subject, city, hour
       on conflict (kind, subject, city, hour) do update
         set count = least(alarms.count, 1000000000) + excluded.count, last_at = excluded.last_at,
           details = alarms.details || excluded.details
       -- xmax is 0 in a row that was inserted.
       returning xmax = 0 as fresh
     )
     select pg_notify('alarms', '') from raised where fresh limit 1`,
    [
      raised.map(({ kind }) => kind),
      raised.map(({ subject }) => subject),
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
    const key = JSON.stringify([alarm.kind, alarm.subject, alarm.city ?? "", hour]);
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
