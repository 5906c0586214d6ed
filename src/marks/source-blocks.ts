import { Type } from "typebox";
import { type Db, rows, type Tx } from "#src/infrastructure/db.ts";
import { firstIdOfDay } from "#src/marks/marks.ts";
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
  const found = await rows(
    tx,
    "update reporters set blocked_until = ?::timestamptz where id = ? returning id",
    [at, id],
  );
  if (found.length === 0) return unknown("reporter", id);
  const value = { kind: "reporter", id: String(id), until: at ?? new Date(now) } as const;
  return { value, ...entryOf("reporter", String(id), at) };
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
    return { value, ...entryOf("network", hash.slice(0, networkDigits), at) };
  },
);

const inThePast = invalid("until", "Is in the past");

const entryOf = (kind: SourceBlock["kind"], id: string, until: Date | null) => ({
  action: `${kind}.block`,
  subject: `${kind} ${id}`,
  details: { until },
});

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
