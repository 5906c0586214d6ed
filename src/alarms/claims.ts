import { minuteMs } from "#src/domain/units.ts";
import type { AlarmRow } from "#src/alarms/alarms.ts";
import { alarmColumns, readableAlarms } from "#src/alarms/alarms.ts";
import type { ChannelName } from "#src/alarms/channels.ts";
import { type Db, rows } from "#src/infrastructure/db.ts";
import { msOf } from "#src/marks/marks.ts";

/** Columns with the time at which a channel told an alarm. */
const toldAt = { email: "emailed_at", webhook: "posted_at" } as const;
/** Longer than any channel needs for a message. Others wait this long for the claim of a process that died. */
const claimMs = minuteMs;

/** SQL for alarms that a channel has to tell. A channel that was set up today gets no alarms of last week. */
const isUntold = (channel: ChannelName): string =>
  `${toldAt[channel]} is null and acknowledged_at is null
   and raised_at > (select server_now()) - interval '1 day'`;

/** No pause lasts a day, so a later time is a mistake and must not silence the channel. */
const mayBeSent = "(c.next_at <= server_now() or c.next_at > server_now() + interval '1 day')";

/** The right to send through a channel, until `claimMs` have passed. */
export interface Claim {
  channel: ChannelName;
  number: number;
  /** Failures in a row before this attempt. */
  failures: number;
  /** What was wrong with the last message; null when nothing was. */
  fault: string | null;
}

/**
 * Claims a channel when alarms wait for it: one process at a time. Without a claim `waitMs` is the time until the next
 * look: null when nothing waits, else until somebody may send.
 */
export async function claimChannel(
  db: Db,
  channel: ChannelName,
): Promise<{ claim: Claim } | { claim: null; waitMs: number | null }> {
  const [found] = await rows<(Omit<Claim, "channel"> | { number: null }) & { waitMs: number }>(
    db,
    `with due as (
       select channel, next_at from alarm_channels
       where channel = ? and exists (select from alarms where ${isUntold(channel)})
     ), claimed as (
       update alarm_channels c
       set next_at = server_now() + ${claimMs} * interval '1 ms', claims = claims % 1000000000000 + 1
       from due where c.channel = due.channel and ${mayBeSent}
       returning c.claims, c.failures, c.fault
     )
     select claims as number, failures, fault,
       case when claims is null then greatest(0, ${msOf("due.next_at")} - ${msOf("server_now()")}) else 0 end as "waitMs"
     from due left join claimed on true`,
    [channel],
  );
  if (found === undefined) return { claim: null, waitMs: null };
  if (found.number === null) return { claim: null, waitMs: found.waitMs };
  const { number, failures, fault } = found;
  return { claim: { channel, number, failures, fault } };
}

/** The alarms that this channel has not told yet, the oldest first. */
export const untoldAlarms = async (db: Db, channel: ChannelName): Promise<AlarmRow[]> =>
  readableAlarms(
    await rows<AlarmRow>(
      db,
      `select ${alarmColumns} from alarms where ${isUntold(channel)} order by id limit 1000`,
    ),
  );

/** Notes that these alarms were told, and pauses the channel for `gapMs`. */
export async function noteTold(
  db: Db,
  { channel, number }: Claim,
  alarms: readonly AlarmRow[],
  gapMs: number,
): Promise<void> {
  const sql = `with told as (
       update alarms set ${toldAt[channel]} = server_now() where id = any(?::int[])
     )
     update alarm_channels set next_at = server_now() + ?::int * interval '1 ms', failures = 0, fault = null,
       sent_at = server_now()
     where channel = ? and claims = ?`;
  await rows(db, sql, [alarms.map(({ id }) => id), gapMs, channel, number]);
}

/** Notes a failure by `fault`; the next attempt is after `pauseMs`. */
export async function noteFailure(
  db: Db,
  { channel, number }: Claim,
  fault: string,
  pauseMs: number,
): Promise<void> {
  const sql = `update alarm_channels set next_at = server_now() + ?::int * interval '1 ms', failures = least(failures, 1000000) + 1, fault = ?
     where channel = ? and claims = ?`;
  await rows(db, sql, [pauseMs, fault, channel, number]);
}

/** Notes that these channels took a test: the alarms that they failed to send may be acknowledged meanwhile. */
export const noteReached = (db: Db, channels: readonly ChannelName[]): Promise<object[]> =>
  rows(
    db,
    "update alarm_channels set failures = 0, fault = null where channel = any(?::text[]) returning channel",
    [channels],
  );

/** The state of the channels. */
export const readChannels = (
  db: Db,
): Promise<
  { channel: ChannelName; failures: number; fault: string | null; sent_at: Date | null }[]
> => rows(db, "select channel, failures, fault, sent_at from alarm_channels order by channel");
