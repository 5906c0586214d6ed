import { execFile, spawnSync } from "node:child_process";
import { hash } from "node:crypto";
import { EventEmitter, once } from "node:events";
import { writeFile } from "node:fs/promises";
import { type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";
import { expect } from "chai";
import { digestOf } from "#client/digest.ts";
import { type Mirror, mirror } from "#client/mirror.ts";
import { rows } from "#src/infrastructure/db.ts";
import { formatTime } from "#src/domain/time.ts";
import { createClient } from "#test/flow/client.ts";
import { useStage } from "#test/flow/stage.ts";
import { type RoleProcess, startRoleProcess } from "#test/harness/processes.ts";
import { sized } from "#test/harness/long.ts";
import { useFolder } from "#test/harness/use.ts";
import { unwatchWeb } from "#test/harness/watched.ts";

/** Reads no answer before its input ends. */
const program = `
import sys, urllib.request
from fuelmark_mirror import Mirror, digest_of
plainly = urllib.request.urlopen
def slowly(*args, **options):
    answer = plainly(*args, **options)
    print("begun", flush=True)
    sys.stdin.read()
    return answer
urllib.request.urlopen = slowly
held = lambda: digest_of(mirror.stations.values())
mirror = Mirror(*sys.argv[1:], on_wait=lambda *wait: print("waits", held()))
mirror.refresh()
print("has", held())
`;
const hasPython = spawnSync("python3", ["--version"]).status === 0;

describe("flow: a web process ends in the middle of long lists", () => {
  const { instance, country } = useStage(12_000, []);
  const folder = useFolder();
  let web: RoleProcess;
  let copy: Mirror | undefined;

  const start = async (stopMs = 2000): Promise<void> => {
    const PORT = web === undefined ? "0" : new URL(web.baseUrl).port;
    web = await startRoleProcess("web", { ...instance.env, STOP_MS: String(stopMs), PORT });
    // Whoever watches reads each list whole at once.
    unwatchWeb(web.baseUrl);
  };
  const get = (path: string) => createClient(web.baseUrl, country.secret).get(path);
  /** With a length, packed, and without a length. `fetch` may call a packed one torn whose last byte ends the connection. */
  const askAll = (): Promise<IncomingMessage[]> =>
    Promise.all(
      [".json", ".gzip", ".ndjson"].map(async (form) => {
        const path = `/api/v1/partner/stations/all${form === ".ndjson" ? form : ""}?limit=30000`;
        const headers = {
          Authorization: `Bearer ${country.secret}`,
          "Accept-Encoding": form.slice(1),
        };
        const [answer] = await once(request(web.baseUrl + path, { headers }).end(), "response");
        return answer as IncomingMessage;
      }),
    );
  const readAll = (answers: readonly IncomingMessage[]): Promise<string[]> =>
    Promise.all(
      answers.map(async (answer) => {
        const body = await buffer(answer).catch(() => null);
        if (body === null) return "broken off";
        const isPacked = answer.headers["content-encoding"] === "gzip";
        const text = (isPacked ? gunzipSync(body) : body).toString();
        return hash("sha1", text.replace(/"as_of":"[^"]*"/, ""));
      }),
    );

  before(async () => {
    // Packed as well, the lists are longer than what the operating system takes from the process.
    const address = "select string_agg(md5(id || n), '') from generate_series(1, 32) n";
    await rows(country.db, `update stations set addr = (${address})`);
    await start();
  });
  afterEach(() => copy?.stop());
  after(() => web.stop());

  // To who reads, a kill is no more than the end of the connection: the process itself breaks the lists off at SIGTERM.
  for (const signal of sized(["SIGTERM"], ["SIGKILL", "SIGTERM"]) as NodeJS.Signals[])
    it(`that nobody reads: ${signal} breaks them off, and mirrors keep their copies until it is back`, async () => {
      const { station } = (await get("/stations/n1000")).body;
      const stations = [{ ...station, addr: "Elsewhere" }];
      const asOf = formatTime(Date.now() - 3600_000);
      const path = join(folder.path, signal);
      await writeFile(path, JSON.stringify({ as_of: asOf, stations }));
      const steps = new EventEmitter();
      const [begun, waits, open] = ["begun", "waits", "open"].map((step) => once(steps, step));
      copy = mirror({
        ...{ baseUrl: web.baseUrl, key: country.secret, stream: false, pollMs: 500 },
        store: { load: async () => ({ asOf, etag: null, stations }), save: async () => {} },
        onWait: () => steps.emit("waits"),
        fetch: async (url, init) => {
          const answer = await fetch(url, init);
          steps.emit("begun");
          await open;
          return answer;
        },
      });
      const args = ["-c", program, web.baseUrl, country.secret, path];
      const env = {
        PATH: process.env.PATH,
        PYTHONPATH: "client/python",
        PYTHONDONTWRITEBYTECODE: "1",
      };
      const python = hasPython ? promisify(execFile)("python3", args, { env }) : null;
      if (python !== null) await once(python.child.stdout!, "data");
      await begun;
      const answers = await askAll();
      process.kill(web.pid, signal);
      await web.exited;
      expect(await readAll(answers)).to.deep.equal(Array(3).fill("broken off"));
      steps.emit("open");
      python?.child.stdin!.end();
      await waits;
      expect([...copy.stations.values()]).to.deep.equal(stations);
      await start();
      await copy.ready();
      const { body } = await get(`/stations/delta?updated_since=${new Date().toISOString()}`);
      expect(copy.stations.size).to.equal(12_000);
      expect(await digestOf(copy.stations.values())).to.equal(body.digest);
      const said = `^begun\nwaits ${await digestOf(stations)}\n[^]*\nhas ${body.digest}\n$`;
      if (python !== null) expect((await python).stdout).to.match(new RegExp(said));
    });

  it("that are read on: SIGTERM lets them come to their end", async () => {
    await web.stop();
    await start(60_000);
    const whole = await readAll(await askAll());
    expect(whole).to.not.include("broken off");
    const answers = await askAll();
    const stopped = web.stop(60_000);
    await web.waitForLine(/"stopping"/);
    expect(await readAll(answers)).to.deep.equal(whole);
    expect(await stopped).to.equal(0);
  });
});
