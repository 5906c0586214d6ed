import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { isRefusal } from "#src/contract/refusals.ts";
import { rows } from "#src/infrastructure/db.ts";
import { formatTime } from "#src/domain/time.ts";
import { previewRollback } from "#src/marks/effects.ts";
import type { Selection } from "#src/marks/mark-selection.ts";
import { partnerReporter } from "#src/marks/marks.ts";
import type { TestInstance } from "#test/harness/instance.ts";
import type { Ran } from "#test/harness/operator.ts";
import { type Client, createClient, until } from "#test/flow/client.ts";
import { type Country, placeOf } from "#test/flow/country.ts";
import { expectRefolded, untilServed } from "#test/flow/refold.ts";
import { openStage, type Stage } from "#test/flow/stage.ts";

interface Change {
  station_id: string;
  marks: number;
  before: { status: string };
  after: { status: string };
}

describe("flow: marks are rolled back as if they had never been made", function () {
  let stage: Stage;
  let instance: TestInstance;
  let country: Country;
  let first: Client;
  let second: Client;

  beforeEach(async () => {
    stage = await openStage(12, ["web", "web", "marks", "marks"]);
    ({ instance, country } = stage);
    [first, second] = stage.clients as [Client, Client];
    for (const [n, user] of ["ann", "bob", "eve", "mal"].entries())
      await country.meet(user, 25 * 60 + n * 15);
  });
  afterEach(() => stage.close());

  const operator = (...args: string[]): Promise<Ran> => stage.operator(...args);
  const hashOf = (user: string): string =>
    partnerReporter(instance.config.reporterPepper, country.partnerId, user);
  const fuelOf = async (client: Client, n: number) =>
    (await client.get(`/stations/${placeOf(n).id}`)).body.station.fuel;
  const untilFolded = () => untilServed(country.db, stage.webs);

  it("previews by reporter what then happens, on every process and in the delta", async () => {
    // eve alone, eve over bob, eve beside ann, and a station that eve never saw.
    await first.mark(placeOf(0), "eve", { status: "yes", fuels: ["95"], prices: { "95": 60 } });
    const bob = await first.mark(placeOf(1), "bob", { status: "low", limit_l: 20 });
    await second.mark(placeOf(1), "eve", { status: "queue", queue: "20+" });
    await second.mark(placeOf(2), "ann", { status: "yes" });
    const eve = await first.mark(placeOf(2), "eve", { status: "yes" });
    expect(eve.body.published).to.include({ outcome: "confirmed", have: 2 });
    await first.mark(placeOf(3), "ann", { status: "yes" });
    const untouched = await fuelOf(first, 3);
    const since = (await second.get(`/stations/${placeOf(0).id}`)).body.as_of as string;

    const selection = ["marks", "rollback", "--reporter", hashOf("eve")];
    const preview = await operator(...selection, "--dry-run");
    expect(preview.json).to.include({
      dry_run: true,
      marks: 3,
      held: 0,
      reporters: 1,
      stations: 3,
    });
    const changes = preview.json.changes as Change[];
    expect(
      changes.map((one) => [one.station_id, one.before.status, one.after.status]),
    ).to.have.deep.members([
      [placeOf(0).id, "yes", "nodata"],
      [placeOf(1).id, "queue", "low"],
      [placeOf(2).id, "yes", "yes"],
    ]);
    expect(await fuelOf(first, 0)).to.include({ status: "yes", prices: "95=60.00" });
    expect(
      await rows(country.db, "select id from marks where review = 'withdrawn'"),
    ).to.have.length(0);

    const done = await operator(...selection);
    expect(done.json).to.include({ dry_run: false, marks: 3, stations: 3 });
    await untilFolded();
    for (const client of [first, second]) {
      for (const { station_id, after } of changes) {
        const fuel = await until(
          async () => (await client.get(`/stations/${station_id}`)).body.station.fuel,
          (one) => JSON.stringify(one) === JSON.stringify(after),
        );
        expect(fuel, station_id).to.deep.equal(after);
      }
    }
    expect(await fuelOf(first, 0)).to.include({ status: "nodata", updated: "" });
    expect(await fuelOf(first, 1)).to.deep.equal(bob.body.fuel);
    expect(await fuelOf(first, 2)).to.include({ confirmations: 1, real_count: 1 });
    expect(await fuelOf(first, 3)).to.deep.equal(untouched);
    const delta = await second.get(`/stations/delta?updated_since=${encodeURIComponent(since)}`);
    const listed = delta.body.stations as { id: string; fuel: object }[];
    for (const { station_id, after } of changes)
      expect(listed.find((one) => one.id === station_id)?.fuel).to.deep.equal(after);
    await expectRefolded(country.db, instance.config);

    const report = await second.get(`/reports/${eve.body.report_id}`);
    expect(report.body).to.include({ state: "processed", accepted: true });
    expect(report.body.published).to.include({ outcome: "superseded", status: "yes", have: 0 });
    const [entry] = await rows<{ actor: string; subject: string; details: object }>(
      country.db,
      "select actor, subject, details from operator_log where action = 'marks.rollback'",
    );
    expect(entry).to.deep.include({ actor: "olga", subject: "3 marks at 3 stations" });
    const [reporter] = await rows<{ id: number }>(
      country.db,
      "select id from reporters where hash = decode(?, 'hex')",
      [hashOf("eve")],
    );
    const details = { id: done.json.id, reporter: reporter!.id, marks: 3, stations: 3 };
    expect(entry!.details).to.deep.equal(details);

    const again = await operator(...selection);
    expect(again.json).to.include({ marks: 0, stations: 0 });
  });

  it("selects by key, partner, station, status and time of receipt, all of them together", async () => {
    await first.mark(placeOf(1), "eve", { status: "yes" });
    // Whole seconds are what the command line takes.
    const between = Math.ceil((Date.now() + 1) / 1000) * 1000;
    await sleep(between - Date.now() + 1);
    await first.mark(placeOf(0), "ann", { status: "yes" });
    await first.mark(placeOf(0), "bob", { status: "low" });
    const count = async (selection: Selection): Promise<number | undefined> => {
      const preview = await previewRollback(country.db, selection, instance.config, 1);
      return isRefusal(preview) ? undefined : preview.marks;
    };
    const { keyId: key, partnerId: partner } = country;
    expect(await count({ key })).to.equal(3);
    expect(await count({ partner })).to.equal(3);
    for (const nothing of [{ partner: 999 }, { key: 999 }, { station: "n404" }, { reporter: 999 }])
      expect(await count(nothing), JSON.stringify(nothing)).to.equal(undefined);
    expect(await count({ station: placeOf(0).id })).to.equal(2);
    expect(await count({ station: placeOf(0).id, status: "low" })).to.equal(1);
    expect(await count({ since: between })).to.equal(2);
    expect(await count({ key, until: between })).to.equal(1);
    const before = formatTime(between);
    const typed = ["--key", String(key), "--partner", String(partner), "--until", before];
    const dry = await operator("marks", "rollback", ...typed, "--status", "yes", "--dry-run");
    expect(dry.json).to.include({ marks: 1, stations: 1 });

    for (const args of [
      [],
      ["--status", "no"],
      ["--until", before],
      ["--reporter", "eve"],
      ["--since", "soon"],
    ])
      expect((await operator("marks", "rollback", ...args)).code, args.join(" ")).to.equal(2);
    expect((await operator("marks", "rollback", "--reporter", "12345")).code).to.equal(1);
    const wide = await operator("marks", "rollback", "--network", "abcdef01", "--status", "no");
    expect(wide.json.error).to.equal(
      "add --since (or --partner, --key, --reporter, --station): a network and a status alone would read every day that is kept",
    );
    const help = await operator("marks", "rollback", "--help");
    expect(help.json.help).to.match(
      /at least one of --since,[^]*would read every day that is kept/,
    );
    expect(
      await rows(country.db, "select id from marks where review = 'withdrawn'"),
    ).to.have.length(0);
  });

  it("selects by network, position, first seen and city as well", async () => {
    // Тестоград is the nearest city of the other stations.
    const far = placeOf(11);
    await rows(
      country.db,
      `insert into cities (id, source, name, region, lat, lon, population)
       values ('c2', 'test', 'Слобода', 'Область', 55.03, 37, 1000)`,
    );
    await first.mark(placeOf(0), "ann", { status: "yes" });
    await first.mark(placeOf(1), "bob", { status: "yes", lat: null, lon: null });
    await first.mark(far, "newcomer", { status: "yes" });
    const map = createClient(stage.webs[0]!.baseUrl, country.publishable);
    await map.post(`/widget/stations/${placeOf(2).id}/report`, { device: "d-1", status: "no" });
    const [seen] = await rows<{ network: string }>(
      country.db,
      "select encode(viewer, 'hex') as network from marks where viewer is not null",
    );
    const stations = async (...typed: string[]): Promise<unknown> => {
      const { code, json } = await operator("marks", "rollback", ...typed, "--dry-run");
      expect(code, typed.join(" ")).to.equal(0);
      return json.changes.map(({ station_id: id }: Change) => id).sort();
    };
    const idsOf = (...numbers: number[]) => numbers.map((n) => placeOf(n).id).sort();
    const hourAgo = formatTime(Date.now() - 3600_000);
    const since = ["--since", hourAgo];
    const { network } = seen!;
    expect(await stations(...since, "--network", network.slice(0, 8))).to.deep.equal(idsOf(2));
    expect(await stations(...since, "--network", "00000000")).to.deep.equal([]);
    expect(await stations(...since, "--remote", "true")).to.deep.equal(idsOf(1, 2));
    expect(await stations(...since, "--remote", "false")).to.deep.equal(idsOf(0, 11));
    expect(await stations("--first-seen-since", hourAgo)).to.deep.equal(idsOf(2, 11));
    const known = [...since, "--first-seen-until", hourAgo];
    expect(await stations(...known)).to.deep.equal(idsOf(0, 1));
    expect(await stations(...since, "--city", "тестоград")).to.deep.equal(idsOf(0, 1, 2));
    expect(await stations(...since, "--city", "Слобода")).to.deep.equal(idsOf(11));
    for (const [typed, said] of [
      [["--city", "Нигде"], "there is no city Нигде"],
      [["--key", "999"], "there is no key 999: `operator key list` shows the existing ones"],
      [["--station", "n404"], "there is no station n404"],
    ] as const)
      for (const verb of ["marks rollback", "review approve", "review reject"]) {
        const { code, json } = await operator(...verb.split(" "), ...since, ...typed);
        expect([code, json.error], `${verb} ${typed.join(" ")}`).to.deep.equal([1, said]);
      }

    for (const args of [
      ["--network", "3f"],
      ["--city", ""],
      ["--remote", "maybe"],
      ["--city", "A"],
    ])
      expect((await operator("marks", "rollback", ...args)).code, args.join(" ")).to.equal(2);
    const all = ["--network", network, "--city", "Тестоград", "--remote", "true"];
    const done = await operator("marks", "rollback", "--first-seen-since", hourAgo, ...all);
    expect(done.json).to.include({ marks: 1, stations: 1 });
    await untilFolded();
    await expectRefolded(country.db, instance.config);
  });

  it("withdraws held marks, so that they leave the review", async () => {
    await country.db("keys").update({ mass_no_limit: 1 });
    await first.mark(placeOf(9), "newcomer before", { status: "no" });
    const { body } = await first.mark(placeOf(6), "newcomer", { status: "no" });
    expect(body.published.outcome).to.equal("held");
    const held = (await operator("review", "list")).json as { id: number }[];
    expect(held).to.have.length(1);
    const preview = await operator(
      "marks",
      "rollback",
      "--key",
      String(country.keyId),
      "--dry-run",
    );
    expect(preview.json.held).to.equal(1);
    await operator("marks", "rollback", "--key", String(country.keyId));
    expect((await operator("review", "list")).json).to.deep.equal([]);
    expect((await operator("review", "approve", String(held[0]!.id))).json.error).to.equal(
      `mark ${held[0]!.id} is not held: it is withdrawn; \`operator review list\` shows the held marks`,
    );
  });
});
