import { readdirSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { rows } from "#src/infrastructure/db.ts";
import type { ConsoleImport, ConsoleSource } from "#src/contract/console-imports.ts";
import { startRun } from "#src/import/runs.ts";
import { runOperator } from "#test/harness/operator.ts";
import { until } from "#test/flow/client.ts";
import { type ConsoleClient, createConsoleClient, useAccount } from "#test/flow/console-client.ts";
import { useEdgeOn } from "#test/api/edge.ts";
import { fixtures } from "#test/import/source-fixtures.ts";
import { useStage } from "#test/flow/stage.ts";

const stationsFile = (count: number): string =>
  JSON.stringify({
    elements: Array.from({ length: count }, (_, n) => ({
      type: "node",
      id: 500 + n,
      lat: 60 + n * 0.01,
      lon: 30,
      tags: { amenity: "fuel", brand: "Полюс", name: `АЗС ${n}` },
    })),
  });

describe("flow: files imported in the console", function () {
  const settings = { SIGN_INS_PER_MINUTE: "1000", LOG_LEVEL: "silent" };
  const { instance, country } = useStage(1, [], settings);
  const edge = useEdgeOn(instance);
  const olga = useAccount(country, () => edge.origin);
  const vera = useAccount(country, () => edge.origin, "vera", "viewer");

  const upload = async (
    client: ConsoleClient,
    query: Record<string, string>,
    body: string | Uint8Array<ArrayBuffer>,
    headers: Record<string, string> = {},
  ) => {
    const asked = new URLSearchParams({ kind: "stations", file: "country.json", ...query });
    const response = await fetch(`${edge.origin}/console/api/imports?${asked.toString()}`, {
      method: "POST",
      headers: {
        Cookie: client.cookie,
        "Content-Type": "application/octet-stream",
        "Sec-Fetch-Site": "same-origin",
        ...headers,
      },
      body,
    });
    const answer = (await response.json()) as { id?: number; type?: string };
    return { status: response.status, ...answer };
  };
  const imports = async (): Promise<ConsoleImport[]> =>
    (await olga.call("GET", "/imports")).body.imports as ConsoleImport[];
  const ended = async (id: number | undefined): Promise<ConsoleImport> => {
    const all = await until(imports, (list) =>
      list.some((one) => one.id === id && one.state !== "running"),
    );
    return all.find((one) => one.id === id)!;
  };
  const countStations = async (): Promise<number> =>
    (await rows<{ n: number }>(country.db, "select count(*) as n from stations"))[0]!.n;

  it("tries a file, changing nothing, then imports it and writes that down", async () => {
    const before = await countStations();
    const tried = await upload(olga, { dry_run: "true" }, stationsFile(30));
    expect(tried.status).to.equal(202);
    const trial = await ended(tried.id);
    expect(trial).to.include({ state: "done", dry_run: true, actor: "olga", file: "country.json" });
    expect(trial.summary).to.include({ read: 30, added: 30, dry_run: true });
    expect(await countStations()).to.equal(before);

    const real = await upload(olga, { dry_run: "false" }, stationsFile(30));
    expect((await ended(real.id)).summary).to.include({ added: 30, dry_run: false });
    expect(await countStations()).to.equal(before + 30);
    const { entries } = (await olga.call("GET", "/log?action=import")).body;
    expect(entries).to.have.length(1);
    expect(entries[0]).to.include({ actor: "olga", action: "stations.import" });
    expect(entries[0].details).to.include({ file: "country.json", added: 30 });
  });

  it("keeps what imports of statuses and cities leave out too", async () => {
    const statuses = `station_id,status,fuels_now,fuels_no,updated\nn1,full,,,2026-11-21 10:00:00\nn2,no,,,2026-11-21 10:00:00\n`;
    const query = { kind: "statuses", file: "statuses.csv", dry_run: "false" };
    const run = await ended((await upload(olga, query, statuses)).id);
    expect(run.has_refused_rows).to.equal(true);
    const { rows: left } = (await vera.call("GET", `/imports/${run.id}/refused`)).body;
    expect(left).to.deep.equal([
      { place: "line 2", id: "n1", field: "status", value: "full", reason: "bad-status" },
      {
        ...{ place: "line 3", id: "n2", reason: "too-old" },
        ...{ field: "updated", value: "2026-11-21 10:00:00" },
      },
    ]);
    const city = (lat: string) =>
      ["1", "Town", "Town", "", lat, "37.5", "P", "PPL", "RU", "", "", "", "", "", "9000", "", "9"]
        .concat(["Europe/Moscow", "2026-01-01"])
        .join("\t");
    const cities = { kind: "cities", file: "cities.tsv", dry_run: "true" };
    const tried = await ended((await upload(olga, cities, `${city("55.5")}\n${city("999")}\n`)).id);
    expect(tried.has_refused_rows).to.equal(true);
  });

  it("takes the files of a register at once, and shows each row that it leaves out (decisions 14.9)", async () => {
    const { files } = fixtures["it-mimit"]!;
    const parts = Object.values(files).map((text) => Buffer.from(text));
    const query = {
      ...{ source: "it-mimit", file: Object.keys(files).join(", "), dry_run: "false" },
      sizes: parts.map(({ length }) => length).join(","),
    };
    const { sources } = (await olga.call("GET", "/imports")).body as { sources: ConsoleSource[] };
    expect(sources.find(({ name }) => name === "it-mimit")?.files).to.deep.equal([
      "stations",
      "prices",
    ]);
    const run = await ended((await upload(olga, query, Buffer.concat(parts))).id);
    expect(run.summary).to.deep.include({ source: "it-mimit", added: 3, refused: 2 });
    expect(run.summary!["reasons"]).to.deep.equal({ "no-position": 1, "lpg-only": 1 });
    expect(run.has_refused_rows).to.equal(true);
    const { rows: left } = (await vera.call("GET", `/imports/${run.id}/refused`)).body;
    expect(left).to.deep.equal([
      { place: "line 7", id: "11", field: "lat, lon", value: "", reason: "no-position" },
      { place: "line 5", id: "9", field: "", value: "", reason: "lpg-only" },
    ]);
    const csv = await fetch(`${edge.origin}/console/api/imports/${run.id}/refused.csv`, {
      headers: { Cookie: vera.cookie },
    });
    expect(csv.headers.get("content-type")).to.contain("text/csv");
    expect(await csv.text()).to.equal(
      'place,id,field,value,reason\nline 7,11,"lat, lon",,no-position\nline 5,9,,,lpg-only\n',
    );
    const sold = await rows(
      country.db,
      "select id, grades_sold, brand from stations where source = 'it-mimit' order by id",
    );
    expect(sold).to.deep.equal([
      { id: "it-mimit-10", grades_sold: "", brand: "Eni" },
      { id: "it-mimit-7", grades_sold: "95,ДТ", brand: "Q8" },
      { id: "it-mimit-8", grades_sold: "ДТ", brand: "" },
    ]);
    const odd = [parts[0]!, Buffer.from(`${parts[1]!.toString()}\n99|Benzina|n/a|1|01/08/2026\n`)];
    const sizes = odd.map(({ length }) => length).join(",");
    const unclear = await ended(
      (await upload(olga, { ...query, sizes, dry_run: "true" }, Buffer.concat(odd))).id,
    );
    expect(unclear.summary!["noted"]).to.deep.equal({ "unclear-price": 1, "unknown-station": 1 });
    expect(unclear.summary!["second_file"]).to.match(
      /^prices: \d+ of \d+ rows are about a station/,
    );
    // One file too few, or another length, is said.
    const wrong = { ...query, sizes: "10,20" };
    expect((await upload(olga, wrong, Buffer.concat(parts))).status).to.equal(422);
    const half = await upload(
      olga,
      { source: "it-mimit", file: "prices.csv", dry_run: "true" },
      parts[1]!,
    );
    const refused = await ended(half.id);
    expect(refused.fault).to.contain('the file "stations" of the source it-mimit is not there');
  });

  it("keeps no file", async () => {
    // Of its own: other processes of the machine import as well.
    const usual = process.env["TMPDIR"];
    const folder = await mkdtemp(join(tmpdir(), "fuelmark-"));
    process.env["TMPDIR"] = folder;
    try {
      const { id } = await upload(olga, { dry_run: "true" }, stationsFile(3));
      await ended(id);
      await until(
        async () => readdirSync(folder),
        (names) => names.length === 0,
      );
    } finally {
      if (usual === undefined) delete process.env["TMPDIR"];
      else process.env["TMPDIR"] = usual;
      await rm(folder, { recursive: true });
    }
  });

  it("imports statuses, which the stations then show", async () => {
    const time = new Date(Date.now() - 60_000).toISOString().slice(0, 19).replace("T", " ");
    const lines = `station_id,status,fuels_now,fuels_no,updated\nn1000,low,95,,${time}\n`;
    const query = { kind: "statuses", file: "s.csv", dry_run: "false" };
    const { summary } = await ended((await upload(olga, query, lines)).id);
    expect(summary).to.include({ read: 1, added: 1 });
    const [refold] = await rows<{ refold: boolean }>(
      country.db,
      "select refold from station_status where station_id = 'n1000'",
    );
    expect(refold).to.deep.equal({ refold: true });
  });

  it("says why a file cannot be taken, by the name that the operator knows", async () => {
    const wrong = await upload(olga, { dry_run: "true", file: "notes.txt" }, "no stations in here");
    const run = await ended(wrong.id);
    expect(run.state).to.equal("refused");
    expect(run.fault).to.not.include("fuelmark-import");
  });

  it("says it in the words of the command line, and refuses too many removals unless they are allowed (decisions 13.22)", async () => {
    const whole = await upload(olga, { dry_run: "false", source: "north" }, stationsFile(150));
    expect((await ended(whole.id)).summary).to.include({ read: 150 });
    const folder = await mkdtemp(join(tmpdir(), "fuelmark-"));
    const path = join(folder, "north.json");
    await writeFile(path, stationsFile(30));
    const options = ["--source", "north", "--replace-source", "--json"];
    const typed = await runOperator(instance.env, "stations", "import", path, ...options);
    expect(typed.code).to.equal(2);
    await rm(folder, { recursive: true });
    const query = { source: "north", replace_source: "true", file: "north.json" };
    const refused = await upload(olga, { ...query, dry_run: "false" }, stationsFile(30));
    const sent = await ended(refused.id);
    expect(sent.state).to.equal("refused");
    expect(sent.fault).to.include("120 of the 150 stations of source");
    expect(sent.fault).to.equal(typed.json.error.replace(path, "north.json"));
    const allowed = { ...query, allow_removals: "120" };
    const done = await upload(olga, { ...allowed, dry_run: "true" }, stationsFile(30));
    expect((await ended(done.id)).summary).to.include({ removed: 120 });
  });

  it("takes files of operators alone, from its own page, of at most 50 MB", async () => {
    const file = stationsFile(1);
    const asked = { dry_run: "false" };
    const before = (await imports()).length;
    expect((await upload(createConsoleClient(edge.origin), asked, file)).status).to.equal(401);
    expect((await upload(vera, asked, file)).status).to.equal(403);
    const foreign = await upload(olga, asked, file, { "Sec-Fetch-Site": "cross-site" });
    expect([foreign.status, foreign.type?.split("/").at(-1)]).to.deep.equal([
      403,
      "cross-site-request",
    ]);
    const typed = await upload(olga, asked, file, { "Content-Type": "text/plain" });
    expect(typed.status).to.equal(415);
    expect((await upload(olga, { ...asked, kind: "people" }, file)).status).to.equal(422);
    expect((await upload(olga, { ...asked, force: "half, al-no" }, file)).status).to.equal(422);
    const large = new Uint8Array(50 * 1024 * 1024 + 1);
    expect((await upload(olga, asked, large)).status).to.equal(413);
    expect(await imports()).to.have.length(before);
  });

  it("shows an import whose process has died as interrupted", async () => {
    const row = { kind: "cities", file: "c.csv", source: null, replace_source: false } as const;
    const id = await startRun(country.db, { ...row, dry_run: false, actor: "olga" });
    expect((await imports())[0]).to.include({ id, state: "running" });
    const sql = "update imports set seen_at = seen_at - interval '1 minute' where id = ?";
    await rows(country.db, sql, [id]);
    expect((await imports())[0]).to.include({ id, state: "interrupted" });
  });
});
