import { randomUUID } from "node:crypto";
import { expect } from "chai";
import type { ConsoleHealth, ConsoleSuggestion } from "#src/contract/console.ts";
import type { ConsoleDecision } from "#src/contract/decisions.ts";
import { rows } from "#src/infrastructure/db.ts";
import { deviceReporter } from "#src/marks/marks.ts";
import { runOperator } from "#test/harness/operator.ts";
import { type Answer, createClient, until } from "#test/flow/client.ts";
import { useAccount } from "#test/flow/console-client.ts";
import { placeOf } from "#test/flow/country.ts";
import { useStage } from "#test/flow/stage.ts";

const [perDevice, perNetwork] = [3, 6];

describe("flow: what drivers say of stations themselves", function () {
  const { instance, country, webs } = useStage(30, ["web", "web"], {
    ...{ TRUSTED_PROXIES: "127.0.0.1", SIGN_INS_PER_MINUTE: "1000" },
    SUGGESTIONS_PER_DEVICE: String(perDevice),
    SUGGESTIONS_PER_NETWORK: String(perNetwork),
  });
  const olga = useAccount(country, () => webs[0]!.baseUrl);
  let networks = 0;
  let next = 0;

  const newNetwork = (): string => `203.0.113.${(networks += 1)}`;
  const station = (): string => placeOf((next += 1)).id;
  const say = async (
    body: object,
    { web = 0, network = newNetwork(), headers = {} } = {},
  ): Promise<Answer> => {
    const { baseUrl } = webs[web]!;
    const response = await fetch(`${baseUrl}/suggestions/send`, {
      method: "POST",
      headers: {
        ...{ Origin: baseUrl, "Content-Type": "application/json", "X-Forwarded-For": network },
        ...headers,
      },
      body: JSON.stringify({ device: randomUUID(), ...body }),
    });
    return { status: response.status, headers: response.headers, body: await response.json() };
  };
  const open = async (): Promise<ConsoleSuggestion[]> =>
    (await olga.call("GET", "/suggestions")).body.suggestions as ConsoleSuggestion[];
  const about = async (id: string): Promise<ConsoleSuggestion[]> =>
    (await open()).filter(({ station_id }) => station_id === id);
  const act = async (path: string): Promise<number> => (await olga.call("POST", path)).status;
  const codeOf = ({ body }: Answer): string => String(body.type).split("/").at(-1)!;
  const stored = () => rows(country.db, "select * from stations order by id");

  it("come to the operator, those that say the same together, and change nothing", async () => {
    const [id, before] = [station(), await stored()];
    const device = randomUUID();
    const closed = { kind: "closed", station_id: id };
    expect((await say({ ...closed, device, text: "shut\n since\u200b May" })).status).to.equal(201);
    expect((await say({ ...closed, text: "<a href=//x>x</a>" }, { web: 1 })).status).to.equal(201);
    // The same person's newer words take the place of the older.
    const again = await say({ ...closed, device, text: "for good" }, { web: 1 });
    expect([again.status, again.body]).to.deep.equal([200, { again: true }]);
    await say({ kind: "moved", station_id: id, lat: 55.5, lon: 37.5 });
    const [both, moved] = await about(id);
    expect(both).to.include({ kind: "closed", people: 2 });
    expect(both!.texts).to.have.members(["<a href=//x>x</a>", "for good"]);
    expect(both!.station).to.include({ removed: false });
    expect(moved).to.deep.include({ kind: "moved", people: 1, texts: [] });
    expect(moved!.places[0]).to.include({ lat: 55.5, lon: 37.5 });
    expect(await stored()).to.deep.equal(before);
    const { body } = await olga.call("GET", "/health");
    expect((body as ConsoleHealth).marks!.suggestions).to.equal((await open()).length);
  });

  it("are one for a person, a station and a kind, however many processes take them at once", async () => {
    const [id, device] = [station(), randomUUID()];
    const said = { kind: "gone", station_id: id, device };
    const answers = await Promise.all(
      [0, 1, 0, 1, 0, 1].map((web) => say(said, { web, network: newNetwork() })),
    );
    for (const { status } of answers) expect(status).to.be.oneOf([200, 201]);
    const [one, ...others] = await about(id);
    expect([one!.people, others]).to.deep.equal([1, []]);
  });

  it("are limited for a device and for a network, through two processes at once", async () => {
    const device = randomUUID();
    const network = newNetwork();
    const ask = (body: object) => (_: unknown, n: number) =>
      say({ kind: "gone", station_id: station(), ...body }, { web: n % 2, network });
    const taken = (answers: Answer[]) => answers.filter(({ status }) => status === 201).length;
    const own = await Promise.all(Array.from({ length: 8 }, ask({ device })));
    expect(taken(own)).to.equal(perDevice);
    const all = await Promise.all(Array.from({ length: 8 }, ask({})));
    expect(taken(all)).to.equal(perNetwork - perDevice);
    const over = all.find(({ status }) => status === 429)!;
    expect([codeOf(over), over.body.limit]).to.deep.equal(["user-rate-limited", perNetwork]);
    expect(Number(over.headers.get("Retry-After"))).to.be.within(86_000, 86_400);
    // A device that comes from several networks at once is the same device.
    const roaming = randomUUID();
    const everywhere = await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        say({ kind: "gone", station_id: station(), device: roaming }, { web: n % 2 }),
      ),
    );
    expect(taken(everywhere)).to.equal(perDevice);
  });

  it("are refused from who is blocked, from foreign pages, and without what they need", async () => {
    const here = placeOf(1);
    const body = { kind: "gone", station_id: here.id };
    const device = randomUUID();
    await country.meetDevice(device, 60);
    const before = { ...body, device, text: "shut since May" };
    expect((await say(before)).status).to.equal(201);
    await rows(
      country.db,
      "update reporters set blocked_until = server_now() + interval '1 hour' where hash = decode(?, 'hex')",
      [deviceReporter(instance.config.reporterPepper, device)],
    );
    expect((await say({ ...before, text: "changed while blocked" })).status).to.equal(429);
    const [gone] = (await about(here.id)).filter(({ kind }) => kind === "gone");
    expect(gone!.texts).to.deep.equal(["shut since May"]);
    const foreign = await say(body, { headers: { Origin: "https://elsewhere.example" } });
    expect([foreign.status, codeOf(foreign)]).to.deep.equal([403, "cross-site-request"]);
    for (const [more, field] of [
      [{ kind: "dirty" }, "kind"],
      [{ kind: "moved", lat: 95, lon: 3 }, "lat"],
      [{ kind: "moved", lat: 5 }, "lon"],
      [{ kind: "missing" }, "lat"],
      [{ station_id: undefined }, "station_id"],
      [{ text: "x".repeat(301) }, "text"],
    ] as const) {
      const { status, body: refused } = await say({ ...body, ...more });
      expect([status, refused.detail[0].loc.at(-1)]).to.deep.equal([422, field]);
    }
    const nowhere = await say({ kind: "gone", station_id: "nowhere" });
    expect([nowhere.status, codeOf(nowhere)]).to.deep.equal([404, "station-not-found"]);
  });

  it("are decided once, together, with a record and a way back", async () => {
    const id = station();
    const said = { kind: "gone", station_id: id };
    const device = randomUUID();
    await say({ ...said, device });
    await say({ ...said, text: "nothing there" });
    const [{ id: first }] = (await about(id)) as [ConsoleSuggestion];
    const both = await Promise.all([1, 2].map(() => act(`/suggestions/${first}/done`)));
    expect(both.sort()).to.deep.equal([204, 409]);
    expect(await about(id)).to.deep.equal([]);
    const decisions = async () =>
      (await olga.call("GET", "/decisions?kind=station")).body.decisions as ConsoleDecision[];
    const [made] = await decisions();
    expect(made).to.deep.include({
      ...{ action: "suggestion.done", page: "/suggestions" },
      details: { kind: "gone", people: 2, station: id },
    });
    // Who has said it anew meanwhile is not said twice.
    await say({ ...said, device });
    expect((await olga.call(made!.undo!.method, made!.undo!.path)).status).to.equal(204);
    expect((await about(id))[0]).to.include({ people: 2 });
    expect((await decisions())[1]).to.deep.include({ undo: null, id: made!.id });
    expect(await act(`/suggestions/${first}/undo`)).to.equal(409);
    expect(await act(`/suggestions/${(await about(id))[0]!.id}/dismiss`)).to.equal(204);
    expect(await about(id)).to.deep.equal([]);
    expect(await act("/suggestions/999999/done")).to.equal(404);
  });

  it("let a missing station be added, which is served at once", async () => {
    const place = { lat: 55.11111, lon: 37.22222 };
    await say({ kind: "missing", ...place, text: "new one" });
    const missing = (await open()).find(({ kind }) => kind === "missing")!;
    expect(missing).to.deep.include({ station: null, station_id: "", texts: ["new one"] });
    const added = await olga.call("POST", "/stations", { ...place, name: "  АЗС   5 " });
    expect(added.status).to.equal(201);
    const client = createClient(webs[1]!.baseUrl, country.secret);
    const { body } = await until(
      () => client.get(`/stations/${String(added.body.id)}`),
      ({ status }) => status === 200,
    );
    expect(body.station).to.include({ ...place, name: "АЗС 5" });
    const nameless = await olga.call("POST", "/stations", { ...place, name: " " });
    expect(nameless.status).to.equal(422);
  });

  it("are handed out to their person, and erased", async () => {
    const [id, device] = [station(), randomUUID()];
    await say({ kind: "closed", station_id: id, device, text: "my own words" });
    const operator = (verb: string) =>
      runOperator(instance.env, "reporter", verb, "--device", device, "--json");
    const { suggestions } = (await operator("export")).json;
    expect(suggestions).to.have.length(1);
    expect(suggestions[0]).to.include({ station_id: id, text: "my own words", state: "open" });
    const page = createClient(webs[1]!.baseUrl, country.publishable);
    const forgotten = await page.post("/widget/forget", { device });
    expect(forgotten.body).to.deep.equal({ erased: true });
    expect(await about(id)).to.deep.equal([]);
  });
});
