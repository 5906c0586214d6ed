import { expect } from "chai";
import { openAuthority } from "#test/fault/authority.ts";
import { until } from "#test/flow/client.ts";
import { createTestInstance, type TestInstance } from "#test/harness/instance.ts";
import { type RoleProcess, startRoleProcess } from "#test/harness/processes.ts";
import { type RedisServer, startRedisServer } from "#test/harness/redis-servers.ts";

interface Readiness {
  degraded: string[];
  checks: Record<string, { ok: boolean; detail: unknown }>;
}

describe("fault: a Redis with TLS of an own authority, that evicts keys", function () {
  this.timeout(60_000);
  let authority: ReturnType<typeof openAuthority>;
  let server: RedisServer;
  let instance: TestInstance;
  let web: RoleProcess | undefined;

  before(async function () {
    authority = openAuthority(this);
    const { certFile, keyFile } = authority.issue("DNS:localhost");
    server = await startRedisServer(
      [
        ...[`tls-cert-file ${certFile}`, `tls-key-file ${keyFile}`],
        `tls-ca-cert-file ${authority.caFile}`,
        ...["tls-auth-clients no", "requirepass secret", "maxmemory-policy allkeys-lru"],
      ],
      { tls: { ca: authority.ca }, host: "localhost", password: "secret" },
    );
    instance = await createTestInstance();
  });
  afterEach(async () => {
    await web?.stop();
    web = undefined;
  });
  after(async () => {
    await instance?.drop();
    await server?.drop();
  });

  const readiness = async (): Promise<Readiness> =>
    (await (await fetch(`${web!.baseUrl}/readyz`)).json()) as Readiness;
  const env = () => ({ ...instance.env, REDIS_URL: `rediss://:secret@localhost:${server.port}` });

  it("is used with NODE_EXTRA_CA_CERTS, and its policy is shown", async () => {
    web = await startRoleProcess("web", { ...env(), NODE_EXTRA_CA_CERTS: authority.caFile });
    const found = await until(readiness, ({ degraded }) => degraded.includes("eviction"));
    expect(found.degraded).to.not.include("redis");
    expect(found.checks["eviction"]).to.deep.equal({
      ok: false,
      detail: "maxmemory-policy allkeys-lru",
    });
    const metrics = await (await fetch(`${web.baseUrl}/metrics`)).text();
    expect(metrics).to.match(/^fuelmark_redis_evicting 1$/m);
    expect(web.lines.join("\n")).to.contain("set its maxmemory-policy to noeviction");
  });

  it("is not trusted without it", async () => {
    web = await startRoleProcess("web", env());
    await until(readiness, ({ degraded }) => degraded.includes("redis"));
    expect(web.lines.join("\n")).to.match(/self-signed certificate|unable to (get|verify)/);
  });
});
