import { Type } from "typebox";
import type { BrandAlias, ServedBrand } from "#src/contract/console.ts";
import { brandKey } from "#src/import/brand-key.ts";
import { brandsOfKey } from "#src/import/brand-list.ts";
import { cleanText } from "#src/import/clean-text.ts";
import { type Db, rows, type Tx } from "#src/infrastructure/db.ts";
import { already, invalid, nothing, operatorAct, unknown } from "#src/operators/act.ts";
import { line } from "#src/operators/inputs.ts";

/** The served spelling of each alias, by the alias's key. */
export type Aliases = ReadonlyMap<string, string>;

/** Most aliases: every web process holds them all. */
const aliasesMax = 5000;
/** Most stations that one act changes: until it commits, other writers of them and of the change feed wait. */
const atOnceMax = 5000;
const brandMax = 80;

/** A spelling as part of a path, whose pattern is read without flags. */
const spellingText = Type.String({ ...line(1, brandMax), pattern: `^.{1,${brandMax}}$` });

export async function readAliases(db: Db | Tx): Promise<Aliases> {
  const sql = "select key, brand from brand_aliases order by key";
  const found = await rows<{ key: string; brand: string }>(db, sql);
  return new Map(found.map(({ key, brand }) => [key, brand]));
}

export const listAliases = (db: Db): Promise<BrandAlias[]> =>
  rows(db, "select spelling, brand from brand_aliases order by brand, spelling");

/** The brands of the stations in service, most stations first. */
export async function listBrands(db: Db): Promise<ServedBrand[]> {
  const aliases = await readAliases(db);
  const own = new Set([...aliases.keys(), ...[...aliases.values()].map(brandKey)]);
  return (await servedBrands(db)).map(({ brand, count }) => {
    const key = brandKey(brand);
    const known = own.has(key) ? "alias" : brandsOfKey(key).length > 0 ? "list" : "no";
    return { brand, stations: count, known };
  });
}

/** The brands of the stations in service; of those of the source `beside` only those with these ids. */
export const servedBrands = (
  db: Db | Tx,
  beside: string | null = null,
  ids: readonly string[] = [],
): Promise<{ brand: string; count: number }[]> =>
  rows(
    db,
    `select brand, count(*) from stations
     where removed_at is null and brand <> '' and (source is distinct from ? or id = any(?::text[]))
     group by brand order by count(*) desc, brand`,
    [beside, ids],
  );

/** What an alias has done to the stations in service. */
interface Renamed {
  /** Stations that have the alias's brand from now on. */
  changed: number;
  /** Stations that still have the other spelling: the same act again, or the next import, changes them. */
  left: number;
}

/**
 * Gives a spelling to a brand (decisions 14.25): imports and the `brand` filter use it from now on, and stations in
 * service that have it get the brand at once, 5,000 an act. A brand that was set by hand stays.
 */
export const aliasBrand = operatorAct(
  Type.Object({ brand: line(0, brandMax) }, { additionalProperties: false }),
  spellingText,
  async (tx, wish, given) => {
    const [spelling, brand] = [cleanText(given, brandMax), cleanText(wish.brand, brandMax)];
    const key = brandKey(spelling);
    if (key === "") return invalid("spelling", "Has nothing by which a brand is known");
    if (brand !== "" && brandKey(brand) === "")
      return invalid("brand", "Has nothing by which a brand is known");
    // Two operators, one after the other. Imports read on.
    await rows(tx, "lock table brand_aliases in share row exclusive mode");
    const aliases = await readAliases(tx);
    const chained = [...aliases].find(
      ([one, to]) =>
        one !== key && to !== brand && (one === brandKey(brand) || brandKey(to) === key),
    );
    if (chained !== undefined)
      return invalid("brand", `Makes an alias of an alias: another one leads to "${chained[1]}"`);
    if (aliases.size >= aliasesMax && !aliases.has(key))
      return invalid("spelling", `There are ${aliasesMax} aliases: take one away first`);
    const sql = `insert into brand_aliases (key, spelling, brand) values (?, ?, ?)
      on conflict (key) do update set spelling = excluded.spelling, brand = excluded.brand
      returning spelling, brand`;
    const [alias] = await rows<BrandAlias>(tx, sql, [key, spelling, brand]);
    const done = await renameStations(tx, key, brand);
    const before = aliases.get(key) ?? null;
    if (before === brand && done.changed === 0) return already("alias", spelling, "like this");
    return {
      value: { ...alias!, ...done },
      action: "brand.alias",
      subject: `brand ${spelling}`,
      details: { brand, before, ...done },
      undo:
        before === null
          ? { method: "DELETE", path: pathOf(spelling) }
          : { path: pathOf(spelling), body: { brand: before } },
    };
  },
);

const pathOf = (spelling: string): string => `/brands/${encodeURIComponent(spelling)}/alias`;

/** Takes an alias away. Stations keep the brand that they have until an import says otherwise. */
export const unaliasBrand = operatorAct(nothing, spellingText, async (tx, _, spelling) => {
  const sql = "delete from brand_aliases where key = ? returning spelling, brand";
  const [alias] = await rows<BrandAlias>(tx, sql, [brandKey(spelling)]);
  if (alias === undefined) return unknown("alias", spelling);
  return {
    value: alias,
    action: "brand.unalias",
    subject: `brand ${alias.spelling}`,
    details: { brand: alias.brand },
    undo: { path: pathOf(alias.spelling), body: { brand: alias.brand } },
  };
});

/** Gives the stations in service whose brand has this key the new spelling, with their stamps in the change feed. */
async function renameStations(tx: Tx, key: string, brand: string): Promise<Renamed> {
  const spellings = (await servedBrands(tx))
    .map((one) => one.brand)
    .filter((one) => one !== brand && brandKey(one) === key);
  if (spellings.length === 0) return { changed: 0, left: 0 };
  const wrong = `from stations s where s.removed_at is null and s.brand = any(?::text[]) and not exists
    (select from station_edits e where e.station_id = s.id and e.file_brand is not null)`;
  const sql = `select s.id ${wrong} order by s.id limit ${atOnceMax} for no key update of s`;
  const locked = await rows<{ id: string }>(tx, sql, [spellings]);
  // A later statement than the lock: in the same one it would not see an edit by hand that it waited for.
  const renamed = await rows<{ id: string }>(
    tx,
    `update stations set brand = ?, updated_at = server_now() where id in (select s.id ${wrong}) and id = any(?::text[])
     returning id`,
    [brand, spellings, locked.map(({ id }) => id)],
  );
  const [rest] = await rows<{ count: number }>(tx, `select count(*) ${wrong}`, [spellings]);
  await rows(tx, "select feed_stamp(?::text[], false)", [renamed.map(({ id }) => id)]);
  return { changed: renamed.length, left: rest!.count };
}
