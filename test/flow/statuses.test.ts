import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { rows } from "#src/infrastructure/db.ts";
import { formatTime } from "#src/domain/time.ts";
import { runOperator, type Ran } from "#test/harness/operator.ts";
import { until } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { useStage } from "#test/flow/stage.ts";
import { useFolder } from "#test/harness/use.ts";

const hourMs = 3_600_000;
const second = (ms: number): number => Math.floor(ms / 1000) * 1000;
const ago = (hours: number): string => formatTime(Date.now() - hours * hourMs);

describe("flow: imported statuses", function () {
  const { instance, country, client } = useStage(20, ["web", "marks", "marks"]);
  const folder = useFolder();

  const importLines = async (lines: string[], env: Record<string, string> = {}): Promise<Ran> => {
    const path = join(folder.path, "statuses.csv");
    await writeFile(
      path,
      `${["station_id,status,fuels_now,fuels_no,updated", ...lines].join("\n")}\n`,
    );
    const args = ["statuses", "import", path, "--format", "csv", "--json", "--actor", "olga"];
    return runOperator({ ...instance.env, ...env }, ...args);
  };
  const fuelOf = async (n: number) =>
    (await client.get(`/stations/${placeOf(n).id}`)).body.station.fuel;
  const untilSeeded = (n: number) =>
    until(
      () => fuelOf(n),
      (fuel) => fuel.seeded,
    );

  it("shows them as seeded, as old as their source says, with no confirmations, and in the delta", async () => {
    const since = (await client.get(`/stations/${placeOf(0).id}`)).body.as_of as string;
    const updated = ago(3);
    const done = await importLines([`${placeOf(0).id},low,95,"92,дизель",${updated}`]);
    expect(done.json).to.include({ read: 1, added: 1, behind_marks: 0, dry_run: false });
    const fuel = await untilSeeded(0);
    expect(fuel).to.deep.include({
      status: "low",
      fuels_now: "95",
      fuels_no: "92,ДТ",
      seeded: true,
      updated,
      confirmations: 0,
      real_count: 0,
      resolution_reason: "no_data",
    });
    const delta = await client.get(`/stations/delta?updated_since=${encodeURIComponent(since)}`);
    const listed = delta.body.stations as { id: string; fuel: object }[];
    expect(listed.find((one) => one.id === placeOf(0).id)?.fuel).to.deep.equal(fuel);
    const area = await client.get("/stations?bbox=54.9,36.9,55.2,37.1&status=low&fuel=95");
    expect(area.body.stations.map((one: { id: string }) => one.id)).to.include(placeOf(0).id);
    const [entry] = await rows<{ actor: string; subject: string; details: object }>(
      country.db,
      "select actor, subject, details from operator_log where action = 'statuses.import'",
    );
    expect(entry).to.include({ actor: "olga", subject: "statuses of csv" });
    expect(entry!.details).to.include({ read: 1, added: 1 });
  });

  it("lets them expire 24 h after their source's time", async () => {
    const updated = second(Date.now() - 24 * hourMs) + 12_000;
    await importLines([`${placeOf(3).id},yes,95,,${formatTime(updated)}`]);
    expect(await untilSeeded(3)).to.include({ status: "yes" });
    const gone = await until(
      () => fuelOf(3),
      (fuel) => !fuel.seeded,
    );
    expect(gone).to.include({ status: "nodata", fuels_now: "" });
    expect(Date.now()).to.be.at.least(updated + 24 * hourMs);
  });

  it("does not need Redis: the workers find the stations by themselves", async () => {
    const done = await importLines([`${placeOf(4).id},queue,,,${ago(1)}`], {
      REDIS_URL: "redis://127.0.0.1:9",
    });
    expect([done.code, done.json.added]).to.deep.equal([0, 1]);
    expect(await untilSeeded(4)).to.include({ status: "queue" });
  });

  it("refuses a wrong file whole, with one sentence", async () => {
    const wrong = await importLines([`${placeOf(5).id},yes,,,${ago(1)}`, `${placeOf(6).id},y`]);
    expect(wrong.code).to.equal(2);
    expect(wrong.json.error).to.match(/nothing was changed/i);
    const french = await runOperator(
      instance.env,
      ...[
        "statuses",
        "import",
        join(folder.path, "statuses.csv"),
        "--format",
        "fr-ruptures",
        "--json",
      ],
    );
    expect(french.json.error).to.match(/--stations/);
    const ids = [placeOf(5).id, placeOf(6).id];
    expect(await country.db("seeds").whereIn("station_id", ids)).to.deep.equal([]);
  });
});
