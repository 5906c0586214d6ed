import { randomBytes } from "node:crypto";
import { createRandom } from "#demo/country/random.ts";
import { makeStations } from "#demo/country/stations.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { createDb, type Db, inTransaction, rows } from "#src/infrastructure/db.ts";
import { saveStations } from "#src/import/apply-stations.ts";
import { storeKey } from "#src/keys/issued-keys.ts";
import { hashKey, keyPrefix, newKey } from "#src/keys/key-text.ts";
import { insertPartner } from "#src/keys/partners.ts";
import { partnerReporter } from "#src/marks/marks.ts";

/** What the load generator needs to know of the database that both sides start from. */
export interface Country {
  stations: { id: string; lat: number; lon: number }[];
  /** Secret keys of several partners: one may send at most 100,000 requests a minute. */
  keys: string[];
  /** Users `user-0` to `user-<users - 1>` have been seen before, each by partner n % keys. With 0 all are new. */
  users: number;
}

const chunk = 20_000;

/** Fills an empty database: a country of stations, partners, and their users as they were met before. */
export async function fillCountry(
  config: Config,
  partnerCount = 8,
  { stationCount = 30_000, users = 400_000 } = {},
): Promise<Country> {
  const db = createDb({ ...config, queryTimeoutMs: 120_000, lockTimeoutMs: 60_000 }, "bench fill");
  try {
    const stations = makeStations(createRandom(1), stationCount);
    await saveStations(db, "bench", { stations }, false, () => {});
    const partners = await addPartners(db, partnerCount);
    await meetUsers(db, config, partners, users);
    await db.raw("vacuum analyze");
    return {
      stations: stations.map(({ id, lat, lon }) => ({ id, lat, lon })),
      keys: partners.map(({ key }) => key),
      users,
    };
  } finally {
    await db.destroy();
  }
}

export interface BenchPartner {
  id: number;
  key: string;
}

/** Partners with a secret key each and the widest limits there are. */
export async function addPartners(db: Db, count: number): Promise<BenchPartner[]> {
  const partners: BenchPartner[] = [];
  for (let n = 0; n < count; n++) {
    const key = newKey("secret", randomBytes(32));
    const id = await inTransaction(db, async (tx) => {
      const partner = await insertPartner(tx, {
        name: `Partner ${n}`,
        rpm: 100_000,
        daily: 100_000_000,
      });
      await storeKey(
        tx,
        { partner_id: partner.id, kind: "secret", prefix: keyPrefix(key), hash: hashKey(key) },
        { mass_no_limit: 1_000_000 },
      );
      return partner.id;
    });
    partners.push({ id, key });
  }
  return partners;
}

/** Users that were seen before, each by partner n % partners. */
export async function meetUsers(
  db: Db,
  config: Config,
  partners: readonly BenchPartner[],
  count: number,
): Promise<void> {
  const ownerOf = (n: number): number => partners[n % partners.length]!.id;
  for (let from = 0; from < count; from += chunk) {
    const some = Array.from({ length: Math.min(chunk, count - from) }, (_, i) => from + i);
    await rows(
      db,
      `insert into reporters (hash, partner_id, first_seen)
       select decode(hash, 'hex'), partner_id, server_now() - interval '30 days' - n * interval '1 minute'
       from unnest(?::text[], ?::int[], ?::int[]) as r(hash, partner_id, n)`,
      [
        some.map((n) => partnerReporter(config.reporterPepper, ownerOf(n), `user-${n}`)),
        some.map(ownerOf),
        some.map((n) => n % 10_000),
      ],
    );
  }
}
