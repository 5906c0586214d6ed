import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { createRandom } from "#demo/country/random.ts";
import { type Country, openCountry } from "#test/flow/country.ts";
import { addPartner } from "#test/flow/more-partners.ts";
import { addOperator, testPassword } from "#test/flow/operators.ts";
import { createClient, until } from "#test/flow/client.ts";
import { createTestInstance, type TestInstance } from "#test/harness/instance.ts";
import { type RoleProcess, startRoleProcess } from "#test/harness/processes.ts";
import type { Fault } from "#test/soak/faults.ts";
import {
  type Flooded,
  floodMap,
  floodPages,
  floodPartner,
  floodSignIn,
  leaveUnread,
} from "#test/soak/floods.ts";
import { type Answered, heldBy, lookAtOthers, type Served } from "#test/soak/others.ts";

/** A large country: near the stations of other tests, so that its pages and lists are long. */
const count = 5000;
const layout = {
  placeOf: (n: number) => ({ id: `n${1000 + n}`, lat: 54 + (n % 500) * 0.0027, lon: 37 + n / 5e4 }),
  cities: Array.from({ length: 1200 }, (_, n) => ({
    ...{ name: `Город ${n}`, lat: 54 + (n % 500) * 0.0027, lon: 37 + n / 12_000 },
  })),
};
const random = createRandom(7);

describe("fault: floods and callers who do not read leave others alone", function () {
  this.timeout(300_000);
  let instance: TestInstance;
  let country: Country;
  let roles: RoleProcess[];
  let flooded: Flooded;
  before(async () => {
    instance = await createTestInstance({
      ...{ TRUSTED_PROXIES: "127.0.0.1", SIGN_INS_PER_MINUTE: "1000", UNREAD_BYTES: "20000000" },
      ...{ NEW_REPORTERS_DAILY: "1000000", MASS_NO_LIMIT: "1000000" },
    });
    country = await openCountry(instance.config, count, layout);
    const names = ["web", "marks", "snapshots", "clock"];
    roles = await Promise.all(names.map((name) => startRoleProcess(name, instance.env)));
    const limited = await addPartner(country, { rpm: 120, daily: 50_000 });
    await addOperator(country.db, "olga");
    const credentials = { name: "olga", password: testPassword };
    flooded = { country, limited, credentials, webs: [{ name: "web", process: () => roles[0]! }] };
    const overview = (): Promise<string> =>
      fetch(`${roles[0]!.baseUrl}/overview`).then((answer) => answer.text());
    await until(overview, (html) => html.includes("page=2"));
  });
  after(async () => {
    await Promise.all((roles ?? []).map((role) => role.stop()));
    await country?.close();
    await instance?.drop();
  });

  /** Twenty reads and ten marks a second of a partner, for so long, and as long as they take. */
  const serve = async (forMs: number): Promise<Served> => {
    const client = createClient(roles[0]!.baseUrl, country.secret);
    const startedAt = Date.now();
    const each = async (
      everyMs: number,
      call: () => Promise<{ status: number }>,
    ): Promise<Answered[]> => {
      const calls: Promise<Answered>[] = [];
      while (Date.now() < startedAt + forMs) {
        const at = performance.now();
        const answer = call().catch(() => ({ status: 0 }));
        calls.push(answer.then(({ status }) => ({ ms: performance.now() - at, status })));
        await sleep(everyMs);
      }
      return Promise.all(calls);
    };
    const station = () => layout.placeOf(random.int(0, count - 1));
    const [reads, marks] = await Promise.all([
      each(50, () => client.get(`/stations/${station().id}`)),
      each(100, () => client.mark(station(), `user ${random.next()}`, { status: "yes" })),
    ]);
    return { forMs: Date.now() - startedAt, reads, marks };
  };
  /** What others have of it. */
  const compare = async (
    begin: (of: Flooded, by: typeof random) => Promise<Fault> | Fault,
    look: () => unknown = () => undefined,
  ): Promise<void> => {
    await serve(1000);
    const before = await serve(3000);
    const fault = await begin(flooded, random);
    try {
      const found = lookAtOthers(before, await serve(6000), fault.mayRefuse);
      expect([...found, ...((await fault.look?.()) ?? [])]).to.deep.equal([]);
      await look();
    } finally {
      await fault.end();
    }
  };

  for (const [name, begin] of Object.entries({ floodPages, floodSignIn, floodPartner, floodMap }))
    it(`answers others as before in ${name}`, () => compare(begin));

  it("keeps little of what nobody reads, and gives it back", async () => {
    const { residentMb } = await heldBy(flooded.webs[0]!);
    // Of two megabytes each.
    await compare(
      (...of) => leaveUnread(...of, { connections: 20, answers: 3 }),
      async () => {
        expect((await heldBy(flooded.webs[0]!)).residentMb).to.be.lessThan(residentMb + 200);
      },
    );
    const metrics = (): Promise<string> =>
      fetch(`${roles[0]!.baseUrl}/metrics`).then((answer) => answer.text());
    await until(metrics, (text) => text.includes("fuelmark_unread_bytes 0\n"), 10_000);
  });

  it("writes all stations as CSV for about what GeoJSON costs", async () => {
    const ticks = (): number => {
      const text = readFileSync(`/proc/${roles[0]!.pid}/stat`, "latin1");
      const [user, system] = text
        .slice(text.lastIndexOf(")") + 2)
        .split(" ")
        .slice(11, 13);
      return Number(user) + Number(system);
    };
    const headers = { Authorization: `Bearer ${country.secret}`, "Accept-Encoding": "identity" };
    const costOf = async (form: string): Promise<number> => {
      const before = ticks();
      for (let n = 0; n < 20; n += 1) {
        const url = `${roles[0]!.baseUrl}/api/v1/partner/stations/all.${form}?limit=${count + n}`;
        await (await fetch(url, { headers })).arrayBuffer();
      }
      return ticks() - before;
    };
    await costOf("csv");
    const geojson = await costOf("geojson");
    expect(await costOf("csv")).to.be.lessThan(4 * geojson + 20);
  });
});
