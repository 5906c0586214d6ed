import type { Config } from "#src/infrastructure/config.ts";
import { createDb, type Db, inTransaction, rows, type Statements } from "#src/infrastructure/db.ts";
import { deviceReporter, partnerReporter } from "#src/marks/marks.ts";
import { addPartner } from "#test/flow/more-partners.ts";

export interface Country {
  db: Db;
  partnerId: number;
  keyId: number;
  secret: string;
  publishable: string;
  stationIds: string[];
  /** Writes a reporter down as first seen `minutesAgo`, before it sends its first mark. */
  meet(userRef: string, minutesAgo: number): Promise<void>;
  /** The same of a viewer's device. */
  meetDevice(device: string, minutesAgo: number): Promise<void>;
  close(): Promise<void>;
}

export interface Place {
  id: string;
  lat: number;
  lon: number;
}

/** Where station number `n` of a test country stands: 300 m from the next, in one row. */
export const placeOf = (n: number): Place => ({
  id: `n${1000 + n}`,
  lat: 55 + n * 0.0027,
  lon: 37,
});

/** Where the stations of a test country stand, by their number, and its cities. */
export interface Layout {
  placeOf(n: number): Place;
  cities: readonly { name: string; lat: number; lon: number }[];
}

const oneRow: Layout = { placeOf, cities: [{ name: "Тестоград", lat: 55, lon: 37 }] };

/** One partner with generous limits, a key of each kind, one city (or those of the layout) and `count` stations. */
export async function openCountry(
  config: Config,
  count: number,
  { placeOf, cities }: Layout = oneRow,
): Promise<Country> {
  const db = createDb(config, "test");
  const places = Array.from({ length: count }, (_, n) => placeOf(n));
  const partner = await addPartner({ db }, undefined, "Test partner");
  await inTransaction(db, async (tx) => {
    await insertPlaces(tx, places, cities);
    // A delta repeats what changed in the second of its cursor: a country that is as old as no test is repeats nothing.
    await rows(tx, "update changes set at = at - interval '1 minute'");
  });
  const meet = async (hash: string, of: number | null, minutesAgo: number): Promise<void> => {
    await rows(
      db,
      `insert into reporters (hash, partner_id, first_seen)
       values (decode(?, 'hex'), ?, server_now() - ?::int * interval '1 minute')`,
      [hash, of, minutesAgo],
    );
  };
  return {
    db,
    partnerId: partner.id,
    keyId: partner.keyId,
    secret: partner.secret,
    publishable: partner.publishable,
    stationIds: places.map((one) => one.id),
    meet: (userRef, minutesAgo) =>
      meet(partnerReporter(config.reporterPepper, partner.id, userRef), partner.id, minutesAgo),
    meetDevice: (device, minutesAgo) =>
      meet(deviceReporter(config.reporterPepper, device), null, minutesAgo),
    close: () => db.destroy(),
  };
}

/** The stations and cities of a country. In SQL that the schemas of earlier versions know too. */
export async function insertPlaces(
  tx: Statements,
  places: readonly Place[],
  cities: Layout["cities"] = oneRow.cities,
): Promise<void> {
  await tx.raw(
    `insert into stations (id, source, lat, lon, brand, name, addr)
     select id, 'test', lat, lon, 'Brand', 'Station ' || id, 'Street 1' from unnest(?::text[], ?::float8[], ?::float8[]) as s(id, lat, lon)`,
    [
      places.map((one) => one.id),
      places.map((one) => one.lat),
      places.map((one) => one.lon),
    ] as never,
  );
  await tx.raw(
    `insert into cities (id, source, name, region, lat, lon, population)
     select 'c' || n, 'test', name, 'Область', lat, lon, 300000
     from unnest(?::text[], ?::float8[], ?::float8[]) with ordinality as c(name, lat, lon, n)`,
    [
      cities.map((one) => one.name),
      cities.map((one) => one.lat),
      cities.map((one) => one.lon),
    ] as never,
  );
  await tx.raw("select feed_stamp(?::text[])", [places.map((one) => one.id)] as never);
}
