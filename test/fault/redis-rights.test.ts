import { expect } from "chai";
import { createClient, until } from "#test/flow/client.ts";
import { openCountry, placeOf, type Country } from "#test/flow/country.ts";
import { createTestInstance, type TestInstance } from "#test/harness/instance.ts";
import { type RoleProcess, startRoleProcess } from "#test/harness/processes.ts";
import { type RedisServer, startRedisServer } from "#test/harness/redis-servers.ts";

interface Readiness {
  degraded: string[];
  checks: Record<string, { ok: boolean; detail: unknown }>;
}

/** What hosted servers usually give; docs/operations.md names what it lacks. */
const usual = "+@all -@admin -@dangerous";

describe("fault: a Redis whose user may not do everything", function () {
  this.timeout(120_000);
  let server: RedisServer;
  let instance: TestInstance;
  let country: Country;
  const roles = new Map<string, RoleProcess>();

  before(async () => {
    server = await startRedisServer(["maxmemory-policy noeviction"]);
    await server.client.call(
      "ACL",
      "SETUSER",
      "few",
      "on",
      ">secret",
      "~*",
      "&*",
      ...usual.split(" "),
    );
    instance = await createTestInstance({
      REDIS_URL: `redis://few:secret@127.0.0.1:${server.port}`,
    });
    country = await openCountry(instance.config, 3);
    for (const role of ["web", "marks", "snapshots", "upkeep", "webhooks", "imports", "clock"])
      roles.set(role, await startRoleProcess(role, instance.env));
  });
  after(async () => {
    await Promise.all([...roles.values()].map((role) => role.stop()));
    await country?.close();
    await instance?.drop();
    await server?.drop();
  });

  const readiness = async (): Promise<Readiness> =>
    (await (await fetch(`${roles.get("web")!.baseUrl}/readyz`)).json()) as Readiness;
  const loud = (role: RoleProcess): string[] =>
    role.lines.filter((line) => /"level":(40|50|60)/.test(line));

  it("works all the same, names the missing right once, and calls Redis degraded", async () => {
    const client = createClient(roles.get("web")!.baseUrl, country.secret);
    expect((await client.mark(placeOf(0), "ann", { status: "yes" })).status).to.be.oneOf([
      200, 202,
    ]);
    await until(
      () => client.get(`/stations/${placeOf(0).id}`),
      ({ body }) => body.station.fuel.status === "yes",
    );
    await until(() => server.client.exists(`${instance.redisPrefix}:dump:5`), Boolean);
    const { checks } = await until(readiness, ({ degraded }) => degraded.includes("eviction"));
    expect(checks["eviction"]!.detail).to.include("+info");
    for (const role of roles.values())
      expect(loud(role).length, `${role.role}:\n${loud(role).slice(0, 20).join("\n")}`).to.be.below(
        5,
      );
    expect(loud(roles.get("web")!).join()).to.include("add +info to its rights");
  });

  it("is well again with the right that was named", async () => {
    await server.client.call("ACL", "SETUSER", "few", "+info");
    await until(readiness, ({ degraded }) => !degraded.includes("eviction"), 90_000);
  });
});
