import { expect } from "chai";
import { hourMs } from "#src/domain/units.ts";
import { rows } from "#src/infrastructure/db.ts";
import { selectedStations } from "#src/marks/mark-selection.ts";
import { addKey } from "#test/api/edge.ts";
import { type Answer, type Client, createClient, until } from "#test/flow/client.ts";
import { type Place, placeOf } from "#test/flow/country.ts";
import { useStage } from "#test/flow/stage.ts";

const codeOf = ({ status, body }: Answer): string =>
  status < 300 ? body.published.outcome : String(body.type).split("/").at(-1)!;

describe("flow: marks from the widget over two web processes", function () {
  const { country, web, webs, workers, ...stage } = useStage(2200, ["web", "web", "marks"], {
    KEYS_REFRESH_MS: "200",
    TRUSTED_PROXIES: "127.0.0.1",
  });
  const pages = stage.pages as [Client, Client];
  let next = 0;
  /** Each test has a station of its own, 30 km from the next test's. */
  let here: Place;
  let address = 0;

  beforeEach(() => void (here = placeOf((next += 100))));

  /** Headers of a viewer with an address that nobody else in this file has. */
  const viewer = (): Record<string, string> => {
    address += 1;
    return { "X-Forwarded-For": `10.0.${address >> 8}.${address & 255}` };
  };
  const report = (client: Client, device: string, body: object, headers = viewer()) =>
    client.post(
      `/widget/stations/${here.id}/report`,
      { device, lat: here.lat, lon: here.lon, ...body },
      headers,
    );
  const confirm = (client: Client, device: string, body: object, headers = viewer()) =>
    client.post(
      `/widget/stations/${here.id}/confirm`,
      { device, lat: here.lat, lon: here.lon, ...body },
      headers,
    );
  const remote = { lat: null, lon: null };
  const fuelOf = async (client: Client) =>
    (await client.get(`/stations/${here.id}`)).body.station.fuel;

  it("config: what the map needs to start, with either kind of key", async () => {
    const { status, body } = await pages[0].get("/widget/config");
    expect(status).to.equal(200);
    expect(body).to.deep.equal({
      confirm_min: 0,
      reports_enabled: true,
      grades: ["92", "95", "98", "100", "ДТ"],
      queues: ["0-5", "5-10", "10-20", "20+"],
      statuses: ["yes", "low", "no", "queue"],
      center: { lat: 55, lon: 37, zoom: 11 },
      stale_after_hours: 24,
      cooldown_s: 1200,
      express_cooldown_s: 120,
      incident: null,
      near_m: 500,
      basemap: {
        kind: "bundled",
        url: "/basemap/bundled.pmtiles",
        attribution: "Natural Earth",
      },
      credits: [],
    });
    const secret = stage.clients[1]!;
    expect((await secret.get("/widget/config")).body).to.deep.equal(body);
  });

  it("publishes a mark made at the station at once, and the partner's server sees it", async () => {
    const marked = await report(pages[0], "d-alone", { status: "yes", fuels: ["95"] });
    expect([marked.status, codeOf(marked)]).to.deep.equal([200, "published"]);
    expect(marked.body.fuel).to.include({ status: "yes", fuels_now: "95", confirmations: 1 });
    expect((await fuelOf(stage.client)).status).to.equal("yes");
  });

  it("another device, first seen 11 minutes earlier, confirms what is pending on the other process", async () => {
    await country.meetDevice("d-early", 11);
    const marked = await report(pages[0], "d-author", { status: "no", ...remote });
    expect([codeOf(marked), marked.body.remote]).to.deep.equal(["pending", true]);
    expect(marked.body.fuel).to.include({
      status: "nodata",
      pending_status: "no",
      pending_count: 1,
    });
    const own = await confirm(pages[1], "d-author", { status: "no" });
    expect([own.status, codeOf(own)]).to.deep.equal([409, "own-mark"]);
    const confirmed = await confirm(pages[1], "d-early", { status: "no" });
    expect([confirmed.status, codeOf(confirmed)]).to.deep.equal([200, "published"]);
    expect(confirmed.body.fuel).to.include({ status: "no", pending_status: "", real_count: 2 });
    await until(
      () => fuelOf(pages[0]),
      (fuel) => fuel.status === "no",
    );
  });

  it("one of 20 independent devices that confirm at one instant publishes, the others find nothing pending", async () => {
    for (let n = 0; n < 20; n++) await country.meetDevice(`d-far-${n}`, 60 + 11 * n);
    await report(pages[0], "d-far-author", { status: "no", ...remote });
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => confirm(pages[n % 2]!, `d-far-${n}`, { status: "no" })),
    );
    const codes = answers.map(codeOf).sort();
    expect(codes).to.deep.equal([...Array<string>(19).fill("nothing-pending"), "published"]);
  });

  it("20 devices of one group that confirm at one instant are all taken and stay one device", async () => {
    await report(pages[0], "d-group-author", { status: "no", ...remote });
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        confirm(pages[n % 2]!, `d-group-${n}`, { status: "no", ...remote }),
      ),
    );
    expect(answers.map(codeOf)).to.deep.equal(Array<string>(20).fill("pending"));
    const fuel = await until(
      () => fuelOf(pages[0]),
      ({ pending_status: status }) => status === "no",
    );
    expect(fuel).to.include({ status: "nodata", pending_status: "no", pending_count: 1 });
    const [{ count }] = (await rows<{ count: number }>(
      country.db,
      "select count(*)::int as count from marks where station_id = ? and source = 'widget' and partner_id is null",
      [here.id],
    )) as [{ count: number }];
    expect(count).to.equal(21);
  });

  it("a device that reports and confirms the same at one instant never confirms itself", async () => {
    await report(pages[0], "d-race-author", { status: "no", ...remote });
    for (let n = 0; n < 10; n++) {
      const device = `d-race-${n}`;
      const headers = viewer();
      const [reported, confirmed] = await Promise.all([
        report(pages[0], device, { status: "no", ...remote }, headers),
        confirm(pages[1], device, { status: "no", ...remote }, headers),
      ]);
      // Whichever came second is either its own or a repetition: never a second mark.
      const pair = `${codeOf(reported)}, ${codeOf(confirmed)}`;
      expect(pair).to.be.oneOf(["pending, own-mark", "pending, pending"]);
      if (codeOf(confirmed) === "pending") expect(reported.body.duplicate).to.equal(true);
    }
    expect((await fuelOf(pages[0])).pending_count).to.equal(1);
  });

  it("refuses no device for being new, however many share an address; the partner's 500 are untouched", async () => {
    const headers = viewer();
    for (let n = 0; n < 25; n++) {
      here = placeOf(next + 1 + n);
      expect(
        (await report(pages[n % 2]!, `d-new-${n}`, { status: "yes" }, headers)).status,
      ).to.equal(200);
    }
    const partner = stage.client;
    expect((await partner.mark(here, "u-1", { status: "yes" }, headers)).status).to.equal(200);
  });

  it("mass `no` of new devices is held by the viewer, not by the publishable key", async () => {
    const headers = viewer();
    await rows(country.db, "update reporters set first_seen = first_seen - interval '2 days'");
    const codes: string[] = [];
    for (let n = 0; n < 21; n++) {
      // Known for an hour, so that the cap on new devices is not met first.
      await country.meetDevice(`d-mass-${n}`, 60);
      here = placeOf(next + n);
      codes.push(codeOf(await report(pages[n % 2]!, `d-mass-${n}`, { status: "no" }, headers)));
    }
    expect(codes.slice(0, 20)).to.not.include("held");
    expect(codes[20]).to.equal("held");
    here = placeOf(next + 40);
    await country.meetDevice("d-mass-other", 60);
    expect(codeOf(await report(pages[0], "d-mass-other", { status: "no" }))).to.not.equal("held");
  });

  it("reports off, and a threshold, are the key's", async () => {
    const keyWith = async (settings: object): Promise<Client> => {
      const { db, partnerId } = country;
      return createClient(web.baseUrl, await addKey(db, partnerId, "publishable", settings));
    };
    const mute = await keyWith({ reports: false });
    expect((await mute.get("/widget/config")).body.reports_enabled).to.equal(false);
    await report(pages[0], "d-off-author", { status: "low", ...remote });
    const refusals = [
      await report(mute, "d-off", { status: "yes" }),
      await confirm(mute, "d-off", { status: "low" }),
      await confirm(mute, "d-off-author", { status: "low" }),
    ];
    expect(refusals.map((one) => [one.status, codeOf(one)])).to.deep.equal(
      refusals.map(() => [403, "reports-disabled"]),
    );
    const strict = await keyWith({ confirm_min: 3 });
    expect((await strict.get("/widget/config")).body.confirm_min).to.equal(3);
    here = placeOf((next += 100));
    const marked = await report(strict, "d-strict", { status: "yes" });
    expect([
      codeOf(marked),
      marked.body.published.needed,
      marked.body.published.rule,
    ]).to.deep.equal(["pending", 3, "key-threshold"]);
  });

  it("a dry run gives the verdict and stores nothing", async () => {
    await report(pages[0], "d-dry-author", { status: "no", ...remote });
    await country.meetDevice("d-dry", 30);
    const dry = { "X-Dry-Run": "1" };
    const secret = stage.clients[1]!;
    const tried = await confirm(secret, "d-dry", { status: "no" }, dry);
    expect([tried.status, codeOf(tried), tried.body.report_id]).to.deep.equal([
      200,
      "published",
      "",
    ]);
    expect(codeOf(await confirm(secret, "d-dry-author", { status: "no" }, dry))).to.equal(
      "own-mark",
    );
    expect((await fuelOf(pages[0])).pending_status).to.equal("no");
  });

  it("422 for the body's form before 404 for the station", async () => {
    const bodies: object[] = [
      { device: "" },
      { device: "d".repeat(129) },
      { device: 7 },
      { status: "nodata" },
      { lon: null },
    ];
    for (const body of bodies) {
      for (const action of ["report", "confirm"]) {
        const sent = { device: "d", status: "yes", lat: 55, lon: 37, ...body };
        const { status, body: problem } = await pages[0].post(
          `/widget/stations/zz/${action}`,
          sent,
        );
        expect([status, problem.detail[0].loc[0]], JSON.stringify(body)).to.deep.equal([
          422,
          "body",
        ]);
      }
    }
    const unknown = await confirm(pages[0], "д".repeat(128), { status: "yes" });
    expect(codeOf(unknown)).to.equal("nothing-pending");
    here = { ...here, id: "n1" };
    expect(codeOf(await report(pages[0], "d", { status: "yes" }))).to.equal("station-not-found");
    expect(codeOf(await confirm(pages[0], "d", { status: "yes" }))).to.equal("station-not-found");
  });

  it("a queued mark's Location is for the key's own partner's server", async () => {
    const headers = { ...viewer(), Prefer: "respond-async" };
    const queued = await report(pages[0], "d-queued", { status: "yes" }, headers);
    expect([queued.status, codeOf(queued)]).to.deep.equal([202, "queued"]);
    const path = queued.headers.get("location")!.slice("/api/v1/partner".length);
    const partner = stage.clients[1]!;
    const state = await until(
      () => partner.get(path),
      ({ body }) => body.state === "processed",
    );
    expect(codeOf(state)).to.equal("published");
    expect((await pages[0].get(path)).status).to.equal(403);
  });

  it("is taken back with all marks of the partner whose key it came through", async () => {
    await report(pages[0], "d-campaign", { status: "yes" });
    const selection = { partner: country.partnerId, station: here.id };
    expect(await selectedStations(country.db, selection)).to.deep.equal([
      { station_id: here.id, marks: 1 },
    ]);
    const other = { partner: country.partnerId + 1, station: here.id };
    expect(await selectedStations(country.db, other)).to.deep.equal([]);
  });

  it("takes a mark of a device's own id once, however often and wherever it comes, and apart for each device", async () => {
    const named = { status: "no", external_id: "said once" };
    const first = await report(pages[0], "waiting device", named);
    expect(first.status).to.equal(200);
    expect(first.body.duplicate).to.equal(false);
    // Long past the time in which the same words are a repeat by themselves.
    await rows(
      country.db,
      `update marks set received_at = received_at - interval '3 hours', effective_at = effective_at - interval '3 hours'
       where station_id = ?`,
      [here.id],
    );
    const again = await Promise.all(
      pages.map((client) =>
        report(client, "waiting device", {
          ...named,
          observed_at: new Date(Date.now() - 3 * hourMs).toISOString(),
        }),
      ),
    );
    for (const { status, body } of again) {
      expect(status).to.equal(200);
      expect(body.duplicate).to.equal(true);
      expect(body.report_id).to.equal(first.body.report_id);
    }
    expect((await report(pages[0], "another device", named)).body.duplicate).to.equal(false);
    const stored = await rows(country.db, "select id from marks where station_id = ?", [here.id]);
    expect(stored).to.have.length(2);
  });

  it("keeps neither the device nor the viewer's address", async () => {
    await report(
      pages[0],
      "d-secret-name",
      { status: "yes" },
      { "X-Forwarded-For": "203.0.113.9" },
    );
    const dump = JSON.stringify([
      await rows(country.db, "select row_to_json(m)::text as t from marks m"),
      await rows(country.db, "select row_to_json(r)::text as t from reporters r"),
    ]);
    expect(dump).to.not.include("d-secret-name");
    expect(dump).to.not.include("203.0.113.9");
    expect([...webs, ...workers].flatMap(({ lines }) => lines).join("\n")).to.not.include(
      "d-secret-name",
    );
  });
});
