import type { PartnerRights } from "#src/contract/console.ts";
import type { Refusal } from "#src/contract/refusals.ts";
import { type Static, Type } from "typebox";
import { rows, type Db, type Statements, type Tx } from "#src/infrastructure/db.ts";
import { dayMs } from "#src/domain/units.ts";
import { changedSince, invalid, noId, operatorAct, unknown } from "#src/operators/act.ts";
import { changeOf, type Undo, undoOf } from "#src/operators/operator-log.ts";
import { line, moment, orNull, rowId, seenValues, within } from "#src/operators/inputs.ts";

/** A partner as the operator sees it. */
export interface Partner extends PartnerRights {
  /** The end of a launch. */
  launch_until: Date | null;
  created_at: Date;
  updated_at: Date;
}

/** Limits until `until`, ms: new users in a day, and stations harmfully changed in an hour. */
export interface Launch {
  until: number;
  newUsers: number;
  limit: number;
}

export const limits = {
  rpm: Type.Optional(within(1, 100_000)),
  daily: Type.Optional(within(1, 100_000_000)),
};
const name = line(1, 200);
const newUsersDaily = within(1, 10_000_000);
const newPartner = Type.Object({ name, ...limits });
const changes = Type.Object(
  {
    name: Type.Optional(name),
    ...limits,
    enabled: Type.Optional(Type.Boolean()),
    bind_ips: Type.Optional(Type.Boolean()),
    accept_remote: Type.Optional(Type.Boolean()),
    cache_ttl_s: Type.Optional(orNull(within(0, 3600))),
    new_users_daily: Type.Optional(orNull(newUsersDaily)),
    was: seenValues,
  },
  { minProperties: 1, additionalProperties: false },
);
const launch = Type.Object(
  { until: orNull(moment), new_users: newUsersDaily, limit: within(1, 1_000_000) },
  { additionalProperties: false },
);
export type PartnerChanges = Omit<Static<typeof changes>, "was">;

/** Longest launch. */
const launchMaxMs = 92 * dayMs;

const columns =
  "id, name, rpm, daily, enabled, bind_ips, accept_remote, cache_ttl_s, new_users_daily, launch_until, launch_new_users, launch_limit, created_at, updated_at";

/** Makes a partner with the default switches, and with default limits unless others are given. */
export const createPartner = operatorAct(newPartner, noId, async (tx, wish, _, { config }) => {
  const { name, rpm = config.defaultRpm, daily = config.defaultDaily } = wish;
  const details = { name: name.trim(), rpm, daily };
  if (details.name === "") return noName;
  const value = await insertPartner(tx, details);
  return { value, action: "partner.create", subject: `partner ${value.id}`, details };
});

/** Changes a partner's limits and switches: `enabled: false` shuts it out. In force on every process within 15 s. */
export const changePartner = operatorAct(
  changes,
  rowId,
  async (tx, { name, was, ...others }, id) => {
    const details = name === undefined ? others : { ...others, name: name.trim() };
    if ("name" in details && details.name === "") return noName;
    const old = await findPartner(tx, id, "for no key update");
    if (old === null) return unknown("partner", id);
    const stale = changedSince(was, old);
    if (stale !== null) return stale;
    const value = (await updatePartner(tx, id, details))!;
    const change = changeOf(old, value, Object.keys(details) as (keyof Partner)[]);
    return {
      ...{ value, action: "partner.update", subject: `partner ${id}`, details: change },
      undo: undoOf(`/partners/${id}`, change.before, change.after),
    };
  },
);

/**
 * Sets a launch: the days in which most of a partner's users are new (decisions 4.17); `until` null ends it. In force
 * on every process within 15 s.
 */
export const setLaunch = operatorAct(launch, rowId, async (tx, wish, id, { now }) => {
  const { until, new_users, limit } = wish;
  if (until !== null && until <= now) return invalid("until", "Is in the past");
  if (until !== null && until > now + launchMaxMs)
    return invalid("until", `Is more than ${launchMaxMs / dayMs} days ahead`);
  const details = {
    launch_until: until === null ? null : new Date(until),
    launch_new_users: until === null ? null : new_users,
    launch_limit: until === null ? null : limit,
  };
  const value = await updatePartner(tx, id, details);
  if (value === null) return unknown("partner", id);
  const undo: Undo | null =
    until === null ? null : { method: "DELETE", path: `/partners/${id}/launch`, until };
  return { value, action: "partner.launch", subject: `partner ${id}`, details, undo };
});

const noName = invalid("name", "Must not be empty");

export async function insertPartner(
  tx: Tx,
  { name, rpm, daily }: Pick<Partner, "name" | "rpm" | "daily">,
): Promise<Partner> {
  const sql = `insert into partners (name, rpm, daily) values (?, ?, ?) returning ${columns}`;
  return (await rows<Partner>(tx, sql, [name, rpm, daily]))[0]!;
}

export const listPartners = (db: Db | Tx): Promise<Partner[]> =>
  rows<Partner>(db, `select ${columns} from partners order by id`);

export const findPartner = async (
  db: Db | Tx,
  id: number,
  lock: "for no key update" | "" = "",
): Promise<Partner | null> =>
  (await rows<Partner>(db, `select ${columns} from partners where id = ? ${lock}`, [id]))[0] ??
  null;

/** Refuses an unknown partner, because lists of it would look as if it had nothing. Null for a known or absent id. */
export async function refuseAbsentPartner(
  db: Statements,
  id: number | null | undefined,
): Promise<Refusal | null> {
  if (id === null || id === undefined) return null;
  const found = await rows(db, "select id from partners where id = ?", [id]);
  return found.length > 0 ? null : unknown("partner", id);
}

/** Changes a partner's row; null when there is no such partner. */
export async function updatePartner(
  tx: Tx,
  id: number,
  changes: PartnerChanges | Pick<Partner, "launch_until" | "launch_new_users" | "launch_limit">,
): Promise<Partner | null> {
  const [partner] = await tx("partners")
    .where({ id })
    .update({ ...changes, updated_at: tx.raw("server_now()") })
    .returning<Partner[]>(columns.split(", "));
  await announceKeys(tx);
  return partner ?? null;
}

/** Wakes the key stores of all processes when this transaction commits; they also look every few seconds. */
export const announceKeys = async (tx: Tx): Promise<void> => {
  await tx.raw("select pg_notify('keys', '')");
};
