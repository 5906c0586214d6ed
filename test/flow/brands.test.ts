import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { isRefusal } from "#src/contract/refusals.ts";
import { aliasBrand } from "#src/import/brand-aliases.ts";
import { rows } from "#src/infrastructure/db.ts";
import { type Client, until } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { useStage } from "#test/flow/stage.ts";
import { by } from "#test/harness/by.ts";
import { useFolder, useInstance } from "#test/harness/use.ts";

describe("flow: one brand in all its spellings (decisions 14.24 to 14.26)", function () {
  const { country, operator, clients, pages } = useStage(8, ["web", "web", "snapshots", "clock"]);
  const brandOf = [
    ...["Лукойл", "Lukoil", "Shell", "Полюс", "Полюс плюс"],
    ...["Кедр", "Газпром", "Газпромнефть"],
  ];
  const idOf = (brand: string): string => placeOf(brandOf.indexOf(brand)).id;
  const folder = useFolder();

  before(async () => {
    await setBrands(brandOf);
    for (const client of clients)
      await until(
        () => found(client, `/stations/${idOf("Кедр")}`),
        (brand) => brand === "Кедр",
      );
  });

  const setBrands = async (brands: readonly string[]): Promise<void> => {
    const ids = brands.map((_, n) => placeOf(n).id);
    await rows(
      country.db,
      `update stations s set brand = b.brand from unnest(?::text[], ?::text[]) as b(id, brand) where b.id = s.id`,
      [ids, brands],
    );
    await rows(country.db, "select feed_stamp(?::text[])", [ids]);
  };
  /** The brand of one station. */
  const found = async (client: Client, path: string): Promise<string> =>
    (await client.get(path)).body.station.brand;
  const box = "bbox=54.9,36.9,55.2,37.2";
  /** Ids that each of the two processes finds, with a secret key in two ways, and with a publishable one. */
  const idsOf = async (query: string): Promise<string[][]> => {
    const paths = [
      ...clients.map((client) => client.get(`/stations?${box}&${query}`)),
      ...clients.map((client) => client.get(`/stations/all?${query}`)),
      ...pages.map((page) => page.get(`/stations?${box}&${query}`)),
    ];
    const answers = await Promise.all(paths);
    return answers.map(({ body }) => body.stations.map(({ id }: { id: string }) => id).sort());
  };
  const expectFound = async (query: string, brands: readonly string[]): Promise<void> => {
    const wanted = brands.map(idOf).sort();
    const all = await idsOf(query);
    expect(all, query).to.deep.equal(all.map(() => wanted));
  };
  /** The same, once both processes have heard of an edit. */
  const findsAtLast = async (query: string, brands: readonly string[]): Promise<void> => {
    const wanted = JSON.stringify(brands.map(idOf).sort());
    await until(
      () => idsOf(query),
      (all) => all.every((ids) => JSON.stringify(ids) === wanted),
    );
  };

  /** The same, and then at once in the rectangles of the cache too: no station has changed. */
  const findsInCacheToo = async (query: string, brands: readonly string[]): Promise<void> => {
    const wanted = JSON.stringify(brands.map(idOf).sort());
    await until(
      () => idsOf(query),
      (all) => all.slice(0, 4).every((ids) => JSON.stringify(ids) === wanted),
    );
    await expectFound(query, brands);
  };

  it("finds a brand by each of its spellings, and by a word of the search", async () => {
    for (const spelling of ["Lukoil", "ЛУКОЙЛ", "лукойл", "ლუკოილი"])
      await expectFound(`brand=${encodeURIComponent(spelling)}`, ["Лукойл", "Lukoil"]);
    await expectFound(`brand=${encodeURIComponent("Шелл")}`, ["Shell"]);
    await expectFound("q=lukoil", ["Лукойл", "Lukoil"]);
    await expectFound(`q=${encodeURIComponent("шелл street")}`, ["Shell"]);
    await expectFound(`brand=${encodeURIComponent("Gazprom")}`, ["Газпром"]);
    await expectFound(`brand=${encodeURIComponent("Gazprom Neft")}`, ["Газпромнефть"]);
    await expectFound("brand=Nobody", []);
  });

  it("gives a spelling to a brand: in the stations, in both processes, in copies and cached rectangles", async () => {
    await expectFound(`brand=${encodeURIComponent("Полюс")}`, ["Полюс"]);
    const since = (await clients[0]!.get("/stations/all")).body.as_of as string;
    const ran = await operator("brand", "alias", "«ПОЛЮС-плюс»", "--brand", "Полюс");
    expect(ran.json).to.include({ brand: "Полюс", changed: 1, left: 0 });
    await findsAtLast(`brand=${encodeURIComponent("Полюс")}`, ["Полюс", "Полюс плюс"]);
    await findsAtLast(`brand=${encodeURIComponent("полюс плюс")}`, ["Полюс", "Полюс плюс"]);
    for (const client of clients) {
      expect(await found(client, `/stations/${idOf("Полюс плюс")}`)).to.equal("Полюс");
      const query = `updated_since=${encodeURIComponent(since)}`;
      const { stations } = (await client.get(`/stations/delta?${query}`)).body;
      expect(stations.find(({ id }: { id: string }) => id === idOf("Полюс плюс"))).to.include({
        brand: "Полюс",
      });
    }
    const [entry] = await rows<{ action: string; details: object }>(
      country.db,
      "select action, details from operator_log order by id desc limit 1",
    );
    expect(entry).to.deep.equal({
      action: "brand.alias",
      details: { brand: "Полюс", before: null, changed: 1, left: 0 },
    });
  });

  it("finds a station whose brand stays as it was set by hand, and no longer without the alias", async () => {
    const kedr = idOf("Кедр");
    await operator("station", "edit", kedr, "--brand", "Кедр");
    await operator("station", "edit", kedr, "--brand", "Кедр и сын");
    await findsAtLast(`brand=${encodeURIComponent("кедр и сын")}`, ["Кедр"]);
    // These answers are cached now, and no station changes any more.
    for (const query of [`brand=${encodeURIComponent("Шелл")}`, "q=shell"])
      await expectFound(query, ["Shell"]);
    const first = await operator("brand", "alias", "Кедр и сын", "--brand", "Shell");
    expect(first.json).to.include({ changed: 0, left: 0 });
    await findsInCacheToo(`brand=${encodeURIComponent("Шелл")}`, ["Shell", "Кедр"]);
    await findsInCacheToo("q=shell", ["Shell", "Кедр"]);
    expect(await found(clients[0]!, `/stations/${kedr}`)).to.equal("Кедр и сын");
    await operator("brand", "unalias", "Кедр и сын");
    await findsInCacheToo(`brand=${encodeURIComponent("Шелл")}`, ["Shell"]);
    await findsInCacheToo("q=shell", ["Shell"]);
  });

  it("lists who knows the brands, and imports with the aliases", async () => {
    await operator("brand", "alias", "Частник", "--brand", "");
    const { json } = await operator("brand", "list");
    expect(json).to.deep.include.members([
      { brand: "Лукойл", stations: 1, known: "list" },
      { brand: "Полюс", stations: 2, known: "alias" },
      { brand: "Кедр и сын", stations: 1, known: "no" },
    ]);
    const elements = ["ПОЛЮС ПЛЮС", "Частник", "Lukoil", "Independent"].map((brand, n) => ({
      ...{ type: "node", id: 7000 + n, lat: 55.5, lon: 37.5 + n / 10 },
      tags: { amenity: "fuel", brand, name: `АЗС ${n}` },
    }));
    const path = join(folder.path, "file.json");
    await writeFile(path, JSON.stringify({ elements }));
    const ran = await operator("stations", "import", path, "--source", "brands");
    expect(ran.json).to.include({ added: 4 });
    const stored = await rows<{ brand: string }>(
      country.db,
      "select brand from stations where source = 'brands' order by id",
    );
    expect(stored.map(({ brand }) => brand)).to.deep.equal(["Полюс", "", "Лукойл", ""]);
  });
});

describe("an alias of very many stations", function () {
  const instance = useInstance();

  it("changes 5,000 at once, says how many are left, and goes on when it is done again", async () => {
    for (const count of [4999, 5000, 5001]) {
      const [spelling, brand] = [`Old ${count}`, `New ${count}`];
      await rows(
        instance.db,
        `insert into stations (id, source, lat, lon, brand, name, addr)
         select ? || '-' || n, 'test', 55, 37, case when n % 2 = 0 then ? else upper(?) end, '', '' from generate_series(1, ?::int) n`,
        [count, spelling, spelling, count],
      );
      const alias = async () => {
        const done = await aliasBrand(by(instance.db, "olga"), { brand }, spelling);
        return isRefusal(done) ? done.code : [done.changed, done.left];
      };
      expect(await alias()).to.deep.equal([Math.min(count, 5000), Math.max(0, count - 5000)]);
      if (count > 5000) expect(await alias()).to.deep.equal([1, 0]);
      expect(await alias()).to.equal("already-done");
      const [stamped] = await rows<{ count: number }>(
        instance.db,
        "select count(*) from changes c join stations s on s.id = c.station_id where s.brand = ?",
        [brand],
      );
      expect(stamped!.count).to.equal(count);
    }
  });
});
