import { execFile } from "node:child_process";
import { lookup } from "node:dns/promises";
import { promisify } from "node:util";
import { expect } from "chai";
import { createClient } from "#client/client.ts";
import { mirror } from "#client/mirror.ts";
import type { Wait } from "#client/waiting.ts";
import {
  problem,
  type Scripted,
  type ScriptedServer,
  startScripted,
  station,
  time,
} from "#test/client/scripted-server.ts";

const run = promisify(execFile);

/** Refreshes once for each address and key, and says each wait and how it ended. */
const program = `
import json, sys
from fuelmark_mirror import Mirror
def run(base, key):
    waits = []
    try:
        mirror = Mirror(base, key, sleep=lambda s: None,
            on_wait=lambda error, since, wait_s: waits.append([type(error).__name__, since, wait_s]))
        mirror.refresh()
        return waits, len(mirror.stations)
    except Exception as error:
        return waits, [type(error).__name__, str(error)]
print(json.dumps([run(*settings) for settings in json.loads(sys.argv[1])]))
`;
type Said = [
  waits: [error: string, since: number, waitS: number][],
  end: number | [string, string],
];

const badSettings = [
  ["a key with the line feed of its file", "https://fuel.example", "svc_live_secret\n", /key/],
  ["a key in other letters", "https://fuel.example", "ключ", /key/],
  ["no key", "https://fuel.example", "", /key/],
  ["an address without a scheme", "fuel.example", "k", /https:\/\/host/],
  ["an address of another scheme", "ftp://fuel.example", "k", /https:\/\/host/],
] as const;

describe("what no waiting mends", () => {
  let server: ScriptedServer;
  let answers: Scripted[];
  beforeEach(async () => {
    answers = [];
    server = await startScripted(() => answers.shift() ?? null);
  });
  afterEach(() => server.stop());

  const inPython = async (
    ...settings: (readonly [base: string, key: string])[]
  ): Promise<Said[]> => {
    const env = {
      PATH: process.env.PATH,
      PYTHONPATH: "client/python",
      PYTHONDONTWRITEBYTECODE: "1",
    };
    // A mirror that waits for ever fails the test.
    const args = ["-c", program, JSON.stringify(settings)];
    const { stdout } = await run("python3", args, { env, timeout: 60_000 });
    return JSON.parse(stdout) as Said[];
  };
  const readyOf = async (baseUrl: string): Promise<string> => {
    const copy = mirror({ baseUrl, key: "k", retries: 0 });
    const message = await copy.ready().catch((error: unknown) => (error as Error).message);
    await copy.stop();
    return String(message);
  };
  const httpsOnHttp = (): string => server.baseUrl.replace("http:", "https:");
  const nobody = "http://nobody.invalid";
  const isRefusedByDns = async (): Promise<boolean> =>
    (await lookup("nobody.invalid").catch((error: NodeJS.ErrnoException) => error.code)) ===
    "ENOTFOUND";
  const good = (): Scripted => ({
    status: 200,
    body: { stations: [station("a")], as_of: time(10), next_cursor: "" },
  });

  for (const [what, baseUrl, key, words] of badSettings)
    it(`${what} is refused before the first request`, () => {
      expect(() => createClient({ baseUrl, key })).to.throw(TypeError, words);
      expect(() => mirror({ baseUrl, key }), "mirror").to.throw(TypeError, words);
    });
  it("each of these is refused before the first request in Python", async () => {
    const said = await inPython(...badSettings.map(([, base, key]) => [base, key] as const));
    for (const [n, [, end]] of said.entries()) {
      const [what, , , words] = badSettings[n]!;
      expect((end as [string, string])[0], what).to.equal("ValueError");
      expect((end as [string, string])[1], what).to.match(words);
    }
    expect(JSON.stringify(said)).to.not.contain("svc_live_secret");
  });

  it("https on a port that speaks http is said at once", async () => {
    expect(await readyOf(httpsOnHttp())).to.match(/wrong version/);
    const [[waits, end]] = (await inPython([httpsOnHttp(), "k"])) as [Said];
    expect([waits, (end as [string, string])[1]].join()).to.match(/WRONG_VERSION/);
  });

  it("a host that nobody knows is said at once", async function () {
    if (!(await isRefusedByDns())) {
      console.log("      no name server here that says a name is unknown: skipped");
      this.skip();
    }
    expect(await readyOf(nobody)).to.match(/ENOTFOUND/);
    const [[waits, end]] = (await inPython([nobody, "k"])) as [Said];
    expect(waits).to.deep.equal([]);
    expect((end as [string, string])[0]).to.equal("URLError");
  });

  it("anything else is waited for, and told: what, since when, for how long", async () => {
    const away = (): Scripted => problem(503, "upstream-unavailable", { "Retry-After": "0" });
    answers = [null, away(), good()];
    const told: Wait[] = [];
    const copy = mirror({
      ...{ baseUrl: server.baseUrl, key: "k", pollMs: 20, stream: false },
      onWait: (wait) => told.push(wait),
    });
    await copy.ready();
    await copy.stop();
    expect(told.map(({ error }) => (error as { code: string }).code)).to.deep.equal([
      "no-answer",
      "upstream-unavailable",
    ]);
    expect(told[0]!.waitMs).to.be.within(100, 1000);
    expect(told[1]!.since).to.equal(told[0]!.since);

    answers = [null, away(), good()];
    const [[waits, end]] = (await inPython([server.baseUrl, "k"])) as [Said];
    expect(end).to.equal(1);
    expect(waits.map(([error]) => error)).to.deep.equal(["RemoteDisconnected", "ApiError"]);
    expect(waits[1]![1]).to.equal(waits[0]![1]);
    expect(waits[0]![1]).to.be.closeTo(Date.now() / 1000, 60);
    expect(waits.map(([, , waitS]) => waitS)).to.deep.equal([1, 2]);
  });
});
