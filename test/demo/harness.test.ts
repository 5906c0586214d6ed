import { expect } from "chai";
import fc from "fast-check";
import pg from "pg";
import { hourMs } from "#src/domain/units.ts";
import { needServers } from "#demo/test-needs.ts";
import { useStage } from "#test/flow/stage.ts";
import { createTestInstance } from "#test/harness/instance.ts";
import { drawPauseMs, leftOfHourMs } from "#test/harness/pause.ts";

describe("the test harness", () => {
  it("refuses to drop a database that a test is still connected to", async () => {
    const instance = await createTestInstance();
    const client = new pg.Client({
      connectionString: instance.databaseUrl,
      application_name: "forgotten",
    });
    client.on("error", () => undefined);
    await client.connect();
    const fault = await instance.drop().then(
      () => "",
      (error: Error) => error.message,
    );
    expect(fault).to.match(/left open.*forgotten/s);
  });

  it("draws the same pauses from the same seed, all between their ends", () => {
    const whole = fc.integer({ min: 0, max: 5000 });
    fc.assert(
      fc.property(whole, whole, fc.string(), (low, more, from) => {
        const pause = drawPauseMs(`${low}-${low + more}`, from);
        expect(pause).to.be.within(low, low + more);
        expect(drawPauseMs(`${low}-${low + more}`, from)).to.equal(pause);
        expect(drawPauseMs(String(low), from)).to.equal(low);
      }),
    );
    const drawn = Array.from({ length: 300 }, (_, n) => drawPauseMs("0-3000", `1 a ${n}`));
    expect(Math.min(...drawn)).to.be.below(100);
    expect(Math.max(...drawn)).to.be.above(2900);
  });

  it("starts servers for the files that reach them, and for no other", () => {
    for (const needy of ["flow/people", "demo/harness", "demo/runtime", "browser/status"])
      expect(needServers(["domain/time", needy].map((name) => `test/${name}.test.ts`))).to.equal(
        true,
      );
    expect(needServers(["test/domain/time.test.ts", "test/web/age.test.ts"])).to.equal(false);
  });

  it("begins no file in the last minute of an hour", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1e13 }), (now) => {
        const wait = leftOfHourMs(now);
        if (wait > 0) expect((now + wait) % hourMs).to.equal(0);
        expect(hourMs - ((now + wait) % hourMs)).to.be.above(60_000);
      }),
    );
    for (const [end, wait] of [
      [0, 0],
      [1, 1],
      [60_000, 60_000],
    ] as const)
      expect(leftOfHourMs(7 * hourMs - end)).to.equal(wait);
  });
});

describe("the country of a stage", () => {
  const { client } = useStage(20, ["web"]);

  it("is older than what a delta repeats, however fast the machine is", async () => {
    const { as_of: since, count } = (await client.get("/stations/all")).body;
    expect(count).to.equal(20);
    const delta = await client.get(`/stations/delta?updated_since=${encodeURIComponent(since)}`);
    expect(delta.body.stations).to.deep.equal([]);
  });
});
