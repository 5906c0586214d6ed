import type { Refusal } from "#src/contract/refusals.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { rows, type Db, type Statements, type Tx } from "#src/infrastructure/db.ts";
import { dayMs } from "#src/domain/units.ts";
import { act, invalid, unknown } from "#src/operators/act.ts";

/** A partner as the operator sees it. */
export interface Partner {
  id: number;
  name: string;
  rpm: number;
  daily: number;
  enabled: boolean;
  bind_ips: boolean;
  accept_remote: boolean;
  /** Seconds that rectangles may be cached; null for the default. */
  cache_ttl_s: number | null;
  /** New users in a day; null for the default. */
  new_users_daily: number | null;
  /** The end of a launch, and what holds until then instead of the usual limits. */
  launch_until: Date | null;
  launch_new_users: number | null;
  launch_limit: number | null;
  created_at: Date;
  updated_at: Date;
}

/** A launch is no setting: it has an act of its own. */
type Settings = Omit<
  Partner,
  "id" | "launch_until" | "launch_new_users" | "launch_limit" | "created_at" | "updated_at"
>;

/** What holds until `until`, ms: new users in a day, and stations harmfully changed in an hour. */
export interface Launch {
  until: number;
  newUsers: number;
  limit: number;
}

export type PartnerChanges = { [Name in keyof Settings]?: Settings[Name] | undefined };

/** What the command line and the console take: smallest and largest. */
export const partnerBounds = {
  rpm: [1, 100_000],
  daily: [1, 100_000_000],
  cache_ttl_s: [0, 3600],
  new_users_daily: [1, 10_000_000],
  launch_limit: [1, 1_000_000],
} as const;
/** A launch that is longer is no launch. */
const launchMaxMs = 92 * dayMs;
export const partnerNameMax = 200;

const columns =
  "id, name, rpm, daily, enabled, bind_ips, accept_remote, cache_ttl_s, new_users_daily, launch_until, launch_new_users, launch_limit, created_at, updated_at";

/** Makes a partner with the default switches, and with the default limits where none are given. */
export const createPartner = (
  db: Db,
  actor: string,
  wish: Pick<Partner, "name"> & PartnerChanges,
  { defaultRpm, defaultDaily }: Pick<Config, "defaultRpm" | "defaultDaily">,
): Promise<Partner | Refusal> =>
  act(db, actor, async (tx) => {
    const { name, rpm = defaultRpm, daily = defaultDaily } = wish;
    const details = { name: name.trim(), rpm, daily };
    if (details.name === "") return noName;
    const value = await insertPartner(tx, details);
    return { value, action: "partner.create", subject: `partner ${value.id}`, details };
  });

/** Changes a partner's limits and switches: `enabled: false` shuts it out. In force on every process within 15 s. */
export const changePartner = (
  db: Db,
  actor: string,
  id: number,
  { name, ...others }: PartnerChanges,
): Promise<Partner | Refusal> =>
  act(db, actor, async (tx) => {
    const details = { ...others, name: name?.trim() };
    if (details.name === "") return noName;
    const value = await updatePartner(tx, id, details);
    if (value === null) return unknown("partner", id);
    return { value, action: "partner.update", subject: `partner ${id}`, details };
  });

/**
 * Prepares a partner for the days in which most of its users are new (decisions 4.17); null ends them. In force
 * on every process within 15 s.
 */
export const setLaunch = (
  db: Db,
  actor: string,
  id: number,
  launch: Launch | null,
  now: number,
): Promise<Partner | Refusal> =>
  act(db, actor, async (tx) => {
    if (launch !== null && launch.until <= now) return invalid("until", "Is in the past");
    if (launch !== null && launch.until > now + launchMaxMs)
      return invalid("until", `Is more than ${launchMaxMs / dayMs} days ahead`);
    const details = {
      launch_until: launch === null ? null : new Date(launch.until),
      launch_new_users: launch?.newUsers ?? null,
      launch_limit: launch?.limit ?? null,
    };
    const value = await updatePartner(tx, id, details);
    if (value === null) return unknown("partner", id);
    return { value, action: "partner.launch", subject: `partner ${id}`, details };
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

export const findPartner = async (db: Db | Tx, id: number): Promise<Partner | null> =>
  (await rows<Partner>(db, `select ${columns} from partners where id = ?`, [id]))[0] ?? null;

/** Refuses a partner that there is not: what is listed of it would look as if it had nothing. Null for none at all. */
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
