import { expect } from "chai";
import { rows } from "#src/infrastructure/db.ts";
import { createLog } from "#src/infrastructure/log.ts";
import { createPeers } from "#src/infrastructure/peers.ts";
import { createQuarantine } from "#src/infrastructure/quarantine.ts";
import { createRedis } from "#src/infrastructure/redis.ts";
import { createKeyStore } from "#src/keys/key-store.ts";
import { until } from "#test/flow/client.ts";
import { openCountry } from "#test/flow/country.ts";
import { createTestInstance } from "#test/harness/instance.ts";

const dayMs = 24 * 3600_000;

describe("keys that were read by a clock a day ahead", () => {
  it("are known as of the right time once it is right, and do not keep out what is read later", async () => {
    const instance = await createTestInstance();
    const { config } = instance;
    const country = await openCountry(config, 1);
    const { db, secret, keyId } = country;
    const log = createLog({ logLevel: "silent" }, "test");
    const redis = createRedis(config, log);
    let aheadMs = dayMs;
    const clock = (): number => Date.now() + aheadMs;
    const peers = createPeers({ role: "web", config, log, clock, db, redis });
    const needs = { db, config, log, clock, redis, peers };
    const keys = createKeyStore({ ...needs, quarantine: createQuarantine(log) });
    try {
      await until(
        () => redis.ping().catch(() => "away"),
        (said) => said === "PONG",
      );
      await keys.start();
      await keys.exchange();
      expect(keys.known(secret)).to.include({ id: keyId });
      expect(keys.refreshedAt).to.be.above(Date.now());

      aheadMs = 0;
      expect(keys.refreshedAt).to.be.at.most(Date.now());
      await rows(db, "update keys set revoked_at = server_now() where id = ?", [keyId]);
      await rows(db, "select pg_notify('keys', '')");
      await until(
        () => Promise.resolve(keys.known(secret)),
        (key) => key == null,
      );
      // What the wrong clock had stored in Redis would bring it back.
      await keys.exchange();
      await keys.exchange();
      expect(keys.known(secret) ?? null).to.equal(null);
      expect(keys.refreshedAt).to.be.at.most(Date.now());
    } finally {
      await keys.stop();
      redis.disconnect();
      await country.close();
      await instance.drop();
    }
  });
});
