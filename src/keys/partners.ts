import { rows, type Db, type Tx } from "#src/infrastructure/db.ts";

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
  created_at: Date;
  updated_at: Date;
}

export type PartnerChanges = Partial<Omit<Partner, "id" | "created_at" | "updated_at">>;

const columns =
  "id, name, rpm, daily, enabled, bind_ips, accept_remote, cache_ttl_s, created_at, updated_at";

/** A new partner with the given limits and the default switches. */
export async function createPartner(
  tx: Tx,
  { name, rpm, daily }: Pick<Partner, "name" | "rpm" | "daily">,
): Promise<Partner> {
  const sql = `insert into partners (name, rpm, daily) values (?, ?, ?) returning ${columns}`;
  const [partner] = await rows<Partner>(tx, sql, [name, rpm, daily]);
  if (partner === undefined) throw new Error("an insert gave no row");
  return partner;
}

export const listPartners = (db: Db | Tx): Promise<Partner[]> =>
  rows<Partner>(db, `select ${columns} from partners order by id`);

export const findPartner = async (db: Db | Tx, id: number): Promise<Partner | null> =>
  (await rows<Partner>(db, `select ${columns} from partners where id = ?`, [id]))[0] ?? null;

/** Changes a partner's limits and switches; null when there is no such partner. In force within 15 s. */
export async function updatePartner(
  tx: Tx,
  id: number,
  changes: PartnerChanges,
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
