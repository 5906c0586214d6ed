import { expect } from "chai";
import fc from "fast-check";
import { runMeter } from "#src/limits/limiter.ts";
import { partnerPrefix } from "#src/infrastructure/redis.ts";
import { minuteFigures } from "#src/limits/usage-minutes.ts";
import { useRedis } from "#test/harness/use.ts";

describe("busy minutes", () => {
  const space = useRedis();
  let partner = 0;

  /** `n` requests of a bucket in the minute `minutesAgo`. */
  const send = (bucket: string, n: number, minutesAgo: number, usage = bucket, rpm = 100_000) =>
    runMeter(space.redis, space.redisPrefix, -60 * minutesAgo, {
      takes: [
        {
          bucket,
          usage,
          rpm,
          daily: 100_000_000,
          ...{ floorDay: 0, floor: 0, floorMinute: 0, floorMn: 0 },
          uses: [["GET /stations", n]],
        },
      ],
      unsent: [],
      notes: [],
    });
  const sendMinutes = async (counts: readonly number[]): Promise<void> => {
    partner += 1;
    for (const [i, n] of counts.entries()) await send(`p${partner}`, n, counts.length - i);
  };
  const figures = (of = partner) => {
    const today = Math.floor(Date.now() / 86_400_000);
    return minuteFigures(space.redis, space.redisPrefix, of, today, 2);
  };
  // What is kept of a count: two digits, rounded up.
  const kept = (n: number): number => {
    const step = 10 ** Math.max(0, String(n).length - 2);
    return Math.ceil(n / step) * step;
  };

  it("are those of 95 of 100 minutes, and the busiest, the running one included", async () => {
    await sendMinutes(Array.from({ length: 20 }, (_, i) => i + 1));
    expect(await figures()).to.deep.equal({ p95: 19, peak: 20, minutes: 20, refused: 0 });
  });

  it("are known of a partner without requests too: there are none", async () => {
    expect(await figures(4711)).to.equal(null);
  });

  it("count a minute once, however many calls it had", async () => {
    partner += 1;
    await send(`p${partner}`, 3, 9);
    await send(`p${partner}`, 4, 9);
    await send(`p${partner}`, 1, 5);
    const seen = await figures();
    // The clock may have gone on to the next minute between the first two.
    expect([seen?.minutes, seen?.peak]).to.deep.equal(seen?.minutes === 2 ? [2, 7] : [3, 4]);
  });

  it("say how many requests a limit refused", async () => {
    partner += 1;
    const bucket = `p${partner}`;
    await send(bucket, 7, 0, bucket, 5);
    await send(bucket, 4, 0, bucket, 1);
    expect((await figures())?.refused).to.be.within(5, 6);
    await send("pk:2:viewer", 9, 0, "w2", 5);
    const names = await space.redis.keys(partnerPrefix(`${space.redisPrefix}:minutes:*`, "*"));
    expect(names).not.to.be.empty;
    expect(names.filter((name) => name.includes("pk:"))).to.deep.equal([]);
  });

  it("are not told of viewers' own budgets", async () => {
    await send("pk:1:viewer", 5, 3, "w1");
    await send("pk:1:viewer", 5, 1, "w1");
    const names = await space.redis.keys(partnerPrefix(`${space.redisPrefix}:minutes:*`, "*"));
    expect(names).not.to.be.empty;
    expect(names.filter((name) => name.includes("pk:"))).to.deep.equal([]);
  });

  it("are as a walk through all minutes finds them, to two digits", async () => {
    const minutes = fc.array(fc.integer({ min: 1, max: 5000 }), { minLength: 1, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(minutes, async (counts) => {
        await sendMinutes(counts);
        // The last minute is not over: its count is exact.
        const sorted = counts
          .map((n, i) => (i === counts.length - 1 ? n : kept(n)))
          .sort((a, b) => a - b);
        expect(await figures()).to.deep.equal({
          p95: sorted[Math.ceil(0.95 * sorted.length) - 1],
          peak: sorted.at(-1),
          minutes: counts.length,
          refused: 0,
        });
      }),
      { numRuns: 30 },
    );
  });
});
