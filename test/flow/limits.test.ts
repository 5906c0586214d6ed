import { expect } from "chai";
import { type Client, createClient, until } from "#test/flow/client.ts";
import { addPartner, type OtherPartner } from "#test/flow/more-partners.ts";
import { useStage } from "#test/flow/stage.ts";
import { fire } from "#test/flow/volley.ts";
import type { WireAnswer } from "#test/harness/wire.ts";
import { usualPatience } from "#test/harness/instance.ts";
import { sized } from "#test/harness/long.ts";
import { type RunningRole, startRole } from "#test/harness/roles.ts";
import { usePrivateRedis } from "#test/harness/use.ts";

const minuteMs = 60_000;
const dayMs = 86_400_000;
const processes = 4;
const perProcess = 100;
const limit = 120;
const path = "/cities?limit=1";
const rounds = sized(2, 20);
const minuteOf = (time: number): number => Math.floor(time / minuteMs);

describe("flow: limits over four processes", () => {
  const redis = usePrivateRedis();
  const { instance, country } = useStage(1, [], {
    ...usualPatience,
    // Counts are exact only while Redis answers; where it is away, it is killed, which is seen at once.
    REDIS_TIMEOUT_MS: "5000",
  });
  let webs: RunningRole[] = [];
  let servers: string[];
  /** How far the clock of processes, SQL and the meter is ahead of the machine's. */
  let offsetMs = 0;
  let quota: OtherPartner;

  after(() => Promise.all(webs.map((web) => web.stop())));

  const now = (): number => Date.now() + offsetMs;
  /** Starts the processes anew, with a clock that shows this time, or up to a second more. */
  const startAt = async (time: number): Promise<void> => {
    await Promise.all(webs.map((web) => web.stop()));
    offsetMs = Math.ceil((time - Date.now()) / 1000) * 1000;
    const env = {
      ...instance.env,
      REDIS_URL: redis.url,
      TRUSTED_PROXIES: "127.0.0.1",
      CLOCK_OFFSET_S: String(offsetMs / 1000),
    };
    webs = await Promise.all(Array.from({ length: processes }, () => startRole("web", env)));
    servers = webs.map((web) => web.baseUrl);
  };
  /** A volley must end in the minute that it has begun in. */
  const earlyInMinute = async (): Promise<void> => {
    if (webs.length === 0 || now() % minuteMs > 15_000)
      await startAt((Math.floor(now() / minuteMs) + 1) * minuteMs);
  };
  const counted = (shots: readonly WireAnswer[]): Record<string, number> => {
    const counts: Record<string, number> = {};
    for (const { status, code } of shots) {
      const name = `${status} ${code}`.trim();
      counts[name] = (counts[name] ?? 0) + 1;
    }
    return counts;
  };
  const values = (shots: readonly WireAnswer[], name: string): (string | null)[] => [
    ...new Set(shots.map((shot) => shot.headers.get(name))),
  ];
  const refusals = (shots: readonly WireAnswer[]) => shots.filter(({ status }) => status === 429);
  const usedToday = async (key: string): Promise<number> => {
    const client: Client = createClient(servers[0]!, key);
    return (await client.get("/usage?days=1")).body.today.requests as number;
  };

  /** What 400 simultaneous requests of a partner with 120 a day left must come to. */
  const expectDayUsedUp = (shots: readonly WireAnswer[]): void => {
    expect(counted(shots)).to.deep.equal({
      "200": limit,
      "429 daily-quota-exceeded": processes * perProcess - limit,
    });
    expect(values(shots, "X-RateLimit-Daily-Limit")).to.deep.equal([String(limit)]);
    expect(values(refusals(shots), "X-RateLimit-Daily-Remaining")).to.deep.equal(["0"]);
    const left = shots
      .filter(({ status }) => status === 200)
      .map((shot) => Number(shot.headers.get("X-RateLimit-Daily-Remaining")))
      .sort((a, b) => a - b);
    expect(left).to.deep.equal(Array.from({ length: limit }, (_, n) => n));
  };

  it("admits exactly the day's quota, says when the day ends, and gives the whole quota anew after 00:00 UTC", async () => {
    const midnight = Math.ceil(now() / dayMs) * dayMs;
    await startAt(midnight - 10 * minuteMs);
    quota = await addPartner(country, { rpm: 100_000, daily: limit });
    const before = now();
    const shots = await fire(servers, perProcess, path, quota.secret);
    expectDayUsedUp(shots);
    for (const shot of refusals(shots)) {
      const seconds = Number(shot.headers.get("Retry-After"));
      expect(seconds).to.be.within(
        Math.floor((midnight - now()) / 1000),
        Math.ceil((midnight - before) / 1000),
      );
    }
    await startAt(midnight);
    expectDayUsedUp(await fire(servers, perProcess, path, quota.secret));
    const { secret } = await addPartner(country);
    const { body } = await createClient(servers[1]!, secret).get("/usage?days=1");
    expect(body.today.date).to.equal(new Date(midnight).toISOString().slice(0, 10));
  });

  it(`admits exactly the minute's limit, in each of ${rounds} rounds with a new partner`, async () => {
    for (let round = 0; round < rounds; round += 1) {
      const { secret } = await addPartner(country, { rpm: limit, daily: 50_000 });
      await earlyInMinute();
      const minute = minuteOf(now());
      const shots = await fire(servers, perProcess, path, secret);
      // On a busy machine a volley may last until the next minute: it says nothing then.
      if (minuteOf(now()) !== minute) {
        round -= 1;
        continue;
      }
      expect(counted(shots), `round ${round}`).to.deep.equal({
        "200": limit,
        "429 rate-limit-exceeded": processes * perProcess - limit,
      });
      // All of it in one minute, whose end every answer names.
      const ends = values(shots, "X-RateLimit-Reset").map(Number);
      expect(ends).to.deep.equal([(Math.floor(now() / minuteMs) + 1) * (minuteMs / 1000)]);
      for (const shot of refusals(shots)) {
        expect(Number(shot.headers.get("Retry-After"))).to.be.within(1, 60);
        expect(shot.headers.get("X-RateLimit-Remaining")).to.equal("0");
        // What the minute refuses is not taken from the day.
        expect(shot.headers.get("X-RateLimit-Daily-Remaining")).to.equal(String(50_000 - limit));
      }
    }
  });

  it("admits each viewer of a page its own limit, and takes nothing from the secret keys'", async () => {
    const { secret, publishable } = await addPartner(country, { rpm: limit, daily: 50_000 });
    await earlyInMinute();
    const viewers = ["192.0.2.1", "192.0.2.2"];
    const volleys = viewers.map((viewer) => fire(servers, 40, path, publishable, { viewer }));
    for (const shots of await Promise.all(volleys))
      expect(counted(shots)).to.deep.equal({ "200": limit, "429 rate-limit-exceeded": 40 });
    const own = await fire(servers, 1, path, secret);
    expect(counted(own)).to.deep.equal({ "200": processes });
    expect(await usedToday(secret)).to.equal(processes + 1);
  });

  const kills: [string, () => void][] = [
    ["killed with requests on their way", () => undefined],
    ["frozen, and killed with requests waiting for it", () => redis.freeze()],
  ];
  for (const [how, prepare] of kills) {
    it(`admits at most the limit for each process and one more, and answers no 5xx, when Redis is ${how}`, async () => {
      for (let isOver = true; isOver;) {
        await until(
          () =>
            Promise.all(servers.map((server) => fetch(`${server}/readyz`).then((r) => r.json()))),
          (all) => all.every((one) => !(one as { degraded: string[] }).degraded.includes("redis")),
        );
        const { secret } = await addPartner(country, { rpm: limit, daily: 50_000 });
        await earlyInMinute();
        const minute = minuteOf(now());
        // Every process has seen the key, and some of the limit is used up while they share it.
        const first = await fire(servers, 10, path, secret);
        try {
          prepare();
          let killed = Promise.resolve();
          const during = await fire(servers, perProcess, path, secret, {
            sent: () => void (killed = redis.kill9()),
          });
          await killed;
          const after = await fire(servers, perProcess, path, secret);
          // Each process alone knows its limit by now, and keeps it.
          const last = counted(await fire(servers, limit, path, secret));
          // On a busy machine the volleys may last until the next minute: they say nothing then.
          isOver = minuteOf(now()) !== minute;
          if (isOver) continue;
          const shots = [...first, ...during, ...after];
          const { "200": admitted = 0, ...others } = counted(shots);
          expect(others).to.have.all.keys("429 rate-limit-exceeded");
          expect(admitted).to.be.within(limit, limit * (processes + 1));
          expect(last).to.have.all.keys("429 rate-limit-exceeded");
          expect(values(shots, "X-RateLimit-Reset")).to.have.length(1);
        } finally {
          await redis.restart();
        }
      }
    });
  }
});
