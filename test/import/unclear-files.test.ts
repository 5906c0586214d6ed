import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { loadConfig } from "#src/infrastructure/config.ts";
import { importSource } from "#src/import/import-source.ts";
import { cutSign } from "#src/import/list-cut.ts";
import { asFault, isFault } from "#src/import/read-text.ts";
import { sourceFromMap } from "#src/import/source-list.ts";
import { readSource, type Source } from "#src/import/source.ts";
import { trySource } from "#src/import/try-source.ts";
import { runOperator } from "#test/harness/operator.ts";
import { useFolder, useInstance } from "#test/harness/use.ts";

const fields = { id: "id", lat: "lat", lon: "lon", name: "name" };
const csv = { format: "csv" };
const described = (more: object, files: object[] = [{ name: "stations", read: csv }]): Source => {
  const done = readSource({ name: "own", title: "Own", files, fields, ...more });
  if ("faults" in done) throw new Error(done.faults.join());
  return done.source;
};
const two = (read = csv, second = "prices", has = "station") => [
  { name: "stations", read, has: ["name"] },
  { name: second, read: csv, has: [has] },
];

describe("what a file leaves unclear", () => {
  const folder = useFolder();
  const instance = useInstance();
  const written = async (files: Record<string, string>): Promise<string[]> => {
    const own = await mkdtemp(join(folder.path, "files-"));
    for (const [name, text] of Object.entries(files)) await writeFile(join(own, name), text);
    return Object.keys(files).map((name) => join(own, name));
  };
  const tried = async (source: Source, files: Record<string, string>) =>
    trySource(source, await written(files));
  const sold = ({ first }: Awaited<ReturnType<typeof trySource>>) =>
    first.map((one) => one["grades_sold"]);

  it("is a price that is none: the grades are unknown, never fewer, and the verdict names it", async () => {
    const source = described({
      fuels: { columns: ["p95", "pd"] },
      grades: { p95: "95", pd: "ДТ" },
    });
    const line = (n: number, ...prices: string[]): string =>
      [n, 41 + n / 100, 44, "A", ...prices].join(";");
    const stations = [
      line(1, "1.548,00", "$ 1"),
      line(2, "N/D", "1372"),
      line(3, "yes", "no"),
      line(4, "", "1548 CLP/L"),
    ];
    const one = await tried(source, {
      "a.csv": ["id;lat;lon;name;p95;pd", ...stations].join("\n") + "\n",
    });
    expect(sold(one)).to.deep.equal(["95,ДТ", "", "95", "ДТ"]);
    expect(one.noted).to.deep.equal({ "unclear-price": 1 });
    expect(one.verdict).to.equal('Doubtful: unclear-price 1, such as line 3, id 2: p95 "N/D".');
    // Where another name of the grade has a price, the grade is clear.
    const both = described({ fuels: { columns: ["e5", "e10"] }, grades: { e5: "95", e10: "95" } });
    expect(
      sold(await tried(both, { "a.csv": "id,lat,lon,name,e5,e10\n1,41,44,A,-,1.5\n" })),
    ).to.deep.equal(["95"]);
  });

  it("is a list where one value is expected: it is read as a list, or named", async () => {
    const json = { format: "json" } as const;
    const record = {
      id: 1,
      lat: 41,
      lon: 44,
      name: "A",
      p: [
        { f: "95", v: 1 },
        { f: "ДТ", v: "?" },
        { f: "98", v: 2 },
      ],
    };
    const grades = { 95: "95", 98: "98", ДТ: "ДТ" };
    const file = [{ name: "stations", read: json }];
    const all = JSON.stringify([record, { ...record, id: 2, lat: 42, p: { f: "95", v: 1 } }]);
    for (const fuels of [
      { each: true, fuel: "p.f", price: "p.v" },
      { rows: "p", fuel: "f", price: "v" },
    ]) {
      const one = await tried(described({ fuels, grades }, file), { "a.json": all });
      expect(sold(one), JSON.stringify(fuels)).to.deep.equal(["", "95"]);
      expect(one.verdict).to.contain("unclear-price 1, such as record 1, id 1: ");
    }
    const listed = await tried(described({ fuels: { list: "p.f" }, grades }, file), {
      "a.json": all,
    });
    expect(sold(listed)).to.deep.equal(["95,98,ДТ", "95"]);
    const many = JSON.stringify([
      { ...record, at: [{ lat: 41 }, { lat: 42 }], name: [{ n: "A" }, { n: "B" }], id: [1, 1] },
      { ...record, at: [{ lat: 41 }, { lat: 41 }], name: [{ n: "A" }, { n: "B" }], id: 2 },
      { ...record, id: [1, 2] },
    ]);
    const lists = described({ fields: { ...fields, lat: "at.lat", name: "name.n" } }, file);
    const found = await tried(lists, { "a.json": many });
    expect(found.first.map(({ id, lat, name }) => [id, lat, name])).to.deep.equal([
      ["own-2", 41, "A;B"],
    ]);
    expect(found.reasons).to.deep.equal({ "bad-position": 1, "no-id": 1 });
    expect(found.noted).to.deep.equal({ "several-values": 1 });
    const left = described({ leave_out: [{ value: "p.f", is: ["98"] }] }, file);
    expect((await tried(left, { "a.json": all })).reasons).to.deep.equal({ "left-out": 1 });
  });

  it("is a second file about other stations, and a row of a station that is there twice", async () => {
    const source = described(
      {
        fuels: { file: "prices", station: "station", fuel: "fuel", price: "price" },
        grades: { D: "ДТ" },
      },
      two(),
    );
    const stations = "id,lat,lon,name\n0011,40.4,-3.7,A\n12,40.5,-3.8,B\n13,40.5,-3.8,B\n";
    const prices = "station,fuel,price\n11,D,1.5\n12,D,1.6\n,D,1.6\n99,D,1.7\n";
    const paths = await written({ "a.csv": stations, "b.csv": prices });
    const one = await trySource(source, paths);
    expect(one.verdict).to.contain(
      "Doubtful: prices: 1 of 4 rows are about a station of this file",
    );
    expect(one.verdict).to.contain('merged 1, such as line 4, id 13: into "own-12"');
    const refusals = join(folder.path, "unclear.csv");
    const own = join(folder.path, "own.json");
    await writeFile(own, JSON.stringify(source));
    const done = await runOperator(
      instance.env,
      ...[
        "stations",
        "import",
        ...paths,
        "--source",
        own,
        "--refusals",
        refusals,
        "--actor",
        "olga",
      ],
    );
    expect(done.out).to.contain("prices: 1 of 4 rows are about a station of this file");
    expect(done.out).to.contain("unknown-station 3, such as line 2, id 11");
    expect(done.out).to.contain(`Each row that is left out: ${refusals}`);
    expect((await readFile(refusals, "utf8")).trim().split("\n").slice(1)).to.deep.equal([
      "line 2,11,,,unknown-station",
      "line 4,,,,unknown-station",
      "line 5,99,,,unknown-station",
      "line 4,13,into,own-12,merged",
    ]);
    const few = Array.from({ length: 30 }, (_, n) => `${n},${41 + n / 10},44,A${n}`).join("\n");
    const good = await tried(described({}), { "a.csv": `id,lat,lon,name\n${few}\n31,41,44,A0\n` });
    expect(good.verdict).to.match(/^Good: it can be imported\. Look at this: merged 1, such as /);
  });

  it("is a column or a list that no record has, and a price of a fuel without a name", async () => {
    const fuels = { columns: ["P95"] };
    const grades = { P95: "95", D: "ДТ" };
    const lines = "id,lat,lon,name,p95\n1,41,44,A,5\n2,42,44,B,6\n";
    const hours = { ...fields, opening_hours: "hours" };
    const one = await tried(described({ fuels, grades, fields: hours }), { "a.csv": lines });
    expect(one.verdict).to.equal("Doubtful: no station has its opening_hours, grades.");
    const alone = await tried(described({ fields: hours }), { "a.csv": lines });
    const look = "Good: it can be imported. Look at this: no station has its opening_hours.";
    expect(alone.verdict).to.equal(look);
    const right = described({ fuels: { columns: ["p95"] }, grades: { p95: "95" } });
    expect((await tried(right, { "a.csv": lines })).verdict).to.equal("Good: it can be imported.");
    const second = { file: "prices", station: "station", fuel: "fuel", price: "price" };
    const both = described({ fuels: second, grades }, two());
    const stations = { "a.csv": "id,lat,lon,name\n1,41,44,A\n" };
    expect((await tried(both, stations)).verdict).to.contain("Good");
    const nameless = { ...stations, "b.csv": "station,fuel,price\n1,D,5\n1,,6\n1,,\n" };
    const found = await tried(both, nameless);
    expect([found.unknown_fuels, sold(found)]).to.deep.equal([{ "": 1 }, [""]]);
  });

  it("is a closure without a readable time, in the wrong order, or of no station", async () => {
    const closed = { file: "shut", station: "sid", since: "from", until: "to" };
    const one = await tried(described({ closed }, two(csv, "shut", "sid")), {
      "a.csv": "id,lat,lon,name\n01,41,44,A\n02,41.1,44,B\n03,41.2,44,C\n04,41.3,44,D\n",
      "b.csv":
        "sid,from,to\n01,2026-11-01,2999-12-31\n02,2999-12-20,2999-12-10\n03,,soon\n4,2026-11-01,\n",
    });
    expect(one.first.map((station) => station["closed"])).to.deep.equal([
      "2026-11-01 00:00:00/3000-01-01 00:00:00",
      "",
      "yes",
      "",
    ]);
    expect(one.verdict).to.equal(
      'Doubtful: shut: 3 of 4 rows are about a station of this file; unclear-closure 2, such as line 3, id 02: to "2999-12-10"; unknown-station 1, such as line 5, id 4.',
    );
  });

  it("is a stock-out without a readable time or a station", async () => {
    const stock = { file: "out", station: "id", fuel: "gone", since: "from" };
    const source = described(
      { stock, fuels: { list: "sale" }, grades: { 95: "95" } },
      two(csv, "out", "gone"),
    );
    const now = new Date().toISOString();
    const one = await tried(source, {
      "a.csv": "id,lat,lon,name,sale\n1,41,44,A,95\n2,42,44,B,95\n",
      "b.csv": `id,gone,from\n1,95,${now}\n2,95,yesterday\n3,95,${now}\n1,LPG,${now}\n`,
    });
    expect(one.stock).to.deep.equal({
      read: 4,
      refused: 3,
      reasons: { "bad-time": 1, "unknown-fuel": 1, "unknown-station": 1 },
    });
    expect(one.verdict).to.contain(
      'Doubtful: 3 of 4 stock-outs are lost (bad-time 1, such as line 3, id 2: since "yesterday"',
    );
  });

  it("is a list that says itself that it is a part: it is refused, unless somebody knows better", async () => {
    const [next, page] = [{ next: "https://example.org/2" }, { page: 1, totalPages: 3 }];
    for (const around of [
      ...[
        { exceededTransferLimit: true },
        { properties: { exceededTransferLimit: true } },
        { truncated: "true" },
      ],
      ...[
        next,
        { links: next },
        { links: [{ rel: "next", href: "x" }] },
        { _links: { next: { href: "x" } } },
      ],
      ...[
        { has_more: true },
        { hasNext: true },
        { next_page_url: "x" },
        { nextPageToken: "abc" },
        { next_cursor: "c" },
      ],
      ...[
        { "@odata.nextLink": "x" },
        { "@odata.count": 3 },
        { d: { __next: "x" } },
        { last: false },
        { done: false },
      ],
      ...[
        page,
        { meta: page },
        { total: 3 },
        { count: 3 },
        { hits: { total: { value: 3 } } },
        { numberMatched: "3" },
      ],
      ...[{ page: 1, pages: 3 }, { status: "partial" }, { truncated: "yes" }],
      ...[
        { limit_reached: 1 },
        { moreResultsAvailable: true },
        { next: { page: 2 } },
        { nextOffset: 2 },
      ],
      ...[
        { total: "1,500" },
        { totalNumberOfResults: 3 },
        { found: 3 },
        { stationCount: 3 },
        { hits: 3 },
      ],
      ...[
        { "hydra:view": { "hydra:next": "/x" } },
        { "hydra:totalItems": 3 },
        { links: [{ rel: ["next"] }] },
      ],
      ...[
        { status: "PARTIAL_CONTENT" },
        { complete: "no" },
        { link: { next: "x" } },
        { eof: false },
      ],
      { numberReturned: 2, links: [{ rel: "next" }] },
    ])
      expect(cutSign(around, ["features"], 2), JSON.stringify(around)).to.be.a("string");
    for (const around of [
      ...[
        { exceededTransferLimit: false },
        { next: null },
        { next: "" },
        { total: 2 },
        { count: "2" },
        { totalPages: 1 },
        // CKAN has a next page behind the last one.
        { total: 2, _links: { next: "/x?offset=2" } },
        { next: "#", nextRefresh: 60, total_prices: 900 },
        { pages: 1, status: "ok" },
      ],
      ...[
        { counts: { total: 9 } },
        { last: true },
        { links: [{ rel: "self" }] },
        { page: 1, limit: 2 },
        null,
        "x",
      ],
    ])
      expect(cutSign(around, ["features"], 2), JSON.stringify(around)).to.equal(undefined);
    const source = described({}, [
      { name: "stations", read: { format: "json", records: "data.list" } },
    ]);
    const list = [{ id: 1, lat: 41, lon: 44, name: "A" }];
    const paths = await written({ "a.json": JSON.stringify({ data: { list, total: 3 } }) });
    const refused = await asFault("", () => trySource(source, paths));
    expect(isFault(refused) && refused.fault).to.contain(
      "its list has 1 records and says itself that there are more (total: 3)",
    );
    const run = {
      dryRun: true,
      progress: () => undefined,
      waiting: () => undefined,
      touched: () => undefined,
    };
    const config = loadConfig({ DATABASE_URL: instance.databaseUrl });
    const forced = await importSource(instance.db, config, {
      source,
      paths,
      force: ["half"],
      ...run,
    });
    expect(isFault(forced) ? forced.fault : forced.stations!.read).to.equal(1);
    const xml = described({}, [{ name: "stations", read: { format: "xml", records: "r.s" } }]);
    const text =
      "<r><totalCount>3</totalCount><s><id>1</id><lat>41</lat><lon>44</lon><name>A</name></s></r>";
    const cut = await asFault("", () => tried(xml, { "a.xml": text }));
    expect(isFault(cut) && cut.fault).to.contain("totalCount: 3");
  });

  it("is no list of JSON by its form: an object in each line, or the only one without its list", async () => {
    const lines =
      '{"id":1,"lat":41.7,"lon":44.7,"name":"A"}\n{"id":2,"lat":41.8,"lon":44.8,"name":"B"}\n';
    for (const read of [{ format: "json" }, { format: "ndjson" }])
      expect(
        (await tried(described({}, [{ name: "s", read }]), { "a.json": lines })).stations,
      ).to.equal(2);
    const map = sourceFromMap("id=id,lat=lat,lon=lon,name=name");
    expect((await tried(map, { "a.json": lines })).verdict).to.equal("Good: it can be imported.");
    const only = described({}, [{ name: "s", read: { format: "json", records: "r.s" } }]);
    expect(
      (await tried(only, { "a.json": `{"r":{"s":${lines.split("\n")[0]}}}` })).stations,
    ).to.equal(1);
  });
});
