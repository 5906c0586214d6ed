import { expect } from "chai";
import { isRefusal } from "#src/contract/refusals.ts";
import { loadConfig } from "#src/infrastructure/config.ts";
import { changeKey, findKey, issueKey, revokeKey } from "#src/keys/issued-keys.ts";
import { changePartner } from "#src/keys/partners.ts";
import { disableAccount, endConsoleSession, setAccountRole } from "#src/operators/accounts.ts";
import { listSessions } from "#src/operators/sessions.ts";
import { by } from "#test/harness/by.ts";
import { type Answer, createClient, until } from "#test/flow/client.ts";
import { type ConsoleClient, signIn } from "#test/flow/console-client.ts";
import { type Country, openCountry } from "#test/flow/country.ts";
import { addPartner } from "#test/flow/more-partners.ts";
import { addOperator } from "#test/flow/operators.ts";
import { openStream } from "#test/flow/stream-reader.ts";
import { createTestInstance, type TestInstance, usualPatience } from "#test/harness/instance.ts";
import { type RoleProcess, startRoleProcess } from "#test/harness/processes.ts";
import { startPrivatePostgres } from "#test/harness/servers.ts";
import { startTcpProxy, type TcpProxy } from "#test/harness/tcp-proxy.ts";
import { release } from "#demo/release.ts";

const minute = 60_000;
const path = "/cities?limit=1";

const codeOf = ({ status, body }: Answer): string =>
  status === 200 ? "200" : String(body.type).split("/").at(-1)!;
/** How a process is, as a balancer asks. */
const readiness = async ({ baseUrl }: RoleProcess): Promise<{ status: number; text: string }> => {
  const answer = await fetch(`${baseUrl}/readyz`);
  return { status: answer.status, text: await answer.text() };
};
const untilReady = (web: RoleProcess, wanted: number) =>
  until(
    () => readiness(web),
    ({ status }) => status === wanted,
  );

describe("fault: a web process that is cut from what tells it who may do what", function () {
  let instance: TestInstance;
  let country: Country;
  let postgres: TcpProxy;
  let redis: TcpProxy;
  let cut: RoleProcess;
  let fresh: RoleProcess;

  before(async () => {
    instance = await createTestInstance({ ...usualPatience, TRUSTED_PROXIES: "127.0.0.1" });
    country = await openCountry(instance.config, 3);
    [postgres, redis] = await Promise.all([
      startTcpProxy(Number(new URL(instance.databaseUrl).port)),
      startTcpProxy(Number(new URL(instance.redisUrl).port)),
    ]);
    const at = (url: string, { port }: TcpProxy): string =>
      Object.assign(new URL(url), { port }).href;
    const behind = {
      ...instance.env,
      DATABASE_URL: at(instance.databaseUrl, postgres),
      REDIS_URL: at(instance.redisUrl, redis),
    };
    [cut, fresh] = await Promise.all([
      startRoleProcess("web", behind),
      startRoleProcess("web", instance.env),
    ]);
  });
  afterEach(async () => {
    postgres?.set("pass");
    redis?.set("pass");
    await untilReady(cut, 200);
  });
  after(async () => {
    await Promise.all([cut, fresh].map((web) => web?.stop()));
    await Promise.all([postgres, redis].map((proxy) => proxy?.close()));
    await country?.close();
    await instance?.drop();
  });

  const issue = async (kind: "secret" | "publishable", domains?: string[]) => {
    const asked = { partner_id: country.partnerId, kind, ...(domains && { domains }) };
    const made = await issueKey(by(country.db, "test"), asked);
    if (isRefusal(made)) throw new Error(JSON.stringify(made));
    const client = createClient(cut.baseUrl, made.text);
    return {
      id: made.key.id,
      text: made.text,
      ask: (headers: Record<string, string> = {}) => client.get(path, headers),
    };
  };
  /** A key that memory does not hold may be a new one, as long as nobody can be asked. */
  const gone = ["invalid-key", "upstream-unavailable"];
  /** Until the process that is cut gives one of these answers, within the minute of the contract. */
  const answers = (ask: () => Promise<Answer>, ...codes: string[]) =>
    until(ask, (answer) => codes.includes(codeOf(answer)), minute);

  for (const mode of ["cut", "blackhole", "blackhole-down", "half-open"] as const)
    it(`refuses a revoked key within a minute and leaves readiness, cut from Postgres alone (${mode})`, async () => {
      const key = await issue("secret");
      expect(codeOf(await key.ask())).to.equal("200");
      const stream = await openStream(cut.baseUrl, key.text);
      expect(stream.status).to.equal(200);
      postgres.set(mode);
      await revokeKey(by(country.db, "test"), {}, key.id);
      await answers(key.ask, ...gone);
      expect(await stream.over).to.equal("ended");
      const { text } = await untilReady(cut, 503);
      expect(JSON.parse(text).checks.stations).to.deep.include({ ok: false, critical: true });
      expect((await readiness(fresh)).status).to.equal(200);
      // A balancer that has nobody else still gets reads.
      expect(codeOf(await createClient(cut.baseUrl, country.secret).get(path))).to.equal("200");
      await cut.waitForLine(/not ready: load balancers leave this process out/);
      postgres.set("pass");
      await untilReady(cut, 200);
      await cut.waitForLine(/ready again/);
    });

  it("learns of bindings, limits and switches that were changed, and believes no session", async () => {
    const [bound, page] = [await issue("secret"), await issue("publishable", ["old.example"])];
    const other = await addPartner(country);
    const others = createClient(cut.baseUrl, other.secret);
    const from = { "X-Forwarded-For": "198.51.100.7" };
    const origin = { Origin: "https://old.example" };
    await addOperator(country.db, "olga");
    await addOperator(country.db, "oleg");
    const olga = await signIn(cut.baseUrl, "olga");
    const oleg = await signIn(cut.baseUrl, "oleg");
    for (const ask of [() => bound.ask(from), () => page.ask(origin), () => others.get(path)])
      expect(codeOf(await ask())).to.equal("200");
    const look = ({ call }: ConsoleClient) => call("GET", "/session").then(({ status }) => status);
    expect([await look(olga), await look(oleg)]).to.deep.equal([200, 200]);

    postgres.set("blackhole");
    const { db } = country;
    await changeKey(by(db, "test"), { ips: ["192.0.2.0/24"] }, bound.id);
    await changeKey(by(db, "test"), { domains: ["new.example"] }, page.id);
    await changePartner(by(db, "test"), { enabled: false }, other.id);
    const [session] = await listSessions(db, "operator");
    await endConsoleSession(db, "test", String(session!.id));
    await setAccountRole(db, "test", "oleg", "viewer");
    await disableAccount(db, "test", "olga", true);
    await answers(() => bound.ask(from), "ip-not-allowed");
    await answers(() => page.ask(origin), "domain-not-allowed");
    await answers(() => others.get(path), "partner-disabled");
    await changePartner(by(db, "test"), { rpm: 77_000 }, country.partnerId);
    await until(
      () => createClient(cut.baseUrl, country.secret).get(path),
      ({ headers }) => headers.get("x-ratelimit-limit") === "77000",
      minute,
    );
    expect([await look(olga), await look(oleg)]).to.deep.equal([503, 503]);
    const changes = await oleg.call("POST", "/partners", { name: "New", rpm: 1, daily: 1 });
    expect(changes.status).to.equal(503);
    postgres.set("pass");
    await until(
      () => look(olga),
      (status) => status === 401,
    );
    expect((await findKey(db, bound.id))!.ips).to.deep.equal(["192.0.2.0/24"]);
  });

  it("answers 503 after a minute at most when it is cut from Redis too, and comes back by itself", async () => {
    const key = await issue("secret");
    expect(codeOf(await key.ask())).to.equal("200");
    const page = await issue("publishable", ["shop.test"]);
    const askFromPage = () => page.ask({ Origin: "https://shop.test" });
    expect(codeOf(await askFromPage())).to.equal("200");
    const stream = await openStream(cut.baseUrl, key.text);
    postgres.set("blackhole");
    redis.set("blackhole");
    const from = Date.now();
    await revokeKey(by(country.db, "test"), {}, key.id);
    const answer = await until(key.ask, ({ status }) => status !== 200, 2 * minute);
    expect(Date.now() - from).to.be.below(minute);
    expect([codeOf(answer), answer.headers.get("retry-after")]).to.deep.equal([
      "upstream-unavailable",
      "5",
    ]);
    expect(await stream.over).to.equal("ended");
    // The page may read why, and when to come again.
    const refused = await askFromPage();
    expect([codeOf(refused), refused.headers.get("access-control-allow-origin")]).to.deep.equal([
      "upstream-unavailable",
      "https://shop.test",
    ]);
    const { status, text } = await readiness(cut);
    expect(status).to.equal(503);
    expect(JSON.parse(text).checks.keys).to.deep.include({ ok: false, critical: true });
    await cut.waitForLine(/others may know of revoked keys/);
    expect(codeOf(await createClient(fresh.baseUrl, country.secret).get(path))).to.equal("200");
    redis.set("pass");
    await answers(() => createClient(cut.baseUrl, country.secret).get(path), "200");
    expect(gone).to.include(codeOf(await key.ask()));
    await cut.waitForLine(/keys are current again/);
  });
});

describe("fault: Postgres is away for all", function () {
  it("answers reads for longer than a minute, and stays ready", async () => {
    const server = await startPrivatePostgres();
    const instance = await createTestInstance(usualPatience);
    const env = { ...instance.env, DATABASE_URL: server.url };
    await release(env);
    const country = await openCountry(loadConfig(env), 3);
    const roles = await Promise.all(
      ["web", "web", "snapshots", "marks"].map((role) => startRoleProcess(role, env)),
    );
    const [one, other] = roles as [RoleProcess, RoleProcess];
    const clients = [one, other].map(({ baseUrl }) => createClient(baseUrl, country.secret));
    try {
      await server.stop();
      for (const end = Date.now() + 1.3 * minute; Date.now() < end;)
        for (const client of clients) expect(codeOf(await client.get(path))).to.equal("200");
      for (const web of [one, other]) expect((await readiness(web)).status).to.equal(200);
    } finally {
      await server.restart();
      await Promise.all(roles.map((role) => role.stop()));
      await country.close();
      await instance.drop();
      await server.drop();
    }
  });
});
