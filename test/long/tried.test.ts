import { execFile } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, request, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { somePort } from "#demo/servers/port.ts";
import { placeOf } from "#test/flow/country.ts";
import { useStage } from "#test/flow/stage.ts";
import { programs, packages } from "#test/long/tried-programs.ts";

const run = promisify(execFile);

/** What a tool did; the columns of the table in the guide. */
interface Row {
  tool: string;
  gets304: string;
  gzip: string;
  geojson: string;
  csv: string;
  ndjson: string;
  stream: string;
}

/** A request as a tool sent it through the tap, and what it got. */
interface Seen {
  url: string;
  method: string;
  sent: IncomingHttpHeaders;
  status: number;
  coding: string;
}

const guides = ["docs/partners.md", "docs/partners.ru.md"];
const writes = process.env["WRITE_DOCS"] === "1";
const today = new Date().toISOString().slice(0, 10);

/**
 * The tools of the table "Tried with" of the partner guide, against a service: each must do what its line says.
 * `WRITE_DOCS=1` writes the lines. Tools that are absent are skipped with a word: Debian has curl, wget,
 * python3-requests, gdal-bin, libreoffice-calc-nogui and nginx-light; the others come from the npm registry.
 * BASE and KEY name another service than the test's own.
 */
describe("long: tried with", function () {
  this.timeout(900_000);
  const stage = useStage(12, ["web", "marks"]);
  const seen: Seen[] = [];
  let folder: string;
  let tap: Server;
  /** The address of the API behind the tap. */
  let api: string;
  let key: string;
  let installed: Promise<boolean> | undefined;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "fuelmark-tried-"));
    // nginx reads its cache as another user.
    chmodSync(folder, 0o755);
    const base = process.env["BASE"] ?? `${stage.web.baseUrl}/api/v1/partner`;
    key = process.env["KEY"] ?? stage.country.secret;
    // One status of each kind, so that columns have values of every kind; the others were never set.
    const marks = ["yes", "yes", "no", "low", "queue"].map((status, n) => ({
      ...{ station_id: placeOf(n).id, status, user_ref: `tried-${n}`, fuels: ["92", "95"] },
      ...{ lat: placeOf(n).lat, lon: placeOf(n).lon, fuels_no: ["ДТ"] },
    }));
    const headers = { Authorization: `Bearer ${key}`, Prefer: "wait=5" };
    if (process.env["BASE"] === undefined)
      await fetch(`${base}/reports`, {
        ...{ method: "POST", body: JSON.stringify({ reports: marks }) },
        headers: { ...headers, "Content-Type": "application/json" },
      });
    tap = createServer((req, res) => {
      const passed = request(
        new URL(base).origin + req.url,
        { method: req.method, headers: { ...req.headers, host: new URL(base).host } },
        (answer) => {
          const coding = answer.headers["content-encoding"] ?? "";
          const { method = "", url = "", headers: sent } = req;
          seen.push({ url, method, sent, status: answer.statusCode ?? 0, coding });
          res.writeHead(answer.statusCode ?? 0, answer.headers);
          answer.on("error", () => res.destroy());
          answer.pipe(res);
        },
      );
      passed.on("error", () => res.destroy());
      res.on("close", () => passed.destroy());
      req.pipe(passed);
    });
    await new Promise<void>((resolve) => void tap.listen(0, resolve));
    api = `http://localhost:${(tap.address() as AddressInfo).port}/api/v1/partner`;
    writeFileSync(join(folder, "package.json"), '{"private":true,"type":"module"}');
  });
  beforeEach(() => void seen.splice(0));
  after(async () => {
    tap.closeAllConnections();
    await new Promise((resolve) => tap.close(resolve));
    rmSync(folder, { recursive: true, force: true });
  });

  const install = (): Promise<boolean> =>
    run("npm", ["install", "--no-audit", "--no-fund", ...packages], { cwd: folder }).then(
      () => true,
      (error: Error) => {
        console.log(`      no packages from npm: ${error.message.slice(0, 200)}`);
        return false;
      },
    );
  const sh = async (command: string): Promise<string> => {
    const env = { ...process.env, API: api, KEY: key, AREA: "bbox=54.5,36.5,56.5,38.5" };
    const { stdout } = await run("bash", ["-c", command], { cwd: folder, env });
    return stdout.trim();
  };
  const features = async (get: string): Promise<string> =>
    /"type":"FeatureCollection"/.test(await sh(`${get} "$API/stations.geojson?$AREA"`)) ? "✓" : "–";
  /** The version in what a command says, or a skipped test where there is no such tool. */
  async function versionOf(context: Mocha.Context, command: string): Promise<string> {
    const said = await sh(`(${command}) 2>&1`).catch(() => null);
    const version = /\d+\.\d+(\.\d+)*/.exec(said ?? "")?.[0];
    if (version !== undefined) return version;
    console.log(`      skipped: no ${command.split(" ")[0]} here`);
    return context.skip();
  }

  /** Compares a line of both guides with what was seen; only the version and the date may differ. */
  function compare({ tool, ...cells }: Row, version: string): void {
    const line = `| ${[`${tool} ${version}, ${today}`, ...Object.values(cells)].join(" | ")} |`;
    console.log(`      ${line}`);
    const shape = (text: string): string => text.replace(/^\| (\S+) [^|]*/, "| $1 ");
    for (const guide of guides) {
      const text = readFileSync(guide, "utf8");
      const known = text.split("\n").find((one) => one.startsWith(`| ${tool} `)) ?? "";
      if (writes)
        writeFileSync(
          guide,
          text.replace(known, () => line),
        );
      else expect(shape(known), guide).to.equal(shape(line));
    }
  }
  /** The codings that the tap saw since the last question. */
  const codings = (): string => {
    const all = new Set(seen.splice(0).map(({ coding }) => coding));
    all.delete("");
    return [...all].join() || "–";
  };

  it("curl", async function () {
    const version = await versionOf(this, "curl --version");
    const get = `curl -sf --compressed -H "Authorization: Bearer $KEY"`;
    const ask = `${get} --etag-save e --etag-compare e -o all.json -w '%{http_code} ' "$API/stations/all"`;
    const gets304 = await sh(`${ask}; ${ask}`);
    const gzip = codings();
    const csv = await sh(`${get} "$API/stations.csv?$AREA" | head -1 | cut -c1-6`);
    const lines = await sh(`${get} "$API/stations.ndjson?$AREA" | wc -l`);
    const geojson = await features(get);
    const stream = await sh(
      `timeout 5 ${get} -N "$API/stations/stream?updated_since=$(date -u -d '-1 hour' +%FT%TZ)" | grep -c ^data`,
    ).catch(() => "–");
    compare(
      {
        ...{ tool: "curl", gets304: gets304 === "200 304" ? "✓" : gets304 },
        ...{ gzip: gzip === "br" ? "✓ `br`" : gzip, geojson },
        ...{ csv: csv === "id,lat" ? "✓" : csv, ndjson: Number(lines) >= 3 ? "✓" : lines },
        stream: Number(stream) > 0 ? "✓" : stream,
      },
      version,
    );
  });

  it("curl keeps the ETag of an answer that was cut, so the guide says to delete it", async function () {
    await versionOf(this, "curl --version");
    const server = createServer((_, res) => {
      res.writeHead(200, { ETag: '"a"', "Content-Length": 100 }).write("half");
      setTimeout(() => res.destroy(), 100);
    }).listen(0);
    const { port } = server.address() as AddressInfo;
    const said = await sh(`curl -sf --etag-save cut -o half localhost:${port}; echo $?; cat cut`);
    server.close();
    expect(said).to.equal('18\n"a"');
  });

  it("wget", async function () {
    const version = await versionOf(this, "wget --version");
    const get = `wget -q --header "Authorization: Bearer $KEY"`;
    await sh(`${get} --compression=auto -O all.json "$API/stations/all"`);
    const gzip = codings();
    const etag = await sh(
      `${get.replace("-q", "-S")} -O /dev/null "$API/stations/all" 2>&1 | sed -n 's/^ *etag: //Ip'`,
    );
    const status = await sh(
      `${get} --header 'If-None-Match: ${etag}' -O all.json "$API/stations/all"; echo $?; wc -c < all.json`,
    );
    seen.length = 0;
    await sh(`for i in 1 2; do ${get} -N "$API/stations/all"; done`);
    expect(seen.map(({ status }) => status)).to.deep.equal([200, 200]);
    const geojson = await features(`${get} -O -`);
    const plain = await sh(`${get} -O - "$API/stations.csv?$AREA" | head -c 6`);
    const lines = await sh(`${get} -O - "$API/stations.ndjson?$AREA" | wc -l`);
    compare(
      {
        ...{ tool: "wget", gets304: status === "8\n0" ? "`exit 8`, `-O`: 0" : status },
        ...{ gzip: gzip === "gzip" ? "✓ `gzip`" : gzip, geojson },
        ...{ csv: plain === "id,lat" ? "✓" : plain, ndjson: Number(lines) >= 3 ? "✓" : lines },
        stream: "–",
      },
      version,
    );
  });

  it("GDAL", async function () {
    const version = await versionOf(this, "ogrinfo --version");
    const ogr = `GDAL_HTTP_HEADERS="Authorization: Bearer $KEY" ogrinfo -so -al`;
    seen.length = 0;
    const flat = await sh(
      `${ogr} -oo FLATTEN_NESTED_ATTRIBUTES=YES "$API/stations.geojson?$AREA" | grep -E '^fuel_(status|updated):' | cut -d' ' -f1,2 | paste -sd' '`,
    );
    const gzip = codings();
    const csv = await sh(
      `${ogr} "CSV:/vsicurl_streaming/$API/stations.csv?$AREA" | sed -n 's/^status: \\(\\w*\\).*/\\1/p'`,
    );
    const calls = seen.splice(0).length;
    const lines = await sh(`${ogr} "$API/stations.ndjson?$AREA" | sed -n 's/^Geometry: //p'`);
    compare(
      {
        ...{ tool: "GDAL", gets304: "–", gzip: gzip === "gzip" ? "✓ `gzip`" : gzip },
        geojson: flat === "fuel_status: String fuel_updated: DateTime" ? "✓" : flat,
        csv: `\`/vsicurl_streaming/\`: ${csv === "String" && calls > 2 ? "✓" : `${csv} ${calls}`}`,
        ...{ ndjson: lines === "Unknown (any)" ? "–" : lines, stream: "–" },
      },
      version,
    );
    // A column of yes, no and other words: why the guide says to leave AUTODETECT_TYPE off.
    writeFileSync(join(folder, "words.csv"), "id,status\n1,yes\n2,no\n3,low\n");
    const typed = await sh("ogrinfo -so -al -oo AUTODETECT_TYPE=YES words.csv 2>/dev/null");
    if (version.startsWith("3.6.")) expect(typed).to.include("status: Integer(Boolean)");
  });

  it("LibreOffice", async function () {
    const version = await versionOf(this, "soffice --version");
    await sh(`curl -s -H "Authorization: Bearer $KEY" "$API/stations.csv?$AREA" -o list.csv`);
    const cellsIn = async (language: number): Promise<string> => {
      const filter = `--infilter="CSV:44,34,76,1,,${language},false,true"`;
      await sh(
        `soffice --headless -env:UserInstallation=file://$PWD/office ${filter} --convert-to fods list.csv`,
      );
      const book = readFileSync(join(folder, "list.fods"), "utf8");
      const isGrades = /<text:p>92,95</.test(book);
      const isNumber = /office:value="92\.95"/.test(book);
      return isGrades && !isNumber ? "✓" : isNumber ? "92.95" : "?";
    };
    const [english, russian] = [await cellsIn(1033), await cellsIn(1049)];
    compare(
      {
        ...{ tool: "LibreOffice", gets304: "–", gzip: "–", geojson: "–" },
        csv: `\`en-US\`: ${english}, \`ru-RU\`: \`${russian}\``,
        ...{ ndjson: "–", stream: "–" },
      },
      version,
    );
  });

  it("nginx", async function () {
    const version = await versionOf(this, "nginx -v");
    const settings = {
      "`proxy_cache`": "",
      "`off`": "proxy_cache off;",
      "`bypass`":
        "proxy_set_header If-None-Match $http_if_none_match; proxy_cache_bypass 1; proxy_no_cache 1;",
    };
    /** What a command says with nginx at $URL, which stands between it and the service. */
    const behind = async (setting: string, command: string): Promise<string> => {
      const port = await somePort();
      const http = `proxy_cache_path ${folder}/cache keys_zone=z:1m; proxy_cache z; proxy_cache_valid 200 1m;
        server { listen ${port}; location / { ${setting} proxy_pass ${new URL(api).origin}; } }`;
      writeFileSync(
        join(folder, "nginx.conf"),
        `daemon off; pid ${folder}/pid; error_log ${folder}/error.log; events {} http { access_log off; ${http} }`,
      );
      const nginx = execFile("nginx", ["-c", join(folder, "nginx.conf"), "-e", "stderr"]);
      const gone = new Promise((resolve) => nginx.once("exit", resolve));
      const url = `http://127.0.0.1:${port}/api/v1/partner/stations/all`;
      const said = await sh(`rm -f n; URL=${url}; ${command}`).finally(() => nginx.kill());
      await gone;
      return said;
    };
    const bare = `curl -s --retry 20 --retry-connrefused --retry-delay 1 -o /dev/null -w '%{http_code}' "$URL"`;
    const ask = `${bare} -H "Authorization: Bearer $KEY" --etag-save n --etag-compare n`;
    const found: string[] = [];
    for (const [name, setting] of Object.entries(settings))
      found.push(`${name}: ${(await behind(setting, `${ask}; ${ask}`)).slice(3)}`);
    // Why docs/operations.md forbids it: an answer to one key goes to a caller without any.
    const leaked = await behind("proxy_ignore_headers Cache-Control;", `${ask}; ${bare}`);
    expect(leaked).to.equal("200200");
    const none = { gzip: "–", geojson: "–", csv: "–", ndjson: "–", stream: "–" };
    compare({ tool: "nginx", gets304: found.join(", "), ...none }, version);
  });

  for (const { tool, command, source, main, version: said } of programs)
    it(tool, async function () {
      if (said === undefined && !(await (installed ??= install()))) this.skip();
      const version =
        said === undefined
          ? (JSON.parse(readFileSync(join(folder, "node_modules", main, "package.json"), "utf8"))
              .version as string)
          : await versionOf(this, said);
      const document = await fetch(`${api}/openapi.json`);
      writeFileSync(join(folder, "openapi.json"), await document.text());
      seen.length = 0;
      writeFileSync(join(folder, `${tool.replaceAll("/", "-")}.${said ? "py" : "ts"}`), source);
      const text = await sh(command).catch((error: Error & { stdout?: string }) => {
        throw new Error(`${error.stdout ?? ""} ${error.message}`);
      });
      const did = JSON.parse(text.split("\n").at(-1) ?? "") as Partial<Row> & { user?: string };
      const gzip = codings();
      const found: Row = {
        ...{ tool, gets304: "–", gzip: gzip === "–" ? gzip : `✓ \`${gzip}\`` },
        ...{ geojson: "–", csv: "–", ndjson: "–", stream: "–" },
      };
      const { user: _, ...cells } = did;
      compare({ ...found, ...cells }, version);
      expect(did.user ?? "✓", "a user_ref with a slash").to.equal(
        /^(orval|swagger-typescript-api)$/.test(tool) ? "404" : "✓",
      );
    });
});
