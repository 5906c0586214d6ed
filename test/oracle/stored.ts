import { type Db, rows } from "#src/infrastructure/db.ts";

/** A mark as the database has it: what acceptance fixed, and what a review made of it. Times in ms. */
export interface StoredMark {
  id: number;
  stationId: string;
  reporter: string;
  keyId: number;
  status: string;
  lat: number | null;
  lon: number | null;
  accM: number | null;
  receivedAt: number;
  at: number;
  remote: boolean;
  needed: number;
  rule: string;
  pricesNeeded: Record<string, number> | null;
  review: string;
  outcome: string | null;
}

/** Every stored mark in the order of acceptance. */
export const storedMarks = (db: Db): Promise<StoredMark[]> =>
  rows<StoredMark>(
    db,
    `select m.id, m.station_id as "stationId", encode(r.hash, 'hex') as reporter, m.key_id as "keyId", m.status,
       m.lat, m.lon, m.acc_m as "accM", m.remote, m.needed, m.rule, m.prices_needed as "pricesNeeded", m.review, m.outcome,
       round(extract(epoch from m.received_at) * 1000)::bigint as "receivedAt",
       round(extract(epoch from m.effective_at) * 1000)::bigint as at
     from marks m join reporters r on r.id = m.reporter_id order by m.id`,
  );

/** First-seen times (ms) by reporter. */
export async function storedFirstSeen(db: Db): Promise<Map<string, number | null>> {
  const found = await rows<{ hash: string; seen: number | null }>(
    db,
    `select encode(hash, 'hex') as hash, floor(extract(epoch from first_seen) * 1000)::bigint as seen from reporters`,
  );
  return new Map(found.map((row) => [row.hash, row.seen]));
}
