import { expect } from "chai";
import { openAuthority } from "#test/fault/authority.ts";
import { createClient, until } from "#test/flow/client.ts";
import { type Country, openCountry } from "#test/flow/country.ts";
import { isSigned, type Receiver, startReceiver } from "#test/flow/webhook-receivers.ts";
import { createTestInstance, type TestInstance } from "#test/harness/instance.ts";
import { type RoleProcess, startRoleProcess } from "#test/harness/processes.ts";
import { type RunningRole, startRole } from "#test/harness/roles.ts";

describe("fault: webhooks to receivers with a certificate of an own authority", function () {
  this.timeout(60_000);
  let instance: TestInstance;
  let country: Country;
  let web: RunningRole;
  let role: RoleProcess | undefined;
  let caFile: string;
  const receivers: Receiver[] = [];

  before(async function () {
    const authority = openAuthority(this);
    caFile = authority.caFile;
    for (const name of ["IP:127.0.0.1", "DNS:other.example"])
      receivers.push(await startReceiver(authority.issue(name)));
    instance = await createTestInstance({
      ...{ WEBHOOK_NETWORKS: "127.0.0.1", WEBHOOK_PAUSE_MS: "20" },
    });
    country = await openCountry(instance.config, 1);
    web = await startRole("web", instance.env);
  });
  afterEach(async () => {
    await role?.stop();
    role = undefined;
  });
  after(async () => {
    for (const receiver of receivers) await receiver.close();
    await web?.stop();
    await country?.close();
    await instance?.drop();
  });

  /** What became of a test event to each of the receivers. */
  const tried = async (env: Record<string, string>) => {
    const client = createClient(web.baseUrl, country.secret);
    role = await startRoleProcess("webhooks", { ...instance.env, ...env });
    const found = [];
    for (const { url } of receivers) {
      const { status, body } = await client.post("/webhooks", { url, events: ["key.expiring"] });
      expect(status, JSON.stringify(body)).to.equal(201);
      await client.post(`/webhooks/${body.id}/test`, {});
      const { body: shown } = await until(
        () => client.get(`/webhooks/${body.id}/deliveries`),
        (answer) => answer.body.deliveries[0]?.attempts > 0,
      );
      await client.delete(`/webhooks/${body.id}`);
      const { status: code, fault, delivered } = shown.deliveries[0];
      found.push({ secret: body.secret, code, fault, isDelivered: delivered !== null });
    }
    return found;
  };

  it("are sent with NODE_EXTRA_CA_CERTS, but not to another name than the certificate's", async () => {
    const [right, other] = await tried({ NODE_EXTRA_CA_CERTS: caFile });
    expect(right).to.include({ code: 204, fault: null, isDelivered: true });
    expect(await isSigned(right!.secret, receivers[0]!.posts[0]!)).to.equal(true);
    expect(other).to.include({ code: null, isDelivered: false });
    expect(other!.fault).to.match(/altnames/);
    expect(receivers[1]!.posts).to.have.length(0);
  });

  it("are not sent to an authority that nobody has named", async () => {
    for (const one of await tried({})) {
      expect(one).to.include({ code: null, isDelivered: false });
      expect(one.fault).to.match(/certificate/);
    }
    expect(receivers[0]!.posts).to.have.length(1);
  });
});
