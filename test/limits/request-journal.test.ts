import { expect } from "chai";
import { type Config, loadConfig } from "#src/infrastructure/config.ts";
import { createLog } from "#src/infrastructure/log.ts";
import { createRedis, partnerPrefix, type Redis } from "#src/infrastructure/redis.ts";
import type { KeyInfo } from "#src/keys/key-store.ts";
import { quotaDecision } from "#src/limits/limiter.ts";
import { createRequestJournal, recentRequests } from "#src/limits/request-journal.ts";
import { createTestRedis, type TestRedis } from "#test/harness/redis.ts";

// How it behaves over HTTP, with two processes and over outages, is in test/flow/troubles.test.ts.
describe("request journal", () => {
  let space: TestRedis;
  let config: Config;
  let redis: Redis;
  const log = createLog({ logLevel: "silent" }, "test");

  beforeEach(() => {
    space = createTestRedis();
    config = loadConfig({ REDIS_URL: space.redisUrl, REDIS_PREFIX: space.redisPrefix });
    // Not connected before this turn is over: what is told until then has to wait.
    redis = createRedis(config, log);
  });
  afterEach(async () => {
    redis.disconnect();
    await space.drop();
  });

  const ready = async (): Promise<void> => {
    if (redis.status !== "ready") await new Promise((done) => redis.once("ready", done));
  };
  const keyOf = (partnerId: number): KeyInfo => ({
    ...{ id: partnerId, kind: "secret", partnerId, domains: [], ips: [], confirmMin: 0 },
    ...{ reports: true, massNoLimit: 20, limited: null, expiresAt: null },
    partner: {
      ...{ id: partnerId, name: "", rpm: 9, daily: 9, enabled: true, bindIps: true },
      ...{ acceptRemote: true, cacheTtlS: null, newUsersDaily: null, launch: null },
    },
  });
  const tell = (partners: number, each: number) => {
    const noted = new Map<string, number>();
    const nowS = Date.UTC(2026, 10, 23, 7, 59, 59) / 1000;
    const journal = createRequestJournal({
      ...{ redis, config, log, clock: () => nowS * 1000 },
      note: (usage, day, field, n) =>
        noted.set(`${usage} ${day} ${field}`, (noted.get(`${usage} ${day} ${field}`) ?? 0) + n),
    });
    const quota = quotaDecision({ granted: true, rpm: 9, daily: 9, mn: 1, dn: 1, nowS });
    for (let nth = 0; nth < each; nth += 1)
      for (let partner = 1; partner <= partners; partner += 1)
        journal.finished({
          ...{ key: keyOf(partner), label: "GET /stations", status: 200, code: undefined, quota },
          ...{ ms: 1, requestId: `request-${nth}` },
        });
    return { journal, noted, now: nowS * 1000 };
  };

  it("keeps the last requests of each partner while Redis is away", async () => {
    const { journal, now } = tell(3, 1000);
    await ready();
    await journal.stop();
    for (const partner of [1, 2, 3]) {
      const found = await recentRequests(redis, config.redisPrefix, partner, "partner", false, now);
      expect(found).to.have.length(50);
      expect(found.every(({ requestId }) => Number(requestId.split("-")[1]) >= 949)).to.equal(true);
    }
  });

  it("keeps a bounded number of all, and counts every request by its hour", async () => {
    const { journal, noted } = tell(1000, 45);
    await ready();
    await journal.stop();
    const names = await redis.keys(partnerPrefix(`${config.redisPrefix}:recent:*`, "*"));
    const counts = await Promise.all(names.map((name) => redis.zcard(name)));
    expect(counts.reduce((sum, n) => sum + n, 0)).to.equal(20_000);
    const day = Date.UTC(2026, 10, 23) / 86_400_000;
    expect(noted.size).to.equal(1000);
    for (const [field, n] of noted) {
      expect(field).to.match(new RegExp(`^p\\d+ ${day} \\|hours\\|7\\|\\d+$`));
      expect(n).to.equal(45);
    }
  });
});
