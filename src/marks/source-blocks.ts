import { Type } from "typebox";
import type { ConsoleNetwork } from "#src/contract/console-review.ts";
import { type Db, rows, type Tx } from "#src/infrastructure/db.ts";
import { firstIdOfDay, msOf } from "#src/marks/marks.ts";
import { dayMs } from "#src/domain/units.ts";
import { invalid, operatorAct, unknown } from "#src/operators/act.ts";
import { longId, moment, networkHash, orNull } from "#src/operators/inputs.ts";

/** A block of a reporter, by its number, or of a viewers' network, by its hash, hex. */
export interface SourceBlock {
  kind: "reporter" | "network";
  id: string;
  until: Date;
}

/** Digits of a network's hash in an alarm. */
export const networkDigits = 8;
/** A network without new reporters is searched in the marks of this time. */
const searchedMs = 7 * dayMs;

/** ms; null ends a block. */
const block = Type.Object({ until: orNull(moment) }, { additionalProperties: false });

/**
 * Holds all further marks of a reporter until `until`, ms; null ends the block (decisions 4.13). In force from the next
 * mark on.
 */
export const blockReporter = operatorAct(block, longId, async (tx, { until }, id, { now }) => {
  if (until !== null && until <= now) return inThePast;
  const at = until === null ? null : new Date(until);
  const [found] = await rows<Former>(
    tx,
    `with old as (select blocked_until as before from reporters where id = ? for update)
     update reporters set blocked_until = ?::timestamptz from old where id = ? returning before`,
    [id, at, id],
  );
  if (found === undefined) return unknown("reporter", id);
  const value = { kind: "reporter", id: String(id), until: at ?? new Date(now) } as const;
  return { value, ...entryOf("reporter", String(id), at, found, now) };
});

/** The same for a viewers' network. `digits`: its hash, hex, or first digits of it that no other network has. */
export const blockNetwork = operatorAct(
  block,
  networkHash,
  async (tx, { until }, digits, { now }) => {
    if (until !== null && until <= now) return inThePast;
    const [hash, other] = digits === "" ? [] : await networksWith(tx, digits, now);
    if (hash === undefined) return unknown("network", digits);
    if (other !== undefined) return invalid("network", "More than one begins so: give more digits");
    const at = until === null ? null : new Date(until);
    const sql =
      "select until as before from network_blocks where viewer = decode(?, 'hex') for update";
    const [former = { before: null }] = await rows<Former>(tx, sql, [hash]);
    if (at === null)
      await rows(tx, "delete from network_blocks where viewer = decode(?, 'hex')", [hash]);
    else
      await rows(
        tx,
        `insert into network_blocks (viewer, until) values (decode(?, 'hex'), ?)
         on conflict (viewer) do update set until = excluded.until`,
        [hash, at],
      );
    const value = { kind: "network", id: hash, until: at ?? new Date(now) } as const;
    return { value, ...entryOf("network", hash.slice(0, networkDigits), at, former, now) };
  },
);

const inThePast = invalid("until", "Is in the past");

/** The end of the block that was there before. */
type Former = { before: Date | null };

const entryOf = (
  kind: SourceBlock["kind"],
  id: string,
  until: Date | null,
  { before }: Former,
  now: number,
) => {
  const former = before !== null && before.getTime() > now ? before.getTime() : null;
  const ends = until?.getTime() ?? 0;
  // The log has digits of a network's hash; without a block nothing may know the whole.
  const last = kind === "network" ? ends : Math.max(ends, former ?? 0);
  const undo = { path: `/${kind}s/${id}/block`, body: { until: former }, until: last };
  return { action: `${kind}.block`, subject: `${kind} ${id}`, details: { until, before }, undo };
};

/** The current blocks, by their end. */
export const listBlocks = (db: Db): Promise<SourceBlock[]> =>
  rows<SourceBlock>(
    db,
    `select 'reporter' as kind, id::text, blocked_until as until from reporters where blocked_until > server_now()
     union all
     select 'network', encode(viewer, 'hex'), until from network_blocks where until > server_now()
     order by until, id`,
  );

/** Up to two networks whose hash begins with these hexadecimal digits. */
async function networksWith(tx: Tx, digits: string, now: number): Promise<string[]> {
  const bounds = [digits.padEnd(64, "0"), digits.padEnd(64, "f")];
  const between = "viewer between decode(?, 'hex') and decode(?, 'hex')";
  const found = await rows<{ hash: string }>(
    tx,
    `select encode(viewer, 'hex') as hash from (
       select viewer from reporters where ${between}
       union select viewer from network_blocks where ${between}
       union select viewer from marks where ${between} and id >= ?) v order by 1 limit 2`,
    [...bounds, ...bounds, ...bounds, firstIdOfDay(now - searchedMs)],
  );
  return found.map(({ hash }) => hash);
}

const alarmDays = 7;
const subjectStart = "network ";

/**
 * Viewers' networks that the console names somewhere, by the beginning of their hash: those with held marks, with an
 * alarm that is open or of the last 7 days, and blocked ones (decisions 13.24). At most `limit`, those with the most
 * held marks first, then the latest alarms. Other networks are only in marks, which have no index by network.
 */
export async function namedNetworks(db: Db, limit: number): Promise<ConsoleNetwork[]> {
  const held = await rows<{ network: string; held: number }>(
    db,
    `select left(encode(viewer, 'hex'), ${networkDigits}) as network, count(*) as held from marks
     where review = 'held' and viewer is not null group by 1`,
  );
  const alarms = await rows<{ network: string; alarm: number }>(
    db,
    `select substr(subject, ${subjectStart.length + 1}) as network, ${msOf("max(last_at)")} as alarm from alarms
     where subject like ? and (acknowledged_at is null or raised_at > server_now() - interval '${alarmDays} days')
     group by 1 order by 2 desc limit ?`,
    [`${subjectStart}%`, limit],
  );
  const blocked = await rows<{ network: string; blocked: number }>(
    db,
    `select left(encode(viewer, 'hex'), ${networkDigits}) as network, ${msOf("until")} as blocked from network_blocks
     where until > server_now() order by until desc limit ?`,
    [limit],
  );
  const found = new Map<string, ConsoleNetwork>();
  for (const { network, ...facts } of [...held, ...alarms, ...blocked]) {
    const known = found.get(network) ?? { network, held: 0, alarm: null, blocked: null };
    const more = "held" in facts ? { held: known.held + facts.held } : facts;
    found.set(network, { ...known, ...more });
  }
  return [...found.values()]
    .sort((a, b) => b.held - a.held || (b.alarm ?? 0) - (a.alarm ?? 0))
    .slice(0, limit);
}
