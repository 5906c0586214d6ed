import { expect } from "chai";
import { nightFrom, nightTo } from "#src/domain/wall-clock.ts";
import { dayS } from "#src/domain/units.ts";
import { createLog } from "#src/infrastructure/log.ts";
import { rows } from "#src/infrastructure/db.ts";
import { createProducer, type Producer } from "#src/infrastructure/queues.ts";
import { localTime } from "#src/pushes/alerts/local-time.ts";
import { deleteKeys } from "#test/harness/redis.ts";
import { startRole } from "#test/harness/roles.ts";
import { type Answer, createClient, until } from "#test/flow/client.ts";
import { writeChances } from "#test/flow/chances.ts";
import { type Place, placeOf } from "#test/flow/country.ts";
import {
  type Browser,
  newBrowser,
  type PushService,
  signedBy,
  startPushService,
} from "#test/flow/push-services.ts";
import { retireAlerts } from "#src/pushes/alerts/devices.ts";
import { useStage } from "#test/flow/stage.ts";

const driver = "driver 1";
const others = "driver 2";
const third = "driver 3";
const fourth = "driver 4";
const fifth = "driver 5";
const sixth = "driver 6";
const alertsPerDevice = 3;

/** A zone in which it is about `hour` o'clock now, so that no test meets a midnight or a night of its own. */
const zoneWhereItIs = (hour: number): string => {
  const ahead = (hour - new Date().getUTCHours() + 24) % 24;
  // West of Greenwich is plus there, and 14 hours are the most.
  return ahead <= 12 ? `Etc/GMT-${ahead}` : `Etc/GMT+${24 - ahead}`;
};

describe("flow: drivers are told of fuel", function () {
  const { instance, country, web } = useStage(60, ["web", "marks", "upkeep"], {
    WEBHOOK_HTTP: "true",
    WEBHOOK_NETWORKS: "127.0.0.1",
    WEBHOOK_PAUSE_MS: "20",
    WEBHOOK_TIMEOUT_MS: "60000",
    ALERT_GAP_MS: "0",
    ALERTS_PER_DEVICE: String(alertsPerDevice),
  });
  let service: PushService;
  let producer: Producer;
  let stations = 0;
  let slot = 0;

  before(async () => {
    for (const one of [driver, others, third, fourth, fifth, sixth]) await country.meet(one, 9000);
    service = await startPushService();
    producer = createProducer(instance.config, createLog({ logLevel: "silent" }, "test"));
  });
  afterEach(async () => {
    await rows(country.db, "delete from push_devices");
    service.pushed = [];
    service.answer = (response) => void response.writeHead(201).end();
  });
  after(async () => {
    await producer.close();
    await service.close();
  });

  const call = async (
    path: string,
    body: object,
    headers: Record<string, string> = {},
  ): Promise<Answer> => {
    const response = await fetch(`${web.baseUrl}/alerts${path}`, {
      method: "POST",
      headers: { Origin: web.baseUrl, "Content-Type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    const { status, headers: answered } = response;
    return { status, headers: answered, body: text === "" ? null : (JSON.parse(text) as unknown) };
  };
  const wishOf = ({ device, subscription }: Browser, more: object = {}): object => ({
    ...{ device, subscription, grade: "95", lat: 55, lon: 37, radius_km: 5, lang: "en" },
    time_zone: zoneWhereItIs(12),
    ...more,
  });
  const ask = async (browser: Browser, more: object = {}): Promise<Answer["body"]> => {
    const { status, body } = await call("/ask", wishOf(browser, more));
    expect(status, JSON.stringify(body)).to.equal(201);
    return body;
  };
  /** A mark of a known driver: published at once. */
  const mark = async (place: Place, body: object, by = driver): Promise<void> => {
    const own = createClient(web.baseUrl, country.secret);
    const answer = await own.mark(place, by, { status: "yes", express: true, ...body });
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
  };
  /** The next station that nobody has marked, within 5 km of where drivers ask. */
  const near = (): Place => placeOf((stations += 1));
  const withRole = async (work: () => Promise<void>): Promise<void> => {
    const role = await startRole("webhooks", instance.env);
    try {
      await work();
    } finally {
      await role.stop();
    }
  };
  /** The duty that the clock enqueues every 5 s. */
  const duty = (): Promise<boolean> =>
    producer.addSlot("upkeep", { duty: "alerts", slot: (slot += 1) });
  const told = (count: number) =>
    until(
      async () => {
        await duty();
        return service.pushed;
      },
      ({ length }) => length >= count,
    );
  /** Until everything that has happened is compared, and nobody is to be told now. */
  const idle = () =>
    until(
      async () => {
        await duty();
        const has = async (sql: string): Promise<boolean> =>
          (await rows(country.db, sql)).length > 0;
        // In this order: what is compared meanwhile is seen by the second.
        return (
          (await has("select 1 from fuel_alert_cursor c, changes where seq > c.change_seq")) ||
          (await has(`select 1 from push_devices d join fuel_alerts a on a.device_id = d.id
          join fuel_alert_matches m on m.alert_id = a.id
          where d.next_at <= server_now() or d.claimed_until > server_now()`))
        );
      },
      (isBusy) => !isBusy,
    );

  it("by a message that only their browser can read, signed by the service, and once", async () => {
    const browser = newBrowser(service);
    const other = newBrowser(service);
    const asked = await ask(browser);
    expect(asked).to.deep.include({ days: 14, per_day: 3 });
    await ask(other, { grade: "92" });
    const place = near();
    // Nobody is there to tell it; then Redis loses who was woken.
    await mark(place, { fuels: ["95"], prices: { 95: 61.5 } });
    await mark(placeOf(40), { fuels: ["95"] });
    await deleteKeys(instance.redisUrl, instance.redisPrefix);
    await withRole(async () => {
      await told(1);
      const [first] = service.pushed;
      expect(first!.path).to.equal(browser.path);
      expect(first!.headers).to.include({ "content-encoding": "aes128gcm", urgency: "high" });
      const { key, claims } = await signedBy(first!);
      expect(key).to.equal(asked.key);
      expect(claims.aud).to.equal(service.origin);
      expect(claims.sub).to.match(/^mailto:/);
      expect(claims.exp * 1000).to.be.within(Date.now() - dayS * 1000, Date.now() + dayS * 1000);
      const message = browser.read(first!);
      expect(message.title).to.match(/^95 is there, \d+ m away$/);
      expect(message.body).to.contain(`Station ${place.id}`).and.contain("₽61.50");
      expect(message.path).to.equal(`s/${place.id}?lang=en`);
      expect(() => other.read(first!)).to.throw();
      await idle();
    });
    // It still has it, and a restart finds nothing to tell.
    await mark(place, { fuels: ["95", "92"], queue: "5-10" }, others);
    await withRole(async () => {
      await told(2);
      expect(service.pushed.map(({ path }) => path)).to.deep.equal([browser.path, other.path]);
      expect(other.read(service.pushed[1]!).title).to.match(/^92 /);
      expect(other.read(service.pushed[1]!).body).to.contain("queue");
      await mark(near(), { fuels: ["98"] });
      await mark(near(), { fuels_no: ["95"], fuels: ["100"] });
      await idle();
    });
    expect(service.pushed).to.have.length(2);
  });

  it("of fuel that is likely there, where they ask for that, and not by each swing of the chance", async () => {
    const browser = newBrowser(service);
    const asked = await ask(browser, { likely: true });
    expect(asked.alerts[0]).to.include({ grade: "95", likely: true });
    const place = near();
    await mark(place, { fuels: ["95"], fuels_no: ["98"] }, others);
    const levels = async (...chances: (number | null)[]): Promise<number> => {
      for (const chance of chances) {
        await writeChances(country.db, new Map([[place.id, chance]]));
        await idle();
      }
      return service.pushed.length;
    };
    await withRole(async () => {
      await idle();
      expect(await levels(null, 65)).to.equal(0);
      expect(await levels(70)).to.equal(1);
      expect(browser.read(service.pushed[0]!).title).to.match(/^95 is there, /);
      expect(await levels(60, 75, null, 90)).to.equal(1);
      expect(await levels(55, 75)).to.equal(2);
    });
  });

  it("of each grade that a browser waits for, by a message of its own", async () => {
    const browser = newBrowser(service);
    await ask(browser);
    await ask(browser, { grade: "ДТ" });
    await mark(near(), { fuels: ["95"] }, third);
    await mark(near(), { fuels: ["ДТ"] }, third);
    await withRole(async () => {
      await told(2);
      await idle();
    });
    const titles = service.pushed.map((one) => browser.read(one).title.split(" ")[0]);
    expect(titles).to.have.members(["95", "ДТ"]);
  });

  it("of what has changed by time alone since they asked", async () => {
    const place = near();
    await mark(place, { fuels: ["95"] }, third);
    await withRole(async () => void (await idle()));
    await rows(country.db, "update station_grades set grades = '{}' where station_id = ?", [
      place.id,
    ]);
    await ask(newBrowser(service));
    await rows(
      country.db,
      `insert into time_changes (station_id, seq, at) values (?, nextval('time_change_seq'), server_now())`,
      [place.id],
    );
    await withRole(async () => void (await told(1)));
  });

  it("not at night, not more than three times a day, and not of what is over by then", async () => {
    const browser = newBrowser(service);
    await ask(browser, { time_zone: zoneWhereItIs(2) });
    await withRole(async () => {
      const place = near();
      await mark(place, { fuels: ["95"] });
      await idle();
      expect(service.pushed).to.have.length(0);
      const sql = "select next_at > server_now() + interval '3 hours' as later from push_devices";
      expect(await rows(country.db, sql)).to.deep.equal([{ later: true }]);
      // The morning, in a zone where it has come.
      await ask(browser);
      const morning = "update push_devices set next_at = '-infinity'";
      await rows(country.db, morning);
      await told(1);
      for (let n = 2; n <= 3; n++) {
        await mark(near(), { fuels: ["95"] });
        await told(n);
      }
      const last = near();
      await mark(last, { fuels: ["95"] });
      await idle();
      expect(service.pushed).to.have.length(3);
      // The next day; the fourth station has run out meanwhile.
      await rows(
        country.db,
        "update station_status set state = (select state from station_status where station_id = ?) where station_id = ?",
        [placeOf(59).id, last.id],
      );
      await rows(country.db, `${morning}, sent_day = sent_day - 1`);
      await until(
        async () => {
          await duty();
          return rows(country.db, "select 1 from fuel_alert_matches");
        },
        ({ length }) => length === 0,
      );
      expect(service.pushed).to.have.length(3);
    });
  });

  it("until the browser is gone; other failures are tried again for a day", async () => {
    const [gone, weak] = [newBrowser(service), newBrowser(service)];
    await ask(gone);
    await ask(gone, { grade: "98" });
    await withRole(async () => {
      service.answer = (response) => void response.writeHead(410).end();
      await mark(near(), { fuels: ["95"] });
      await until(
        async () => {
          await duty();
          return (await call("/mine", { device: gone.device })).body.alerts as unknown[];
        },
        ({ length }) => length === 0,
      );
      expect(service.pushed).to.have.length(1);

      service.pushed = [];
      service.answer = (response) =>
        void response.writeHead(service.pushed.length < 3 ? 503 : 201).end();
      await ask(weak);
      await mark(near(), { fuels: ["95"] });
      await told(3);
      expect(new Set(service.pushed.map((one) => weak.read(one).tag))).to.have.length(1);
      await idle();

      service.answer = (response) => void response.writeHead(500).end();
      await mark(near(), { fuels: ["95"] });
      await told(4);
      await until(
        async () => {
          await duty();
          await rows(
            country.db,
            "update push_devices set failing_since = failing_since - interval '25 hours', next_at = server_now() where failing_since > server_now() - interval '1 hour'",
          );
          return rows(country.db, "select 1 from push_devices");
        },
        ({ length }) => length === 0,
      );
    });
  });

  it("at once, whatever hangs at the push services of others that failed before", async () => {
    const hanging = await startPushService();
    hanging.answer = () => undefined;
    const hung = Array.from({ length: 5 }, () => newBrowser(hanging));
    const [there, elsewhere] = [placeOf(44), placeOf(54)];
    for (const one of hung) await ask(one, { lat: there.lat, lon: there.lon });
    const settings = { WEBHOOK_CONCURRENCY: "4", STOP_MS: "1000", WEBHOOK_TIMEOUT_MS: "40000" };
    const role = await startRole("webhooks", { ...instance.env, ...settings });
    try {
      const failed = "failures = 1, failing_since = server_now(), next_at = server_now()";
      await rows(country.db, `update push_devices set ${failed}`);
      await mark(there, { fuels: ["95"] }, fifth);
      const tried = async () => duty().then(() => hanging.pushed.length);
      await until(tried, (count) => count > 0);
      await ask(newBrowser(service), { lat: elsewhere.lat, lon: elsewhere.lon });
      await mark(elsewhere, { fuels: ["95"] }, sixth);
      const healthy = async () => duty().then(() => service.pushed.length);
      await until(healthy, (count) => count === 1, 30_000);
      expect(hanging.pushed).to.have.length(1);
    } finally {
      await hanging.close();
      await role.stop();
    }
  });

  it("by a push service that has a day again after a time in which nothing was sent", async () => {
    service.answer = (response) => void response.writeHead(500).end();
    await ask(newBrowser(service));
    await mark(near(), { fuels: ["95"] }, fourth);
    await withRole(async () => void (await told(1)));
    await rows(
      country.db,
      `update push_devices set failures = 7, failing_since = failing_since - interval '25 hours',
         next_at = next_at - interval '25 hours'`,
    );
    service.pushed = [];
    await withRole(async () => void (await told(2)));
    expect(await rows(country.db, "select 1 from push_devices")).to.have.length(1);
  });

  it("only where they may be sent to, and as often as they may ask", async () => {
    const browser = newBrowser(service);
    const { endpoint, keys } = browser.subscription;
    for (const [subscription, field] of [
      [{ endpoint: "http://127.0.0.2/x", keys }, "endpoint"],
      [{ endpoint: "https://10.0.0.1/x", keys }, "endpoint"],
      [{ endpoint: "ftp://127.0.0.1/x", keys }, "endpoint"],
      [{ endpoint, keys: { ...keys, p256dh: "AAAA" } }, "keys"],
      [{ endpoint, keys: { ...keys, auth: "AAAA" } }, "keys"],
    ] as const) {
      const { status, body } = await call("/ask", wishOf(browser, { subscription }));
      expect(status, JSON.stringify(subscription)).to.equal(422);
      expect(body.detail[0].loc).to.deep.equal(["body", "subscription", field]);
    }
    for (const wrong of [
      { grade: "80" },
      { radius_km: 500 },
      { lat: 91 },
      { device: "" },
      { lang: "de" },
    ])
      expect((await call("/ask", wishOf(browser, wrong))).status, JSON.stringify(wrong)).to.equal(
        422,
      );
    const foreign = { Origin: "https://evil.example", "Sec-Fetch-Site": "cross-site" };
    expect((await call("/ask", wishOf(browser), foreign)).status).to.equal(403);
    expect((await rows(country.db, "select 1 from push_devices")).length).to.equal(0);

    // The same place again is the same alert.
    await ask(browser);
    await ask(browser, { lat: 55.001 });
    for (const radius_km of [10, 20])
      await ask(browser, { radius_km, time_zone: "Nowhere/At_All" });
    const full = await call("/ask", wishOf(browser, { grade: "92" }));
    expect(full.status).to.equal(409);
    expect(full.body.type).to.match(/\/alert-limit$/);
  });

  it("until they stop it, or have the device forgotten", async () => {
    const browser = newBrowser(service);
    await ask(browser, { grade: "92" });
    const { alerts } = await ask(browser);
    const [first, second] = alerts as { id: number; token: string; grade: string }[];
    expect((await call("/stop", { id: first!.id, token: second!.token })).status).to.equal(404);
    expect((await call("/stop", first!)).status).to.equal(204);
    expect((await call("/stop", first!)).status).to.equal(204);
    const left = await call("/mine", { device: browser.device });
    expect(left.body.alerts).to.have.length(1);
    await withRole(async () => {
      await mark(near(), { fuels: ["92", "95"] });
      await told(1);
      const message = browser.read(service.pushed[0]!);
      expect(message.title).to.match(/^95 /);
      const { id, token } = message.stop;
      expect((await call("/stop", { id, token })).status).to.equal(204);
    });
    // A worker that noted just then that the device has been told held it: then the duty forgets it.
    await retireAlerts(country.db);
    expect(await rows(country.db, "select 1 from push_devices")).to.have.length(0);

    await ask(browser);
    const page = createClient(web.baseUrl, country.publishable);
    const forgotten = await page.post("/widget/forget", { device: browser.device });
    expect(forgotten.body).to.deep.equal({ erased: true });
    await ask(newBrowser(service));
    await rows(
      country.db,
      "update fuel_alerts set expires_at = server_now() - interval '1 second'",
    );
    expect(await retireAlerts(country.db)).to.equal(1);
    expect(await rows(country.db, "select 1 from push_devices")).to.have.length(0);
  });

  it("by the clock of their place", () => {
    const { hour } = localTime(Date.now(), zoneWhereItIs(2));
    expect(hour < nightTo || hour >= nightFrom).to.equal(true);
    expect(localTime(Date.UTC(2026, 0, 1, 22, 30), "Asia/Novosibirsk")).to.deep.equal({
      ...{ day: "2026-01-02", hour: 5, minute: 30 },
    });
  });
});
