import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect } from "chai";
import { type Client, until } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { addPartner } from "#test/flow/more-partners.ts";
import { openStage, type Stage } from "#test/flow/stage.ts";
import { hold } from "#test/harness/leaks.ts";

/** Refreshes at each line that it is sent, and says what changed, what it holds, or how long it wanted to wait. */
const program = `
import json, sys
from fuelmark_mirror import ApiError, Mirror
class Waits(Exception):
    pass
def sleep(seconds):
    raise Waits(seconds)
mirror = Mirror(sys.argv[1], sys.argv[2], path=sys.argv[3] or None, sleep=sleep)
for line in sys.stdin:
    if line.startswith("as_of "):
        mirror.as_of = line[6:].strip()
        continue
    if line.startswith("lose "):
        lost = [line[5:].strip()]
        lost.append(mirror.stations.pop(lost[0]))
        mirror._compare_at = 0
        continue
    if line.startswith("find"):
        mirror.stations[lost[0]] = lost[1]
        continue
    try:
        changes = [[before and before["id"], after and after["fuel"]["status"]] for before, after in mirror.refresh()]
    except ApiError as error:
        changes = error.code
    except OSError:
        changes = "not saved"
    except Waits as wait:
        changes = f"waits {wait}"
    held = {one["id"]: one["fuel"]["status"] for one in mirror.stations.values()}
    print(json.dumps([changes, held, mirror.as_of]), flush=True)
`;

type Said = [changes: [string | null, string | null][] | string, held: object, asOf: string];

describe("the mirror in Python", () => {
  let stage: Stage;
  let folder: string;
  let client: Client;
  let children: ChildProcess[] = [];

  before(async function () {
    if (
      spawnSync("python3", ["-c", "import sys; sys.exit(sys.version_info < (3, 9))"]).status !== 0
    ) {
      console.log("      no python3 of 3.9 or later here: skipped");
      this.skip();
    }
    folder = mkdtempSync(join(tmpdir(), "fuelmark-python-"));
    stage = await openStage(20, ["web", "marks"]);
    [client] = stage.clients as [Client];
  });
  after(async () => {
    if (stage === undefined) return;
    for (const child of children) child.kill("SIGKILL");
    await stage.close();
    rmSync(folder, { recursive: true, force: true });
  });

  function startMirror(
    file = "",
    key = stage.country.secret,
    base = `${stage.webs[0]!.baseUrl}/api/v1/partner`,
  ) {
    const child = spawn("python3", ["-c", program, base, key, file && join(folder, file)], {
      env: { PATH: process.env.PATH, PYTHONPATH: "client/python", PYTHONDONTWRITEBYTECODE: "1" },
      stdio: ["pipe", "pipe", "inherit"],
    });
    children = [...children, child];
    const ended = once(child, "exit");
    const letGo = hold("a mirror in Python", async () => void child.kill("SIGKILL"));
    void ended.then(letGo);
    const lines = createInterface({ input: child.stdout! });
    return {
      refresh: async (): Promise<Said> => {
        const line = once(lines, "line");
        child.stdin!.write("refresh\n");
        return JSON.parse(String((await line)[0])) as Said;
      },
      lose: (id: string) => void child.stdin!.write(`lose ${id}\n`),
      find: () => void child.stdin!.write("find\n"),
      pretend: (asOf: string) => void child.stdin!.write(`as_of ${asOf}\n`),
      kill: async () => {
        child.kill("SIGKILL");
        await ended;
      },
    };
  }
  const mark = async (n: number, status: string): Promise<void> => {
    const { body } = await client.mark(placeOf(n), `python-${n}`, { status });
    expect(body.published.outcome).to.equal("published");
  };
  const whole = async (): Promise<object> => {
    const { body } = await client.get("/stations/all");
    type Station = { id: string; fuel: { status: string } };
    return Object.fromEntries(
      (body.stations as Station[]).map(({ id, fuel }) => [id, fuel.status]),
    );
  };
  const callsOf = async (what: string): Promise<number> => {
    const { body } = await client.get("/usage?days=1");
    return (body.days[0].methods[what] ?? 0) as number;
  };

  it("reads the country once, then only what changes, and goes on where it was after kill -9", async () => {
    const first = startMirror("stations.json");
    const [initial, held] = await first.refresh();
    expect(initial).to.have.length(20);
    expect(held).to.deep.equal(await whole());
    await mark(1, "yes");
    await until(first.refresh, ([changes]) => changes.length > 0).then(([changes]) =>
      expect(changes).to.deep.equal([[placeOf(1).id, "yes"]]),
    );
    await first.kill();
    await mark(2, "low");
    const dumps = await callsOf("GET /stations/all");
    const second = startMirror("stations.json");
    const [changes] = await until(second.refresh, (said) => said[0].length > 0);
    expect(changes).to.deep.equal([[placeOf(2).id, "low"]]);
    expect(await callsOf("GET /stations/all")).to.equal(dumps);
    expect((await second.refresh())[1]).to.deep.equal(await whole());
    await second.kill();
  });

  it("begins anew when it is more than 48 hours behind, and leaves out what has not changed", async () => {
    const mirror = startMirror();
    await mirror.refresh();
    await mark(3, "yes");
    mirror.pretend("2026-01-01 00:00:00");
    const [changes, held] = await mirror.refresh();
    expect(changes).to.deep.equal([[placeOf(3).id, "yes"]]);
    expect(held).to.deep.equal(await whole());
    await mirror.kill();
  });

  it("begins anew from a file, or a cursor in it, that cannot be understood", async () => {
    const expected = await whole();
    for (const text of ["", '{"as_of": "2026', "[]", '{"stations": [], "as_of": "yesterday"}']) {
      writeFileSync(join(folder, "damaged.json"), text);
      const mirror = startMirror("damaged.json");
      expect((await mirror.refresh())[1], text).to.deep.equal(expected);
      await mirror.kill();
    }
  });

  it("hands on with the next refresh what it could not save", async () => {
    const mirror = startMirror("later/stations.json");
    expect((await mirror.refresh())[0]).to.equal("not saved");
    mkdirSync(join(folder, "later"));
    const [changes, held] = await mirror.refresh();
    expect(changes).to.have.length(20);
    expect(held).to.deep.equal(await whole());
    expect((await mirror.refresh())[0]).to.deep.equal([]);
    await mirror.kill();
  });

  it("hands on with the next refresh what it had read before a comparison was broken off", async () => {
    const mirror = startMirror();
    await mirror.refresh();
    await mark(5, "yes");
    await until(whole, (held) => (held as Record<string, string>)[placeOf(5).id] === "yes");
    mirror.lose(placeOf(19).id);
    expect((await mirror.refresh())[0]).to.equal("waits 5");
    mirror.find();
    expect((await mirror.refresh())[0]).to.deep.equal([[placeOf(5).id, "yes"]]);
    await mirror.kill();
  });

  it("raises a refusal of the key, and waits as long as a limit says", async () => {
    const refused = startMirror("", "svc_live_wrong");
    expect((await refused.refresh())[0]).to.equal("invalid-key");
    await refused.kill();
    const { secret } = await addPartner(stage.country, { rpm: 1, daily: 1000 });
    const limited = startMirror("", secret);
    const [waited] = await until(limited.refresh, ([changes]) => typeof changes === "string");
    expect(Number(/^waits (\d+)$/.exec(String(waited))?.[1])).to.be.within(1, 60);
    await limited.kill();
  });
});
