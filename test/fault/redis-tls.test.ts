import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { until } from "#test/flow/client.ts";
import { createTestInstance, type TestInstance } from "#test/harness/instance.ts";
import { type RoleProcess, startRoleProcess } from "#test/harness/processes.ts";
import { provided } from "#test/harness/provided.ts";
import { type RedisServer, startRedisServer } from "#test/harness/redis-servers.ts";

interface Readiness {
  degraded: string[];
  checks: Record<string, { ok: boolean; detail: unknown }>;
}

describe("fault: a Redis with TLS of an own authority, that evicts keys", function () {
  this.timeout(60_000);
  let folder: string;
  let server: RedisServer;
  let instance: TestInstance;
  let web: RoleProcess | undefined;

  const openssl = (...args: string[]) =>
    execFileSync("openssl", args, { cwd: folder, stdio: "pipe" });

  before(async function () {
    folder = join(provided("TEST_DATA"), "authority");
    mkdirSync(folder, { recursive: true });
    try {
      openssl("version");
    } catch {
      console.log("      no openssl on PATH: skipped");
      this.skip();
    }
    const subject = (name: string) => ["-subj", `/CN=${name}`, "-days", "2", "-nodes"];
    openssl(
      "req",
      "-x509",
      "-newkey",
      "rsa:2048",
      "-keyout",
      "ca.key",
      "-out",
      "ca.pem",
      ...subject("own"),
    );
    openssl(
      ...["req", "-x509", "-newkey", "rsa:2048", "-keyout", "redis.key", "-out", "redis.pem"],
      ...subject("localhost"),
      ...["-CA", "ca.pem", "-CAkey", "ca.key", "-addext", "subjectAltName=DNS:localhost"],
    );
    const files = ["tls-cert-file redis.pem", "tls-key-file redis.key", "tls-ca-cert-file ca.pem"];
    server = await startRedisServer(
      [
        ...files.map((line) => line.replace(" ", ` ${folder}/`)),
        ...["tls-auth-clients no", "requirepass secret", "maxmemory-policy allkeys-lru"],
      ],
      { tls: { ca: readFileSync(join(folder, "ca.pem")) }, host: "localhost", password: "secret" },
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
    web = await startRoleProcess("web", { ...env(), NODE_EXTRA_CA_CERTS: join(folder, "ca.pem") });
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
