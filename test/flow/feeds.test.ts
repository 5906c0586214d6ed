import { writeFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { expect } from "chai";
import type { ConsoleFeed, ConsoleImport } from "#src/contract/console-imports.ts";
import { beginRun, wakeDueFeeds } from "#src/import/feeds/feed-runs.ts";
import { rows } from "#src/infrastructure/db.ts";
import { createLog } from "#src/infrastructure/log.ts";
import { createProducer, type Producer } from "#src/infrastructure/queues.ts";
import { until } from "#test/flow/client.ts";
import { useAccount } from "#test/flow/console-client.ts";
import { useStage } from "#test/flow/stage.ts";
import { file, type SourceServer, startSourceServer } from "#test/harness/source-server.ts";
import { runOperator } from "#test/harness/operator.ts";
import { useFolder } from "#test/harness/use.ts";

/** The Italian register: `count` stations from number `from` on, 1 km apart. */
const register = (count: number, from = 0): string =>
  [
    "Estrazione del 2026-11-26",
    "idImpianto|Gestore|Bandiera|Tipo Impianto|Nome Impianto|Indirizzo|Comune|Provincia|Latitudine|Longitudine",
    ...Array.from({ length: count }, (_, i) => {
      const n = from + i;
      const [lat, lon] = [45 + Math.floor(n / 20) * 0.01, 9 + (n % 20) * 0.013];
      return `${n + 1}|ROSSI|Agip Eni|Stradale|STAZIONE ${n + 1}|VIA ROMA ${n + 1}|MILANO|MI|${lat.toFixed(6)}|${lon.toFixed(6)}`;
    }),
    "",
  ].join("\n");

const prices = (count: number): string =>
  [
    "Estrazione del 2026-11-26",
    "idImpianto|descCarburante|prezzo|isSelf|dtComu",
    ...Array.from({ length: count }, (_, n) => `${n + 1}|Gasolio|1.659|1|25/11/2026 08:00:00`),
    "",
  ].join("\n");

/** The French files: stations with two fuels each, of which `out` have none now, since `minutes`. */
const frenchStations = (count: number): string =>
  [
    "id,latitude,longitude,adresse,ville",
    ...Array.from({ length: count }, (_, n) => {
      const [lat, lon] = [48 + Math.floor(n / 20) * 0.01, 2 + (n % 20) * 0.013];
      return `${75_000_001 + n},${lat},${lon.toFixed(3)},1 rue ${n},Paris`;
    }),
    "",
  ].join("\n");
const frenchPrices = (count: number): string =>
  [
    "nom,valeur,station_id",
    ...Array.from({ length: count * 2 }, (_, n) => {
      return `${n % 2 === 0 ? "Gazole" : "SP95"},1.7,${75_000_001 + Math.floor(n / 2)}`;
    }),
    "",
  ].join("\n");
const everyFuel = ["SP95", "E10", "SP98", "Gazole"];
const stockOuts = (count: number, out: readonly string[], minutes: number): string => {
  const paris = { timeZone: "Europe/Paris" };
  const since = new Date(Date.now() - minutes * 60_000).toLocaleString("sv-SE", paris);
  return [
    "id,nom,debut,fin,station_id",
    ...Array.from({ length: count }, (_, n) =>
      out.map((fuel) => `1,${fuel},${since},,${75_000_001 + n}`),
    ).flat(),
    "",
  ].join("\n");
};

describe("flow: feeds", function () {
  this.timeout(180_000);
  let server: SourceServer;
  const folder = useFolder();
  before(async () => {
    server = await startSourceServer();
  });
  const roles = ["web", "marks", "upkeep", "clock", "imports", "imports"];
  const { instance, country, client, operator, web } = useStage(1, roles, () => ({
    ...{ FEED_HTTP: "true", FEED_NETWORKS: "127.0.0.1", FEEDS_FOLDER: folder.path },
    ...{ SIGN_INS_PER_MINUTE: "1000" },
  }));
  const olga = useAccount(country, () => web.baseUrl);
  let producer: Producer;
  before(async () => {
    producer = createProducer(instance.config, createLog({ logLevel: "silent" }, "test"));
    await new Promise<void>((ready) => producer.onReady(ready));
  });
  after(async () => {
    await producer?.close();
    await server?.close();
  });
  beforeEach(() => {
    server.asked.splice(0);
  });

  const feeds = async (): Promise<ConsoleFeed[]> =>
    (await olga.call("GET", "/feeds")).body.feeds as ConsoleFeed[];
  /** Its runs after run `last`, the newest first; of all of them the newest 20 are shown. */
  const runsOf = async (id: number, last = 0): Promise<ConsoleImport[]> =>
    ((await operator("feed", "show", String(id))).json.runs as ConsoleImport[]).filter(
      (one) => one.id > last,
    );
  const lastOf = async (id: number): Promise<number> => (await runsOf(id))[0]?.id ?? 0;
  /**
   * Its runs after run `last` when there are `count` and the newest has ended. Looks for due ones as the duty of `upkeep`
   * does each 5 s.
   */
  const ended = (
    id: number,
    count: number,
    last = 0,
    look: () => Promise<unknown> = () => wakeDueFeeds(country.db, producer),
  ): Promise<ConsoleImport[]> =>
    until(
      async () => {
        await look();
        return runsOf(id, last);
      },
      (runs) => runs.length >= count && runs[0]!.state !== "running",
    );
  const add = async (source: string, ...options: string[]): Promise<number> => {
    const made = await operator("feed", "add", "--source", source, "--every", "1h", ...options);
    expect(made.code, made.err).to.equal(0);
    return made.json.id as number;
  };
  const makeDue = async (id: number): Promise<void> => {
    await rows(country.db, "update feeds set due_at = now() where id = ?", [id]);
    await wakeDueFeeds(country.db, producer);
  };
  /** Makes it due, as its period does, and waits for the end of the run. */
  const again = async (id: number): Promise<ConsoleImport> => {
    const last = await lastOf(id);
    await makeDue(id);
    return (await ended(id, 1, last))[0]!;
  };
  const run = async (id: number, ...options: string[]): Promise<ConsoleImport> => {
    const last = await lastOf(id);
    await operator("feed", "run", String(id), ...options);
    return (await ended(id, 1, last))[0]!;
  };
  const served = async (source: string): Promise<number> => {
    const sql = "select count(*) as n from stations where source = ? and removed_at is null";
    return (await rows<{ n: number }>(country.db, sql, [source]))[0]!.n;
  };
  const alarmsOf = async (id: number): Promise<string[]> => {
    const { json } = await operator("alarm", "list", "--all");
    const of = `feed ${id} (`;
    return (json as { kind: string; subject: string }[])
      .filter(({ subject }) => subject.startsWith(of))
      .map(({ kind }) => kind);
  };
  const urls = (...names: string[]): string[] =>
    names.flatMap((name) => ["--url", `${server.origin}/${name}`]);
  const status = (code: number) => (response: ServerResponse) =>
    void response.writeHead(code).end("not now");

  describe("of a register in two files", () => {
    let id: number;
    before(async () => {
      server.answers.set("/r", file(register(150), { ETag: '"1"' }));
      server.answers.set("/p", file(prices(150), { ETag: '"1"' }));
      id = await add("it-mimit", ...urls("r", "p"), "--replace-source", "true");
    });

    it("bring stations into the API, with nobody doing anything", async () => {
      const [first] = await ended(id, 1, 0, async () => {});
      expect(first).to.include({
        ...{ state: "done", kind: "feed", fault: null, actor: `feed ${id}`, file: "r, p" },
      });
      expect(first!.summary!["stations"]).to.include({ read: 150, added: 150, refused: 0 });
      const answer = await until(
        () => client.get("/stations/it-mimit-1"),
        (one) => one.status === 200,
      );
      expect(answer.body.station).to.include({ lat: 45, lon: 9 });
      const { json } = await operator("log", "list", "--action", "feed");
      expect((json as { action: string }[]).map(({ action }) => action)).to.deep.equal([
        ...["feed.import", "feed.add"],
      ]);
      expect((await feeds()).find((feed) => feed.id === id)).to.include({
        ...{
          source: "it-mimit",
          state: "done",
          left_out: 0,
          failures: 0,
          silent: false,
          paused: false,
        },
      });
      const listed = (await olga.call("GET", "/imports")).body.imports as ConsoleImport[];
      expect(listed[0]).to.include({ kind: "feed", state: "done" });
    });

    it("are asked for by their ETag, and unchanged ones are not imported", async () => {
      const before = (await feeds()).find((feed) => feed.id === id)!.news;
      expect(await again(id)).to.include({ state: "unchanged", summary: null, fault: null });
      expect(server.asked.map(({ headers }) => headers["if-none-match"])).to.deep.equal([
        ...['"1"', '"1"'],
      ]);
      expect((await feeds()).find((feed) => feed.id === id)).to.include({ news: before });
    });

    it("are fetched together when one has changed, and not imported when all bytes are the same", async () => {
      server.answers.set("/r", file(register(151), { ETag: '"2"' }));
      const done = await again(id);
      expect(server.asked.map(({ path }) => path)).to.deep.equal(["/r", "/p", "/p"]);
      expect(done.summary!["stations"]).to.include({ added: 1, unchanged: 150 });
      server.answers.set("/r", file(register(151), { ETag: '"3"' }));
      server.answers.set("/p", file(prices(150)));
      expect(await again(id)).to.include({ state: "unchanged" });
    });

    it("are imported at an operator's word even if nothing is new", async () => {
      const done = await run(id);
      expect(done.state).to.equal("done");
      expect(done.summary!["stations"]).to.include({ added: 0, changed: 0, unchanged: 151 });
    });

    it("change nothing while they shrink, until an operator confirms it once", async () => {
      server.answers.set("/r", file(register(30)));
      const refused = await again(id);
      expect(refused.state, JSON.stringify(refused)).to.equal("refused");
      expect(refused.fault).to.include(`${server.origin}/r`).and.not.include("fuelmark-feed");
      expect(refused.fault).to.include("--force removals");
      expect(await served("it-mimit")).to.equal(151);
      expect(await alarmsOf(id)).to.deep.equal(["feed-refused"]);
      const forced = await run(id, "--force", "removals");
      expect(forced.state, String(forced.fault)).to.equal("done");
      expect(await served("it-mimit")).to.equal(30);
    });

    it("change nothing when latitude and longitude are swapped", async () => {
      const [head, names, ...lines] = register(30).split("\n");
      const swapped = lines.map((line) => line.replace(/([\d.]+)\|([\d.]+)$/, "$2|$1"));
      server.answers.set("/r", file([head, names, ...swapped].join("\n")));
      const refused = await again(id);
      expect(refused.state).to.equal("refused");
      expect(refused.fault).to.include("swapped").and.include("--force swapped");
      expect((await client.get("/stations/it-mimit-1")).body.station).to.include({ lat: 45 });
    });

    it("change nothing when they are another file, are gone, or break off, and three times raise an alarm", async () => {
      const broken = (response: ServerResponse): void => {
        response.writeHead(200, { "Content-Length": "100000" });
        response.write(register(20), () => response.destroy());
      };
      const answers = [file("<html><h1>Maintenance</h1></html>"), status(503), broken];
      const states: string[] = [];
      for (const answer of answers) {
        server.answers.set("/r", answer);
        states.push((await again(id)).state);
      }
      expect(states).to.deep.equal(["refused", "failed", "failed"]);
      expect(await served("it-mimit")).to.equal(30);
      expect(await alarmsOf(id)).to.have.members(["feed-refused", "feed-failing"]);
      server.answers.set("/r", file(register(31)));
      expect(await again(id)).to.include({ state: "done" });
      expect((await feeds()).find((feed) => feed.id === id)).to.include({ failures: 0 });
    });

    it("are not fetched from a private address, also where they are redirected to one", async () => {
      server.answers.set("/r", (response) => {
        response.writeHead(302, { Location: "http://127.0.0.2:1/r" }).end();
      });
      const refused = await again(id);
      expect(refused).to.include({ state: "failed" });
      expect(refused.fault).to.include("private network");
    });

    it("are not run while another run is under way, whoever asks, and once for each time", async () => {
      let answer: (() => void) | null = null;
      server.answers.set("/r", (response, request) => {
        answer = () => file(register(32))(response, request);
      });
      const past = await lastOf(id);
      await operator("feed", "run", String(id));
      await wakeDueFeeds(country.db, producer);
      await until(async () => answer, Boolean);
      // Due again, and looked for by the duty and two workers.
      await rows(country.db, "update feeds set due_at = now() where id = ?", [id]);
      expect(await beginRun(country.db, id)).to.equal(null);
      expect(await runsOf(id, past)).to.have.length(1);
      server.answers.set("/r", file(register(32)));
      answer!();
      const [last, before] = await ended(id, 2, past);
      expect([before!.state, last!.state]).to.deep.equal(["done", "unchanged"]);
      expect(await runsOf(id, past)).to.have.length(2);
    });

    it("are imported when an operator asks for it while a run is under way", async () => {
      let answer: (() => void) | null = null;
      server.answers.set("/r", (response, request) => {
        answer = () => file(register(32))(response, request);
      });
      const past = await lastOf(id);
      await makeDue(id);
      await until(async () => answer, Boolean);
      await operator("feed", "run", String(id), "--force", "half");
      server.answers.set("/r", file(register(32)));
      answer!();
      const [last, before] = await ended(id, 2, past);
      expect([before!.state, last!.state]).to.deep.equal(["unchanged", "done"]);
    });

    it("are found interrupted when their process has died, and are run again as usual", async () => {
      const past = await lastOf(id);
      await rows(country.db, "update feeds set paused_at = now() where id = ?", [id]);
      // As a process that dies leaves it: begun, and silent since.
      await rows(
        country.db,
        `with died as (insert into imports (kind, file, source, replace_source, dry_run, actor, feed_id, seen_at)
           values ('feed', 'r', 'it-mimit', true, false, 'feed', ?, now() - interval '1 minute') returning id)
         update feeds set run_id = (select id from died) where id = ?`,
        [id, id],
      );
      expect((await feeds()).find((feed) => feed.id === id)).to.include({ state: "interrupted" });
      await operator("feed", "resume", String(id));
      const runs = await ended(id, 2, past);
      expect(runs.map(({ state }) => state)).to.deep.equal([...["unchanged", "interrupted"]]);
    });

    it("rest while they are paused, and are forgotten without what they have imported", async () => {
      expect((await operator("feed", "pause", String(id))).code).to.equal(0);
      await rows(country.db, "update feeds set due_at = now() where id = ?", [id]);
      expect(await beginRun(country.db, id)).to.equal(null);
      expect((await operator("feed", "run", String(id))).json.error).to.include("is paused");
      const { status: resumed } = await olga.call("POST", `/feeds/${id}/resume`);
      expect(resumed).to.equal(200);
      expect((await again(id)).state).to.equal("unchanged");
      expect((await olga.call("DELETE", `/feeds/${id}`)).status).to.equal(204);
      expect(await served("it-mimit")).to.equal(32);
      expect((await operator("feed", "show", String(id))).code).to.equal(1);
    });
  });

  describe("with statuses", () => {
    const fuelOf = async (n: number) =>
      (await client.get(`/stations/fr-${75_000_001 + n}`)).body.station?.fuel as
        | { status: string; seeded: boolean }
        | undefined;
    let id: number;
    before(async () => {
      server.answers.set("/s", file(frenchStations(40)));
      server.answers.set("/p", file(frenchPrices(40)));
      server.answers.set("/f", file(stockOuts(40, ["SP95"], 60)));
      id = await add("fr-prix-carburants-csv", ...urls("s", "p", "f"));
    });

    it("serve them as imported ones, never over a live one of people", async () => {
      const [first] = await ended(id, 1);
      expect(first, String(first!.fault)).to.include({ state: "done" });
      const shown = await until(
        () => fuelOf(0),
        (fuel) => fuel?.status === "low",
      );
      expect(shown).to.include({ seeded: true });
      const place = { id: "fr-75000002", lat: 48, lon: 2.013 };
      const marked = await client.mark(place, "driver", { status: "yes", fuels_now: ["95"] });
      expect(marked.status).to.equal(200);
    });

    it("do not believe that nobody has fuel from one run to the next, until an operator confirms it", async () => {
      server.answers.set("/f", file(stockOuts(40, everyFuel, 30)));
      server.answers.set("/s", file(frenchStations(45)));
      const before = await served("fr");
      const refused = await again(id);
      expect(refused.state, JSON.stringify(refused)).to.equal("refused");
      expect(refused.fault)
        .to.include('40 of its 40 statuses are "no"')
        .and.include("--force all-no");
      expect(await fuelOf(0)).to.include({ status: "low" });
      expect(await served("fr")).to.equal(before);
      expect(await alarmsOf(id)).to.deep.equal(["feed-refused"]);
      const forced = await run(id, "--force", "all-no");
      expect(forced.state, String(forced.fault)).to.equal("done");
      await until(
        () => fuelOf(0),
        (fuel) => fuel?.status === "no",
      );
      // The usual from now on.
      server.answers.set("/f", file(stockOuts(40, everyFuel, 10)));
      expect((await again(id)).state).to.equal("done");
    });

    it("tell an operator when they have brought nothing new for too long", async () => {
      await rows(country.db, "update feeds set news_at = now() - interval '9 days' where id = ?", [
        id,
      ]);
      await until(
        () => alarmsOf(id),
        (kinds) => kinds.includes("feed-silent"),
      );
      expect((await feeds()).find((feed) => feed.id === id)).to.include({ silent: true });
      const metrics = () => fetch(`${web.baseUrl}/metrics`).then((answer) => answer.text());
      const line = `fuelmark_feed_failures{feed="${id} fr-prix-carburants-csv"} 0`;
      await until(metrics, (text) => text.includes(line));
    });
  });

  describe("of a folder, and wrong ones", () => {
    it("take the newest files of a folder", async () => {
      await writeFile(join(folder.path, "anagrafica_1.csv"), register(33));
      await writeFile(join(folder.path, "prezzo_1.csv"), prices(33));
      const paths = ["--folder", "anagrafica_*.csv", "--folder", "prezzo_*.csv"];
      const id = await add("it-mimit", ...paths);
      const [first] = await ended(id, 1);
      expect(first, String(first!.fault)).to.include({ state: "done" });
      expect(await again(id)).to.include({ state: "unchanged" });
      expect(await served("it-mimit")).to.equal(33);
    });

    it("may have a description of the operator's own", async () => {
      const own = join(folder.path, "mine.json");
      const description = {
        ...{ name: "mine", title: "My stations", files: [{ name: "s", read: { format: "csv" } }] },
        fields: { id: "id", lat: "lat", lon: "lon", name: "name" },
      };
      await writeFile(own, JSON.stringify(description));
      server.answers.set("/own", file("id,lat,lon,name\n1,45.1,9.1,Mine\n"));
      const id = await add(own, ...urls("own"));
      const [first] = await ended(id, 1);
      expect(first, String(first!.fault)).to.include({ state: "done", source: "mine" });
      expect(await served("mine")).to.equal(1);
      await writeFile(own, JSON.stringify({ ...description, fields: { id: "id" } }));
      const wrong = await operator("feed", "add", "--source", own, "--every", "1h", ...urls("own"));
      expect([wrong.code, wrong.json.error]).to.satisfy(
        ([code, error]: [number, string]) => code === 2 && error.includes("lat"),
      );
    });

    it("tell nobody the key in an address", async () => {
      const id = await add("de-tankerkoenig", ...urls("keyed?apikey=SECRET"));
      const [failed] = await ended(id, 1);
      expect(failed!.fault).to.equal(`${server.origin}/keyed answered 404`);
      for (let runs = 2; runs <= 3; runs += 1) await again(id);
      const { json } = await operator("alarm", "list", "--all");
      expect(JSON.stringify(json)).to.include(`feed ${id} (`).and.not.include("SECRET");
      const seen = await Promise.all([olga.call("GET", "/feeds"), olga.call("GET", "/log")]);
      expect(JSON.stringify(seen)).to.include("/keyed").and.not.include("SECRET");
    });

    it("are refused with a sentence when they cannot be", async () => {
      for (const [options, words] of [
        [["--source", "nowhere"], "there is no such source"],
        [["--source", "it-mimit", "--every", "soon"], "--every"],
        [["--source", "it-mimit", "--url", "ftp://example.org/a"], "https://"],
        [["--source", "it-mimit", "--url", "https://me:x@example.org/a"], "user"],
        [["--source", "it-mimit", "--url", "example.org/a.csv"], "https://"],
        [["--source", "it-mimit", "--folder", "https://example.org/a.csv"], "FEEDS_FOLDER"],
        [["--source", "it-mimit", "--folder", "*a*a*.csv"], "twice"],
        [["--source", "it-mimit", "--folder", "../a.csv"], "FEEDS_FOLDER"],
        [["--source", "it-mimit", "--folder", "/etc/passwd"], "FEEDS_FOLDER"],
        [["--source", "it-mimit", "--folder", "a", "--url", "https://example.org"], "either"],
        [["--source", "osm-geojson"], "names no address"],
      ] as const) {
        const every = (options as readonly string[]).includes("--every") ? [] : ["--every", "1h"];
        const { code, json } = await operator("feed", "add", ...options, ...every);
        expect(code, options.join(" ")).to.equal(2);
        expect(json.error, options.join(" ")).to.include(words);
      }
      const env = instance.env;
      const unknown = await runOperator(env, "feed", "run", "999999");
      expect([unknown.code, unknown.err]).to.deep.equal([
        1,
        "there is no feed 999999: `operator feed list` shows the existing ones\n",
      ]);
    });
  });
});
