import { expect } from "chai";
import { isRefusal, type Refusal } from "#src/contract/refusals.ts";
import { numbers } from "#src/infrastructure/settings/numbers.ts";
import { rows } from "#src/infrastructure/db.ts";
import { changeKey, issueKey, type KeyWish, revokeKey } from "#src/keys/issued-keys.ts";
import type { KeyKind } from "#src/keys/key-text.ts";
import { changePartner, createPartner, type PartnerChanges } from "#src/keys/partners.ts";
import { by } from "#test/harness/by.ts";
import { type Answer, createClient, until } from "#test/flow/client.ts";
import { useStage } from "#test/flow/stage.ts";
import { startRole } from "#test/harness/roles.ts";

/** What an act gives when it was done. */
function done<T extends object>(value: T | Refusal): T {
  if (isRefusal(value)) throw new Error(JSON.stringify(value));
  return value;
}

/** What the operator changes must hold on every process: at once by a wake-up, within 15 s without one. */
describe("flow: changes of keys and partners on every process", function () {
  const { instance, country, webs } = useStage(1, ["web", "web", "web"], {
    // No periodic refresh comes to the help of the tests of wake-ups; the last test uses the default.
    KEYS_REFRESH_MS: "15000",
    TRUSTED_PROXIES: "127.0.0.1",
  });
  let partner: number;

  before(async () => {
    const wish = { name: "Partner", rpm: 100_000, daily: 100_000_000 };
    partner = done(await createPartner(by(country.db, "test"), wish)).id;
  });

  // What the operator's commands call, without the seconds that a process of theirs takes to start.
  const issue = async (kind: KeyKind, wish: KeyWish = {}) => {
    const asked = { ...wish, partner_id: partner, kind };
    const { key, text } = done(await issueKey(by(country.db, "test"), asked));
    return { id: key.id, key: text };
  };
  const update = (id: number, wish: KeyWish) => changeKey(by(country.db, "test"), wish, id);
  const revoke = (id: number) => revokeKey(by(country.db, "test"), {}, id);
  const change = (changes: PartnerChanges) =>
    changePartner(by(country.db, "test"), changes, partner);
  const codeOf = ({ status, body }: Answer): string =>
    status === 200 ? "200" : String(body.type).split("/").at(-1)!;
  /** What each process answers to this key. */
  const ask = (key: string, headers: Record<string, string> = {}): Promise<string[]> =>
    Promise.all(
      webs.map((web) =>
        createClient(web.baseUrl, key).get("/cities?limit=1", headers).then(codeOf),
      ),
    );
  const everywhere = (key: string, code: string, headers: Record<string, string> = {}) =>
    until(
      () => ask(key, headers),
      (codes) => codes.every((one) => one === code),
    );

  it("a second secret key works beside the first, and the revoked first nowhere", async () => {
    const first = await issue("secret", { label: "old" });
    expect(await ask(first.key)).to.deep.equal(["200", "200", "200"]);
    const second = await issue("secret", { label: "new" });
    expect(await ask(second.key)).to.deep.equal(["200", "200", "200"]);
    expect(await ask(first.key)).to.deep.equal(["200", "200", "200"]);
    await revoke(first.id);
    await everywhere(first.key, "invalid-key");
    expect(await ask(second.key)).to.deep.equal(["200", "200", "200"]);
    for (const again of [await revoke(first.id), await update(first.id, { label: "x" })])
      expect(again).to.have.nested.property("about.state", "revoked");
  });

  it("addresses can be bound and let go, blocks of both families and IPv4-mapped ones", async () => {
    const { id, key } = await issue("secret");
    await everywhere(key, "200", { "X-Forwarded-For": "198.51.100.1" });
    await update(id, { ips: ["192.0.2.0/24", "2001:db8::/32"] });
    await everywhere(key, "ip-not-allowed", { "X-Forwarded-For": "198.51.100.1" });
    for (const ip of ["192.0.2.255", "::ffff:192.0.2.1", "2001:db8:ffff::1"])
      expect(await ask(key, { "X-Forwarded-For": ip }), ip).to.deep.equal(["200", "200", "200"]);
    await change({ bind_ips: false });
    await everywhere(key, "200", { "X-Forwarded-For": "198.51.100.1" });
    await change({ bind_ips: true });
    await everywhere(key, "ip-not-allowed", { "X-Forwarded-For": "198.51.100.1" });
    await update(id, { ips: [] });
    await everywhere(key, "200", { "X-Forwarded-For": "198.51.100.1" });
  });

  it("a partner can be switched off and on with all its keys", async () => {
    const secret = await issue("secret");
    const page = await issue("publishable");
    await change({ enabled: false });
    for (const { key } of [secret, page]) await everywhere(key, "partner-disabled");
    await change({ enabled: true });
    for (const { key } of [secret, page]) await everywhere(key, "200");
  });

  it("all of it when no wake-up comes, by the next refresh, which is due within 15 s", async () => {
    expect(numbers.keysRefreshMs).to.be.below(15_000);
    const [revoked, bound, limited] = [
      await issue("secret"),
      await issue("secret"),
      await issue("secret"),
    ];
    const env = { ...instance.env, KEYS_REFRESH_MS: "500" };
    await Promise.all(webs.map((web) => web.stop()));
    webs.push(...(await Promise.all(webs.splice(0).map(() => startRole("web", env)))));
    for (const { key } of [revoked, bound, limited]) await everywhere(key, "200");
    // Written past the operator's commands, so that nobody is woken.
    await rows(country.db, "update keys set revoked_at = server_now() where id = ?", [revoked.id]);
    await rows(country.db, "update keys set ips = '{192.0.2.1}' where id = ?", [bound.id]);
    await rows(country.db, "update partners set rpm = 777, daily = 7777 where id = ?", [partner]);
    const headers = (): Promise<string[]> =>
      Promise.all(
        webs.map(async (web) => {
          const answer = await createClient(web.baseUrl, limited.key).get("/cities?limit=1");
          return `${answer.headers.get("x-ratelimit-limit")} ${answer.headers.get("x-ratelimit-daily-limit")}`;
        }),
      );
    await Promise.all([
      everywhere(revoked.key, "invalid-key"),
      everywhere(bound.key, "ip-not-allowed"),
      until(headers, (all) => all.every((one) => one === "777 7777")),
    ]);
  });
});
