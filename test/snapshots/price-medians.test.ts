import { expect } from "chai";
import { cellOf, createPriceGrid } from "#src/domain/price-line.ts";
import { createLog } from "#src/infrastructure/log.ts";
import type { Redis } from "#src/infrastructure/redis.ts";
import {
  createLatestMedians,
  findMedians,
  saveMedians,
} from "#snapshots/insights/price-medians.ts";
import { until } from "#test/flow/client.ts";
import { useRedis } from "#test/harness/use.ts";
import { deleteKeys } from "#test/harness/redis.ts";

const hourMs = 3600_000;
const place = { lat: 55, lon: 37 };
const cell = cellOf(place);

describe("medians of prices", () => {
  const space = useRedis({ INSIGHTS_MS: "100" });
  let redis: Redis;
  let now = 0;
  const log = createLog({ logLevel: "silent" }, "test");

  before(() => void ({ redis } = space));

  it("leaves out cells without one", async () => {
    const grid = createPriceGrid(space.config);
    for (let n = 0; n < 10; n += 1) grid.add(place, { "95": 60 });
    grid.add({ lat: 10, lon: 10 }, {});
    expect(await findMedians(grid)).to.deep.equal({ [cell]: { "95": 60 } });
  });

  it("are there after the first look, stay when Redis loses them, and end after three hours", async () => {
    const { config } = space;
    const latest = createLatestMedians({ config, log, redis, clock: () => now });
    await latest.start();
    try {
      expect(latest.at(place)).to.deep.equal({});
      await saveMedians(redis, config.redisPrefix, { [cell]: { "95": 60 } }, now);
      await until(
        async () => latest.at(place),
        (found) => found["95"] === 60,
      );
      expect(latest.at({ lat: 10, lon: 10 })).to.deep.equal({});
      await deleteKeys(space.config.redisUrl, space.redisPrefix);
      now = 3 * hourMs - 1;
      expect(latest.at(place)).to.deep.equal({ "95": 60 });
      now = 3 * hourMs;
      expect(latest.at(place)).to.deep.equal({});
      await saveMedians(redis, config.redisPrefix, { [cell]: { "95": 70 } }, now);
      await until(
        async () => latest.at(place),
        (found) => found["95"] === 70,
      );
      // One that starts then has them at once.
      const other = createLatestMedians({ config, log, redis, clock: () => now });
      await other.start();
      expect(other.at(place)).to.deep.equal({ "95": 70 });
      await other.stop();
    } finally {
      await latest.stop();
    }
  });
});
