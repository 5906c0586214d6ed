import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { createClock } from "#src/clock.ts";
import { createDb, type Db } from "#src/db.ts";
import { createFollower, type Follower } from "#src/follower.ts";
import { createLog } from "#src/log.ts";
import { writeStations } from "#test/api/reads-country.ts";
import { createTestInstance, type TestInstance } from "#test/harness/instance.ts";

const place = (n: number) => ({ id: `f${n}`, lat: 50 + n / 1000, lon: 30 });
/** More than are given out in one turn, and than one page holds. */
const count = 300;

describe("a follower of the change feed", function () {
  this.timeout(30_000);
  let instance: TestInstance;
  let db: Db;
  before(async () => {
    instance = await createTestInstance();
    db = createDb(instance.config, "setup");
    await writeStations(
      db,
      Array.from({ length: count }, (_, n) => place(n)),
    );
  });
  after(async () => {
    await db.destroy();
    await instance.drop();
  });

  const follow = (onRows: () => void): Follower =>
    createFollower({
      db,
      config: instance.config,
      log: createLog({ logLevel: "silent" }, "test"),
      clock: createClock(instance.config),
      onRows,
    });

  it("keeps as_of behind a change until it is given out, also while it catches up with later ones of the same station", async () => {
    let caughtUp = false;
    const during: number[] = [];
    const follower = follow(() => {
      if (caughtUp) during.push(follower.asOf(Infinity));
    });
    await follower.refresh();
    caughtUp = true;
    await writeStations(db, [place(0)]);
    const [stamp] = await db("changes").where("station_id", "f0").select("at");
    // Longer than as_of lags behind by its whole seconds.
    await sleep(3100);
    await writeStations(
      db,
      Array.from({ length: count - 1 }, (_, n) => place(n + 1)),
    );
    await writeStations(db, [place(0)]);
    await follower.refresh();
    expect(during.length).to.be.greaterThan(5);
    for (const asOf of during) expect(asOf).to.be.at.most((stamp as { at: Date }).at.getTime());
    expect(follower.asOf(Infinity)).to.be.greaterThan((stamp as { at: Date }).at.getTime());
  });
});
