import { parse } from "csv-parse/sync";
import { expect } from "chai";
import { until } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { useStage } from "#test/flow/stage.ts";

/** The ways to find stations beside rectangles and cities: decisions 7.28 to 7.32. */
describe("flow: finding stations", function () {
  const { country, web, client, page } = useStage(60, ["web", "marks"]);

  before(async () => {
    const marked = await client.mark(placeOf(2), "one", {
      ...{ status: "yes", fuels: ["95"], prices: { 95: 61.5 }, queue: "0-5" },
    });
    expect(marked.status).to.equal(200);
  });

  const url = (path: string): string => `${web.baseUrl}/api/v1/partner${path}`;
  const text = async (path: string, headers: Record<string, string> = {}) => {
    const response = await fetch(url(path), {
      headers: { Authorization: `Bearer ${country.secret}`, ...headers },
    });
    return { response, body: await response.text() };
  };
  const bytes = async (path: string): Promise<Buffer> => {
    const headers = { Authorization: `Bearer ${country.secret}` };
    return Buffer.from(await (await fetch(url(path), { headers })).arrayBuffer());
  };
  const tagOf = async (path: string): Promise<string | null> => {
    const headers = { Authorization: `Bearer ${country.secret}` };
    const response = await fetch(url(path), { headers });
    await response.arrayBuffer();
    return response.headers.get("etag");
  };
  const ids = (body: { stations: { id: string }[] }): string[] => body.stations.map(({ id }) => id);
  const idOf = (n: number): string => placeOf(n).id;
  const faultOf = async (path: string, as = client): Promise<string> => {
    const { status, body } = await as.get(path);
    const [fault] = Array.isArray(body.detail) ? body.detail : [];
    return `${status} ${fault === undefined ? body.type.split("/").at(-1) : `${fault.loc.join(".")} ${fault.type}`}`;
  };

  describe("by ids", () => {
    it("gives them in the order asked for, each once, and names those that are not in service", async () => {
      const asked = [idOf(5), "n999", idOf(2), idOf(5), "no id!", idOf(0)];
      const path = `/stations?ids=${encodeURIComponent(asked.join(", "))}`;
      const { body, headers } = await client.get(path);
      expect(ids(body)).to.deep.equal([idOf(5), idOf(2), idOf(0)]);
      expect(body.missing).to.deep.equal(["n999", "no id!"]);
      expect([body.count, body.truncated]).to.deep.equal([3, false]);
      const one = await client.get(`/stations/${idOf(2)}`);
      expect(body.stations[1]).to.deep.equal(one.body.station);
      const etag = headers.get("etag")!;
      const same = await client.get(path, { "If-None-Match": etag });
      expect(same.status).to.equal(304);
      expect(same.headers.get("x-as-of")! >= body.as_of).to.equal(true);
      const other = await client.get(`/stations?ids=${idOf(0)}`, { "If-None-Match": etag });
      expect(other.status).to.equal(200);
    });

    it("filters them", async () => {
      const { body } = await client.get(`/stations?ids=${idOf(1)},${idOf(2)}&fuel=95`);
      expect([ids(body), body.missing]).to.deep.equal([[idOf(2)], []]);
    });

    it("takes 200, and refuses more, none, and an area beside them", async () => {
      const list = (count: number) => Array.from({ length: count }, (_, n) => `n${n}`).join();
      expect((await client.get(`/stations?ids=${list(200)}`)).status).to.equal(200);
      expect(await faultOf(`/stations?ids=${list(201)}`)).to.equal("422 query.ids too_long");
      expect(await faultOf("/stations?ids=")).to.equal("422 query.ids too_short");
      for (const more of ["bbox=1,2,3,4", "city=x", "lat=1&lon=1", "sort=distance"])
        expect(await faultOf(`/stations?ids=n1&${more}`), more).to.equal(
          "422 query.ids value_error",
        );
    });
  });

  describe("around a point", () => {
    it("gives the nearest first, within the radius", async () => {
      const { lat, lon } = placeOf(10);
      const { body, headers } = await client.get(`/stations?lat=${lat}&lon=${lon}&radius_km=0.65`);
      // Neighbours are 300 m apart in one row.
      expect(ids(body)[0]).to.equal(idOf(10));
      expect(ids(body).slice(1, 3).sort()).to.deep.equal([idOf(11), idOf(9)].sort());
      expect(ids(body).slice(3).sort()).to.deep.equal([idOf(12), idOf(8)].sort());
      const same = await client.get(`/stations?lat=${lat}&lon=${lon}&radius_km=0.65`, {
        "If-None-Match": headers.get("etag")!,
      });
      expect(same.status).to.equal(304);
      const usual = await client.get(`/stations?lat=${lat}&lon=${lon}`);
      expect(usual.body.count).to.equal(60);
      const filtered = await client.get(`/stations?lat=${lat}&lon=${lon}&status=yes`);
      expect(ids(filtered.body)).to.deep.equal([idOf(2)]);
    });

    it("refuses half a point, a point beside an area, and a radius out of range", async () => {
      expect(await faultOf("/stations?lat=55")).to.equal("422 query.lon missing");
      expect(await faultOf("/stations?lon=55")).to.equal("422 query.lat missing");
      const area = "422 query.lat value_error";
      expect(await faultOf("/stations?lat=55&lon=37&bbox=1,2,3,4")).to.equal(area);
      expect(await faultOf("/stations?lat=55&lon=37&city=x")).to.equal(area);
      const far = "422 query.radius_km less_than_equal";
      expect(await faultOf("/stations?lat=55&lon=37&radius_km=61")).to.equal(far);
      expect(await faultOf("/stations?lat=91&lon=37")).to.equal("422 query.lat less_than_equal");
    });
  });

  it("answers publishable keys by bbox and city alone", async () => {
    const refused = "403 secret-key-required";
    const paths = [
      "ids=n1000",
      "ids=",
      "lat=55&lon=37",
      "lon=37&bbox=1,2,3,4",
      "ids=n1&fresh_h=99",
    ];
    for (const query of paths)
      expect(await faultOf(`/stations?${query}`, page), query).to.equal(refused);
    for (const path of ["/stations.csv?bbox=55,37,56,38", "/stations/all.ndjson"])
      expect(await faultOf(path, page), path).to.equal(refused);
    const along = await page.post("/stations/along", {});
    expect(along.status).to.equal(403);
    const json = await fetch(url("/stations?bbox=55,36.9,55.1,37.1"), {
      headers: { Authorization: `Bearer ${country.publishable}`, Accept: "text/csv" },
    });
    expect(json.headers.get("content-type")).to.match(/^application\/json/);
    await json.text();
  });

  describe("as CSV", () => {
    const rowsOf = (body: string) => parse(body, { columns: true }) as Record<string, string>[];

    it("has a column for each field, and the envelope in headers", async () => {
      const path = "/stations?bbox=55,36.9,56,37.1";
      const { response, body } = await text(path, { Accept: "text/csv" });
      expect(response.headers.get("content-type")).to.equal("text/csv; charset=utf-8");
      expect(response.headers.get("x-count")).to.equal("60");
      const all = rowsOf(body);
      expect(all).to.have.length(60);
      const row = all.find(({ id }) => id === idOf(2))!;
      const { station } = (await client.get(`/stations/${idOf(2)}`)).body;
      const { fuel, ...place } = station;
      const fields = { ...place, ...fuel } as Record<string, string | number | boolean | null>;
      for (const [name, value] of Object.entries(fields))
        expect(row[name], name).to.equal(value === null ? "" : String(value));
      const named = await text("/stations.csv?bbox=55,36.9,56,37.1");
      expect(named.body).to.equal(body);
      expect(named.response.headers.get("etag")).to.equal(response.headers.get("etag"));
      const etag = response.headers.get("etag")!;
      const same = await text(path, { Accept: "text/csv", "If-None-Match": etag });
      expect(same.response.status).to.equal(304);
    });

    it("gives spreadsheets no formula, and on request the mark by which they know UTF-8", async () => {
      const change = { name: "=HYPERLINK(1)", brand: "@Brand", addr: "-1+2", lon: -0.5 };
      await country
        .db("stations")
        .where({ id: idOf(5) })
        .update(change);
      await country.db.raw("select feed_stamp(?::text[])", [[idOf(5)]] as never);
      const path = `ids=${idOf(5)}`;
      const found = await until(
        () => text(`/stations.csv?${path}`),
        ({ body }) => body.includes("HYPERLINK"),
      );
      expect(rowsOf(found.body)[0]).to.include({
        ...{ name: "'=HYPERLINK(1)", brand: "'@Brand", addr: "'-1+2", lon: "-0.5" },
      });
      const { station } = (await client.get(`/stations/${idOf(5)}`)).body;
      expect(station).to.include(change);
      const marked = await bytes(`/stations.csv?${path}&bom=true`);
      expect(marked).to.deep.equal(Buffer.concat([Buffer.from("\ufeff"), Buffer.from(found.body)]));
      expect((await bytes("/stations/all.csv?bom=true")).subarray(0, 5).toString()).to.equal(
        "\ufeffid",
      );
      expect((await bytes("/stations/all.csv")).subarray(0, 2).toString()).to.equal("id");
      for (const list of [`/stations.csv?${path}&bom=`, "/stations/all.csv?bom="]) {
        const [one, other] = [await tagOf(`${list}true`), await tagOf(`${list}false`)];
        expect(one, list).to.be.a("string").and.not.equal(other);
      }
      const json = await client.get(`/stations?${path}&bom=true`);
      expect(json.body.count).to.equal(1);
      expect(json.headers.get("x-ignored-parameters")).to.equal(null);
      await country
        .db("stations")
        .where({ id: idOf(5) })
        .update({ name: `Station ${idOf(5)}`, brand: "Brand", addr: "Street 1", lon: 37 });
      await country.db.raw("select feed_stamp(?::text[])", [[idOf(5)]] as never);
      await until(
        () => client.get(`/stations/${idOf(5)}`),
        ({ body }) => body.station.lon === 37,
      );
    });

    it("quotes what needs it, and is a line of names when nothing is found", async () => {
      const name = 'Заправка "У моста", 2\nкорпус';
      await country
        .db("stations")
        .where({ id: idOf(3) })
        .update({ name });
      await country.db.raw("select feed_stamp(?::text[])", [[idOf(3)]] as never);
      const found = await until(
        () => text(`/stations.csv?ids=${idOf(3)},${idOf(4)}`),
        ({ body }) => body.includes("моста"),
      );
      expect(rowsOf(found.body).map((row) => row["name"])).to.deep.equal([
        name,
        `Station ${idOf(4)}`,
      ]);
      const none = await text("/stations/all.csv?status=queue");
      expect(none.body).to.match(/^id,lat,lon,[a-z_,]+,opening_hours,chance,closed\n$/);
    });
  });

  it("gives each form at a path of its own, like Accept does", async () => {
    for (const [end, accept] of [
      ["geojson", "application/geo+json"],
      ["ndjson", "application/x-ndjson"],
      ["csv", "text/csv"],
    ] as const)
      for (const [path, query] of [
        ["/stations", "?city=%D0%A2%D0%B5%D1%81%D1%82%D0%BE%D0%B3%D1%80%D0%B0%D0%B4"],
        ["/stations/all", "?limit=7"],
      ] as const) {
        const asked = await text(path + query, { Accept: accept });
        const named = await text(`${path}.${end}${query}`, { Accept: "application/json" });
        expect(named.response.status).to.equal(200);
        expect(named.response.headers.get("content-type")).to.match(
          new RegExp(`^${accept.replace("+", "\\+")}`),
        );
        // A second may have passed.
        const lasting = (body: string) => body.replace(/"(as_of|next_cursor)":"[^"]*"/g, "");
        expect(lasting(named.body), path + end).to.equal(lasting(asked.body));
        expect(named.response.headers.get("etag")).to.equal(asked.response.headers.get("etag"));
      }
  });

  describe("along a way", () => {
    const line = {
      type: "LineString",
      coordinates: [
        [37.001, 55.2],
        [37.001, 55],
      ],
    };

    it("gives the stations in its order, with their places on it", async () => {
      const { status, body } = await client.post("/stations/along", { line, buffer_m: 100 });
      expect(status, JSON.stringify(body)).to.equal(200);
      const all = Array.from({ length: 60 }, (_, n) => idOf(59 - n));
      expect(ids(body)).to.deep.equal(all);
      expect(body.along.map(({ id }: { id: string }) => id)).to.deep.equal(all);
      const last = body.along.at(-1);
      // 0.2° of latitude, and a thousandth of a degree of longitude beside.
      expect(last.at_m).to.be.within(22_200, 22_280);
      expect(last.off_m).to.be.within(60, 67);
      expect(body).to.include({ count: 60, truncated: false });
      const narrow = await client.post("/stations/along", { line, buffer_m: 50 });
      expect(narrow.body.count).to.equal(0);
      const filtered = await client.post("/stations/along?fuel=95", { line });
      expect(ids(filtered.body)).to.deep.equal([idOf(2)]);
    });

    it("reads an encoded polyline", async () => {
      // 55, 37.001 and 55.005, 37.001.
      const { body } = await client.post("/stations/along", {
        line: "_eunIgwy`Fg^?",
        buffer_m: null,
      });
      expect(ids(body)).to.deep.equal([idOf(0), idOf(1), idOf(2), idOf(3)]);
    });

    it("says so when the latitude comes first, and the line would lie among the stations otherwise", async () => {
      const swapped = { ...line, coordinates: line.coordinates.map((point) => point.toReversed()) };
      const { status, body } = await client.post("/stations/along", { line: swapped });
      expect(status).to.equal(422);
      expect(body.detail[0].loc).to.deep.equal(["body", "line", "coordinates"]);
      expect(body.detail[0].msg).to.match(/latitude first/);
      const far = {
        ...line,
        coordinates: [
          [10, 10],
          [11, 11],
        ],
      };
      expect((await client.post("/stations/along", { line: far })).body.count).to.equal(0);
    });

    it("says so too where the line with the axes swapped lies inside the country's rectangle", async () => {
      const move = async (lat: number, lon: number): Promise<void> => {
        await country
          .db("stations")
          .where({ id: idOf(7) })
          .update({ lat, lon });
        await country.db.raw("select feed_stamp(?::text[])", [[idOf(7)]] as never);
        await until(
          () => client.get(`/stations/${idOf(7)}`),
          ({ body }) => body.station.lon === lon,
        );
      };
      // Now the rectangle around all stations reaches to where the swapped line lies, far from every station.
      await move(36, 58);
      const swapped = { ...line, coordinates: line.coordinates.map((point) => point.toReversed()) };
      const { status, body } = await client.post("/stations/along", { line: swapped });
      expect([status, body.detail?.[0].msg]).to.match(/422,.*latitude first/);
      // A filter that nothing passes is no swapped line.
      const filtered = await client.post("/stations/along?status=queue", { line });
      expect([filtered.status, filtered.body.count]).to.deep.equal([200, 0]);
      await move(placeOf(7).lat, placeOf(7).lon);
    });

    it("refuses what is no line, or too long a one, and names the place", async () => {
      const fault = async (given: unknown, more = {}) => {
        const { status, body } = await client.post("/stations/along", { line: given, ...more });
        expect(status).to.equal(422);
        return `${body.detail[0].loc.join(".")} ${body.detail[0].type}`;
      };
      const way = (...coordinates: unknown[]) => ({ type: "LineString", coordinates });
      expect(await fault("нет")).to.equal("body.line polyline");
      expect(await fault("??")).to.equal("body.line too_short");
      expect(await fault("?".repeat(4002))).to.equal("body.line too_long");
      expect(await fault(way([37, 55]))).to.equal("body.line.coordinates too_short");
      expect(await fault(way([37, 55], [37, "55"]))).to.equal(
        "body.line.coordinates.1.1 float_type",
      );
      expect(await fault(way([37, 55], [37, 95]))).to.equal("body.line.coordinates.1 coordinates");
      expect(await fault(way([0, 0], [90, 0]))).to.equal("body.line too_long");
      expect(await fault({ type: "Point", coordinates: [] })).to.match(/^body\.line/);
      expect(await fault(line, { buffer_m: 5001 })).to.equal("body.buffer_m less_than_equal");
      expect(await fault(line, { Buffer_m: 1 })).to.equal("body.Buffer_m name_spelling");
      expect((await client.get("/stations/along")).status).to.equal(405);
    });
  });
});
