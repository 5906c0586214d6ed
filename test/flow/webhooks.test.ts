import { constants, getPriority } from "node:os";
import { expect } from "chai";
import { verifyWebhook } from "#client/webhook.ts";
import { hourMs } from "#src/domain/units.ts";
import { createDb, rows } from "#src/infrastructure/db.ts";
import { createLog } from "#src/infrastructure/log.ts";
import { createProducer, type Producer } from "#src/infrastructure/queues.ts";
import { loadConfig } from "#src/infrastructure/config.ts";
import { createReceivers } from "#src/pushes/receivers.ts";
import { claimDelivery, settleDelivery } from "#src/pushes/webhooks/claims.ts";
import { tellExpiringKeys } from "#src/pushes/webhooks/outbox.ts";
import { sign } from "#src/pushes/webhooks/signature.ts";
import { runOperator } from "#test/harness/operator.ts";
import { startRoleProcess } from "#test/harness/processes.ts";
import { deleteKeys } from "#test/harness/redis.ts";
import { type RunningRole, startRole } from "#test/harness/roles.ts";
import { type Answer, type Client, createClient, until } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { signIn } from "#test/flow/console-client.ts";
import { addPartner, type OtherPartner } from "#test/flow/more-partners.ts";
import { addOperator } from "#test/flow/operators.ts";
import { createPageClient } from "#test/flow/page-client.ts";
import { isSigned, type Receiver, startReceiver, status } from "#test/flow/webhook-receivers.ts";
import { settleTransitions } from "#workers/upkeep/transitions.ts";
import { bodyOf, createStationReader } from "#workers/webhooks/event.ts";
import { post } from "#workers/webhooks/post.ts";
import { useStage } from "#test/flow/stage.ts";

const driver = "driver 1";

describe("flow: webhooks", function () {
  const { instance, country, web } = useStage(20, ["web", "marks", "upkeep"], {
    WEBHOOK_HTTP: "true",
    WEBHOOK_NETWORKS: "127.0.0.1",
    WEBHOOK_PAUSE_MS: "20",
    WEBHOOK_STATIONS_GAP_MS: "0",
    WEBHOOK_TIMEOUT_MS: "60000",
  });
  let producer: Producer;
  let receiver: Receiver;
  let partner: OtherPartner;
  let client: Client;
  let slot = 0;
  let stations = 0;

  before(async () => {
    await country.meet(driver, 9000);
    producer = createProducer(instance.config, createLog({ logLevel: "silent" }, "test"));
  });
  beforeEach(async () => {
    receiver = await startReceiver();
    partner = await addPartner(country);
    client = createClient(web.baseUrl, partner.secret);
  });
  afterEach(async () => {
    await rows(country.db, "delete from webhook_endpoints");
    await receiver.close();
  });
  after(() => producer.close());

  /** Runs `work` beside the webhooks role. */
  const withRole = async (
    work: () => Promise<void>,
    env: Record<string, string> = {},
    count = 1,
  ): Promise<void> => {
    const roles: RunningRole[] = [];
    for (let n = 0; n < count; n++)
      roles.push(await startRole("webhooks", { ...instance.env, ...env }));
    try {
      await work();
    } finally {
      for (const role of roles) await role.stop();
    }
  };
  const register = async (
    events: string[],
    url = receiver.url,
  ): Promise<{ id: number; secret: string; path: string }> => {
    const { status: code, body } = await client.post("/webhooks", { url, events });
    expect(code, JSON.stringify(body)).to.equal(201);
    return { ...body, path: `/webhooks/${body.id}` };
  };
  /** The duty that the clock enqueues every 5 s: wakes whoever waits for a pause to end. */
  const duty = (): Promise<boolean> =>
    producer.addSlot("upkeep", { duty: "webhooks", slot: (slot += 1) });
  const received = (count: number) =>
    until(
      async () => {
        await duty();
        return receiver.posts;
      },
      ({ length }) => length >= count,
    );
  const settled = (path: string, isReady: (one: Answer["body"]) => boolean) =>
    until(async () => {
      await duty();
      return (await client.get(path)).body as Answer["body"];
    }, isReady);
  const test = async (path: string): Promise<number> => {
    const answer = await client.post(`${path}/test`, {});
    expect(answer.status).to.equal(202);
    return answer.body.id as number;
  };
  const delivered = (path: string, count: number) =>
    settled(
      `${path}/deliveries?limit=100`,
      ({ deliveries }) =>
        deliveries.filter((one: { delivered: string | null }) => one.delivered !== null).length >=
        count,
    );
  /** A mark of a known driver at a station that nobody has marked yet: published at once. */
  const mark = async (): Promise<{ station: string; report: string }> => {
    const place = placeOf((stations += 1));
    const own = createClient(web.baseUrl, country.secret);
    const { status: code, body } = await own.mark(place, driver, { status: "yes", express: true });
    expect(code, JSON.stringify(body)).to.equal(200);
    return { station: place.id, report: body.report_id as string };
  };

  it("are registered, changed and removed by their partner alone", async () => {
    const { id, secret, path } = await register(["stations.changed"]);
    expect(secret).to.match(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const listed = await client.get("/webhooks");
    expect(listed.body.count).to.equal(1);
    expect(listed.body.webhooks[0]).to.include({
      id,
      url: receiver.url,
      enabled: true,
      waiting: 0,
    });
    expect(listed.body.webhooks[0]).to.not.have.property("secret");

    const other = createClient(web.baseUrl, (await addPartner(country)).secret);
    expect((await other.get("/webhooks")).body.count).to.equal(0);
    for (const answer of [
      await other.get(path),
      await other.patch(path, { enabled: false }),
      await other.delete(path),
      await other.post(`${path}/test`, {}),
      await other.post(`${path}/rotate-secret`, {}),
      await other.get(`${path}/deliveries`),
      await client.get("/webhooks/0"),
      await client.get("/webhooks/99999999999999999999"),
    ])
      expect(answer.body.type).to.match(/\/webhook-not-found$/);
    const page = createClient(web.baseUrl, partner.publishable);
    expect((await page.get("/webhooks")).status).to.equal(403);

    const changed = await client.patch(path, { events: ["key.expiring"], enabled: false });
    expect(changed.body).to.include({ enabled: false, off_reason: "partner" });
    expect((await client.post(`${path}/test`, {})).body.type).to.match(/\/webhook-off$/);
    expect((await client.patch(path, { enabled: true })).body).to.include({
      enabled: true,
      off: null,
    });
    for (let n = 1; n < 5; n++) await register(["key.expiring"]);
    const sixth = await client.post("/webhooks", { url: receiver.url, events: ["key.expiring"] });
    expect(sixth.body.type).to.match(/\/webhook-limit$/);
    expect((await client.delete(path)).status).to.equal(204);
    expect((await client.get(path)).status).to.equal(404);
  });

  it("take no URL of a private network, and none that is not one", async () => {
    for (const url of [
      ...[
        "http://127.0.0.2/",
        "http://2130706434/",
        "http://[::1]/",
        "http://10.1.2.3/x",
        "nonsense",
      ],
      ...["http://169.254.169.254/latest", "http://[::ffff:10.0.0.1]/", "ftp://127.0.0.1/"],
      ...["http://user@127.0.0.1/", "http://127.0.0.1/#part"],
    ]) {
      const { status: code, body } = await client.post("/webhooks", {
        url,
        events: ["key.expiring"],
      });
      expect(code, url).to.equal(422);
      expect(body.detail[0].loc, url).to.deep.equal(["body", "url"]);
    }
    for (const body of [
      { url: receiver.url, events: [] },
      { url: receiver.url, events: ["other"] },
    ])
      expect((await client.post("/webhooks", body)).status).to.equal(422);
    expect((await client.get("/webhooks")).body.count).to.equal(0);
    const usual = createReceivers(loadConfig({}));
    expect(await usual.read("http://192.0.43.7/")).to.have.property("fault");
    expect(await usual.read("https://192.0.43.7/")).to.deep.equal({ url: "https://192.0.43.7/" });
    expect(await usual.read("https://127.0.0.1/")).to.have.property("fault");
  });

  it("are signed as Standard Webhooks says, and tell of changed stations and own marks", async () => {
    // The example of the specification.
    const known = {
      "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
      "webhook-timestamp": "1614265330",
      "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    };
    const raw = '{"test": 2432232314}';
    const key = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    expect(await isSigned(key, { headers: known, raw })).to.equal(true);
    expect(sign(key, known["webhook-id"], known["webhook-timestamp"], raw)).to.equal(
      known["webhook-signature"],
    );

    client = createClient(web.baseUrl, country.secret);
    const { secret } = await register(["stations.changed", "report.processed"]);
    await withRole(async () => {
      const { station, report } = await mark();
      const posts = await received(2);
      for (const one of posts) {
        expect(await isSigned(secret, one)).to.equal(true);
        expect(await isSigned(secret, { ...one, raw: `${one.raw} ` })).to.equal(false);
      }
      const of = (type: string) => posts.find(({ body }) => body.type === type)!.body;
      const { data } = of("stations.changed");
      expect(data).to.include({ count: 1, stale_after_hours: 24 });
      const shown = (await client.get(`/stations/${station}`)).body.station;
      expect(data.stations).to.deep.equal([shown]);
      const delta = await client.get(
        `/stations/delta?updated_since=${encodeURIComponent(data.as_of)}`,
      );
      expect(delta.status).to.equal(200);
      expect(delta.body.stations.map(({ id }: { id: string }) => id)).to.include(station);
      const outcome = (await client.get(`/reports/${report}`)).body;
      expect(of("report.processed").data).to.deep.equal({ reports: [outcome], count: 1 });
      expect(outcome.published.outcome).to.equal("published");
    });
  });

  it("come in order and one at a time, also from two processes", async () => {
    const { path } = await register(["key.expiring"]);
    const sent: number[] = [];
    for (let n = 0; n < 12; n++) sent.push(await test(path));
    receiver.answer = (response) => void setTimeout(() => response.writeHead(200).end(), 5);
    await withRole(
      async () => {
        const { deliveries } = await delivered(path, sent.length);
        expect(receiver.atOnce).to.equal(1);
        const ids = deliveries.toReversed().map(({ message_id: id }: { message_id: string }) => id);
        expect(receiver.posts.map(({ headers }) => headers["webhook-id"])).to.deep.equal(ids);
      },
      {},
      2,
    );
  });

  it("are tried again until they are taken, and nothing overtakes them", async () => {
    const { path } = await register(["key.expiring"]);
    await test(path);
    await test(path);
    receiver.answer = (response, n) => status(n < 3 ? 500 : 200)(response);
    await withRole(async () => {
      const { deliveries } = await delivered(path, 2);
      const [second, first] = deliveries;
      expect(first).to.include({ attempts: 4, status: 200, answer: "not now", fault: null });
      expect(second).to.include({ attempts: 1, status: 200 });
      const ids = receiver.posts.map(({ headers }) => headers["webhook-id"]);
      expect(ids).to.deep.equal([...Array(4).fill(first.message_id), second.message_id]);
      expect((await client.get(path)).body).to.include({ failing_since: null, waiting: 0 });
    });
  });

  it("are given up for now by a receiver that does not answer in time", async () => {
    const { path } = await register(["key.expiring"]);
    await test(path);
    receiver.answer = () => undefined;
    await withRole(
      async () => {
        const { deliveries } = await settled(
          `${path}/deliveries`,
          ({ deliveries: [one] }) => one.attempts > 0,
        );
        expect(deliveries[0]).to.include({ status: null, fault: "no answer within 200 ms" });
        expect((await client.get(path)).body).to.include({ enabled: true, waiting: 1 });
      },
      { WEBHOOK_TIMEOUT_MS: "200" },
    );
  });

  it("take the status of an answer whose end does not come in time", async () => {
    const { path } = await register(["key.expiring"]);
    receiver.answer = (response, n) =>
      void response.writeHead(n === 0 ? 200 : 410).write("at work");
    await test(path);
    await withRole(
      async () => {
        const { deliveries } = await delivered(path, 1);
        expect(deliveries[0]).to.include({ attempts: 1, status: 200, answer: "at work" });
        await test(path);
        const off = await settled(path, ({ enabled }) => enabled === false);
        expect(off).to.include({ off_reason: "gone" });
      },
      { WEBHOOK_TIMEOUT_MS: "1500" },
    );
  });

  it("that fail and hang hold a quarter of the places, so that a healthy one is told at once", async () => {
    const hanging = await startReceiver();
    hanging.answer = () => undefined;
    try {
      for (let n = 0; n < 5; n++) await test((await register(["key.expiring"], hanging.url)).path);
      await rows(
        country.db,
        "update webhook_endpoints set failures = 1, failing_since = server_now(), next_at = server_now()",
      );
      // Another partner: one has five at most.
      partner = await addPartner(country);
      client = createClient(web.baseUrl, partner.secret);
      await withRole(
        async () => {
          await until(
            async () => hanging.posts.length,
            (count) => count > 0,
          );
          const { path } = await register(["key.expiring"]);
          for (let n = 1; n <= 3; n++) {
            await test(path);
            await until(
              async () => {
                await duty();
                return receiver.posts.length;
              },
              (count) => count === n,
              10_000,
            );
          }
          expect(hanging.atOnce).to.equal(1);
        },
        { WEBHOOK_CONCURRENCY: "4", STOP_MS: "1000", WEBHOOK_TIMEOUT_MS: "15000" },
      );
    } finally {
      await hanging.close();
    }
  });

  it("are switched off at once by 410, with an alarm", async () => {
    const { id, path } = await register(["key.expiring"]);
    receiver.answer = status(410);
    await test(path);
    await withRole(async () => {
      const off = await settled(path, ({ enabled }) => enabled === false);
      expect(off).to.include({ off_reason: "gone", waiting: 1 });
      const alarms = await rows(
        country.db,
        "select subject, details from alarms where kind = 'webhook-off' and subject = ?",
        [`partner ${partner.id}`],
      );
      expect(alarms).to.deep.equal([
        { subject: `partner ${partner.id}`, details: { webhook: id, reason: "gone" } },
      ]);
      receiver.answer = status(200);
      await client.patch(path, { enabled: true });
      await delivered(path, 1);
    });
  });

  it("do not follow a redirect, and go to a new URL as soon as it is given", async () => {
    const { path } = await register(["key.expiring"]);
    const moved = await startReceiver();
    receiver.answer = status(307, { Location: moved.url });
    await test(path);
    await withRole(async () => {
      await settled(`${path}/deliveries`, ({ deliveries: [one] }) => one.status === 307);
      expect(moved.posts).to.have.length(0);
      await client.patch(path, { url: moved.url });
      await delivered(path, 1);
      expect(moved.posts).to.have.length(1);
    });
    await moved.close();
  });

  it("go to a new URL also while the old one has not answered", async () => {
    const { path } = await register(["key.expiring"]);
    const moved = await startReceiver();
    let answer = (): void => undefined;
    receiver.answer = (response) => (answer = () => status(410)(response));
    await test(path);
    await withRole(async () => {
      await received(1);
      await client.patch(path, { url: moved.url });
      answer();
      await delivered(path, 1);
      expect((await client.get(path)).body).to.include({ enabled: true, failing_since: null });
    });
    expect(moved.posts).to.have.length(1);
    await moved.close();
  });

  /** The path of a webhook that has failed for so long, with one event that waits. */
  const failingSince = async (ago: string): Promise<string> => {
    const { path } = await register(["key.expiring"]);
    receiver.answer = status(503);
    await test(path);
    await withRole(async () => {
      await settled(path, ({ failing_since: since }) => since !== null);
    });
    await rows(
      country.db,
      "update webhook_endpoints set failing_since = failing_since - ?::interval",
      [ago],
    );
    return path;
  };

  it("are switched off after three days of failures", async () => {
    const path = await failingSince("73 hours");
    // A try that somebody asks for gives no new patience.
    await test(path);
    await withRole(async () => {
      const off = await settled(path, ({ enabled }) => enabled === false);
      expect(off).to.include({ off_reason: "failing", waiting: 2 });
    });
  });

  it("have three days again after a time in which their partner was switched off", async () => {
    const path = await failingSince("73 hours");
    await rows(country.db, "update webhook_endpoints set next_at = next_at - interval '73 hours'");
    await withRole(async () => {
      const isNew = (since: string | null) =>
        since !== null && Date.parse(since) > Date.now() - hourMs;
      const tried = await settled(path, (one) => !one.enabled || isNew(one.failing_since));
      expect(tried).to.include({ enabled: true, waiting: 1 });
    });
  });

  it("take no other along when one cannot be read", async () => {
    const { id } = placeOf(0);
    const read = createStationReader(country.db, instance.config, Date.now);
    const body = (data: unknown): Promise<string> => {
      const delivery = { id: 1, message_id: "", type: "", data, created: 0, toldUntil: 0 };
      return bodyOf(country.db, instance.config, read, { delivery } as never, Date.now());
    };
    const good = { stations: [id] };
    // Those behind the first one are read together.
    const bodies = [good, { stations: [["a", "b"], ["c"]] }, good, { stations: 7 }, null, good].map(
      body,
    );
    const ends = (await Promise.allSettled(bodies)).map((one) =>
      one.status === "fulfilled" ? one.value.includes(`"${id}"`) : "refused",
    );
    expect(ends).to.deep.equal([true, "refused", true, "refused", "refused", true]);
  });

  it("lose nothing when their process is away and Redis is wiped", async () => {
    client = createClient(web.baseUrl, country.secret);
    const { path } = await register(["stations.changed", "report.processed"]);
    const made: { station: string; report: string }[] = [];
    for (let n = 0; n < 3; n++) made.push(await mark());
    // A process took a turn and died.
    await rows(
      country.db,
      `update webhook_endpoints set claims = claims + 1, claimed_until = server_now() + interval '300 ms'`,
    );
    await deleteKeys(instance.redisUrl, instance.redisPrefix);
    await withRole(async () => {
      await until(
        async () => {
          await duty();
          return receiver.posts.map(({ body }) => body.data);
        },
        (all) =>
          all.flatMap(({ stations = [] }) => stations).length >= 3 &&
          all.flatMap(({ reports = [] }) => reports).length >= 3,
      );
      const ids = (name: "stations" | "reports", id: string): string[] =>
        receiver.posts.flatMap(({ body }) =>
          ((body.data[name] ?? []) as Record<string, string>[]).map((one) => one[id]!),
        );
      expect(ids("stations", "id")).to.have.members(made.map(({ station }) => station));
      expect(ids("reports", "report_id")).to.have.members(made.map(({ report }) => report));
      await settled(path, ({ waiting }) => waiting === 0);
    });
  });

  it("tell of stations that time alone has changed", async () => {
    client = createClient(web.baseUrl, country.secret);
    const { station } = await mark();
    await register(["stations.changed"]);
    const offset = { CLOCK_OFFSET_S: String(25 * 3600) };
    const config = loadConfig({ ...instance.env, ...offset });
    const db = createDb(config, "test");
    expect(
      await settleTransitions({ db, config, log: createLog({ logLevel: "silent" }, "test") }),
    ).to.be.greaterThan(0);
    await db.destroy();
    await withRole(async () => {
      const [first] = await received(1);
      const { stations: found, as_of: asOf } = first!.body.data;
      const one = found.find(({ id }: { id: string }) => id === station);
      expect(one.fuel.status).to.equal("nodata");
      expect(Date.parse(`${asOf}Z`)).to.be.lessThan(Date.now() + hourMs);
    }, offset);
  });

  it("tell of 100 stations at most, whether marks or time have changed them", async () => {
    const { id } = await register(["stations.changed"]);
    const timed = Array.from({ length: 95 }, (_, n) => `timed-${n}`);
    await rows(country.db, "update changes set seq = nextval('change_seq')");
    await rows(
      country.db,
      `insert into time_changes (station_id, seq, at)
       select id, nextval('time_change_seq'), server_now() from unnest(?::text[]) as id`,
      [timed],
    );
    const batches: string[][] = [];
    for (const claim = { claimMs: 60_000, stationsGapMs: 0, mayFail: true }; ;) {
      const claimed = await claimDelivery(country.db, id, claim);
      if (claimed === null) break;
      batches.push(claimed.delivery.data.stations!);
      const attempt = { status: 204, answer: "", fault: null, durationMs: 1 };
      await settleDelivery(country.db, claimed, attempt, "taken", Date.now());
    }
    await rows(country.db, "delete from time_changes where station_id = any(?::text[])", [timed]);
    expect(batches.map(({ length }) => length)).to.deep.equal([100, 15]);
    const all = Array.from({ length: 20 }, (_, n) => placeOf(n).id);
    expect(batches.flat()).to.have.members([...all, ...timed]);
  });

  it("carry two signatures while the secret is rotated", async () => {
    const { secret: old, path } = await register(["key.expiring"]);
    const rotated = await client.post(`${path}/rotate-secret?overlap_hours=1`, {});
    const { secret, old_secret_until: until } = rotated.body;
    expect(Date.parse(`${until}Z`)).to.be.within(Date.now(), Date.now() + hourMs);
    await withRole(async () => {
      await test(path);
      const [both] = await received(1);
      expect(await isSigned(old, both!)).to.equal(true);
      expect(await isSigned(secret, both!)).to.equal(true);
      // As a partner's server does with our client: with the old secret, the new one, or both.
      for (const known of [old, secret, [secret, old], [old, secret]]) {
        const verified = verifyWebhook(known, both!.headers, both!.raw);
        expect(verified?.id).to.equal(both!.headers["webhook-id"]);
        expect(verified?.event).to.deep.equal(both!.body);
      }
      expect(verifyWebhook(old, both!.headers, `${both!.raw} `)).to.equal(null);
      // The answer was lost: further calls, also at the same time, silence neither secret (decisions 20.15).
      const calls = ["?overlap_hours=2", "", ""].map((wish) =>
        client.post(`${path}/rotate-secret${wish}`, {}),
      );
      for (const { body } of await Promise.all(calls)) {
        expect(body.secret).to.equal(secret);
        expect(Date.parse(`${body.old_secret_until}Z`)).to.be.greaterThan(
          Date.now() + 1.9 * hourMs,
        );
      }
      await test(path);
      const [, later] = await received(2);
      for (const known of [old, secret]) expect(await isSigned(known, later!)).to.equal(true);
      await client.post(`${path}/rotate-secret?overlap_hours=0`, {});
      await test(path);
      const [, , one] = await received(3);
      expect(await isSigned(secret, one!)).to.equal(false);
      expect(verifyWebhook([secret, old], one!.headers, one!.raw)).to.equal(null);
      expect(one!.headers["webhook-signature"]).to.not.include(" ");
    });
  });

  it("go to checked addresses alone, also when the DNS has changed", async () => {
    const { config } = instance;
    let addresses = ["127.0.0.1"];
    const receivers = createReceivers(config, async () => addresses);
    const url = receiver.url.replace("127.0.0.1", "hooks.example");
    const attempt = () =>
      post(receivers, config, url, { "Content-Type": "application/json" }, "{}");
    expect(await receivers.read(url)).to.deep.equal({ url });
    expect(await attempt()).to.include({ status: 204, fault: null });
    for (const changed of [
      ["127.0.0.2"],
      ["10.0.0.1"],
      ["127.0.0.1", "fd00::1"],
      ["::ffff:127.0.0.2"],
    ]) {
      addresses = changed;
      expect(await attempt()).to.include({
        status: null,
        fault: "The host is in a private network",
      });
      expect(await receivers.read(url)).to.have.property("fault");
    }
    const unknown = createReceivers(config, () => Promise.reject(new Error("no such host")));
    expect(await unknown.read(url)).to.deep.equal({ fault: "no such host" });
    const direct = receiver.url.replace("127.0.0.1", "127.0.0.2");
    expect((await post(receivers, config, direct, {}, "{}")).fault).to.match(/private network/);
    expect(receiver.posts).to.have.length(1);
  });

  it("end an attempt that the receiver answers by another protocol", async () => {
    const config = loadConfig({ WEBHOOK_HTTP: "true", WEBHOOK_NETWORKS: "127.0.0.1" });
    receiver.answer = (response) =>
      void response.socket!.end(
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n",
      );
    const attempt = await post(createReceivers(config), config, receiver.url, {}, "{}");
    expect([attempt.status, attempt.fault]).to.deep.equal([
      null,
      "The connection ended without an answer",
    ]);
  });

  it("are not woken without end while no process sends", async () => {
    const ids = Array.from({ length: 600 }, (_, n) => 1_000_000 + n);
    for (let n = 0; n < 4; n++) await producer.wakeEndpoints(ids.map((id) => id + n * 1000));
    const queue = producer.queue("webhooks");
    expect(await queue.getWaitingCount()).to.be.within(1000, 1700);
    await queue.obliterate({ force: true });
  });

  it("leave the cores that they share with other roles to these", async () => {
    const role = await startRoleProcess("webhooks", instance.env);
    try {
      const { PRIORITY_BELOW_NORMAL: below, PRIORITY_LOW: lowest } = constants.priority;
      expect(getPriority(role.pid)).to.equal(Math.min(getPriority() + below, lowest));
    } finally {
      await role.stop();
    }
  });

  it("are sent again by hand under the same id and time", async () => {
    const { path } = await register(["key.expiring"]);
    const id = await test(path);
    await withRole(async () => {
      await delivered(path, 1);
      const again = await client.post(`${path}/deliveries/${id}/redeliver`, {});
      expect(again.status).to.equal(202);
      expect(again.body.id).to.not.equal(id);
      await delivered(path, 2);
      const [first, second] = receiver.posts.map(({ headers }) => headers["webhook-id"]);
      expect(second).to.equal(first).and.to.equal(again.body.message_id);
      const [told, repeated] = receiver.posts.map(({ body }) => body.timestamp);
      expect(repeated).to.equal(told);
      const none = await client.post(`${path}/deliveries/999999/redeliver`, {});
      expect(none.body.type).to.match(/\/delivery-not-found$/);
    });
  });

  it("stop with the partner's access, and go on with it", async () => {
    const { path } = await register(["key.expiring"]);
    const { path: other } = await register(["key.expiring"]);
    await test(path);
    const access = async (isOn: boolean): Promise<void> => {
      const args = ["partner", "update", String(partner.id), "--enabled", String(isOn)];
      expect((await runOperator(instance.env, ...args, "--json")).code).to.equal(0);
    };
    await access(false);
    const { secret } = await addPartner(country);
    const witness = createClient(web.baseUrl, secret);
    const { body } = await witness.post("/webhooks", {
      url: receiver.url,
      events: ["key.expiring"],
    });
    await witness.post(`/webhooks/${body.id}/test`, {});
    await withRole(async () => {
      // Whoever comes later has been served: so the first was passed over.
      await received(1);
      const sent = await until(
        () =>
          rows<{ endpoint_id: number }>(
            country.db,
            "select endpoint_id from webhook_deliveries where delivered_at is not null",
          ),
        ({ length }) => length > 0,
      );
      expect(sent).to.deep.equal([{ endpoint_id: body.id }]);
      await access(true);
      await until(
        () => client.get(other),
        (answer) => answer.status === 200,
      );
      await delivered(path, 1);
    });
  });

  it("tell of a decided limit request, and once of a key that ends", async () => {
    await register(["limit_request.decided", "key.expiring"]);
    const wish = { requested_rpm: 500, requested_daily: 9000, comment: "more" };
    const { id } = (await client.post("/limit-requests", wish)).body;
    const operator = (...args: string[]) => runOperator(instance.env, ...args, "--json");
    expect(
      (await operator("limit-request", "reject", String(id), "--comment", "no")).code,
    ).to.equal(0);
    const [key] = await rows<{ id: number; prefix: string }>(
      country.db,
      `update keys set expires_at = server_now() + interval '6 days', label = 'server'
       where partner_id = ? and kind = 'publishable' returning id, prefix`,
      [partner.id],
    );
    await withRole(async () => {
      await received(2);
      const of = (type: string) => receiver.posts.find(({ body }) => body.type === type)!.body.data;
      const [decided] = (await client.get("/limit-requests")).body.requests;
      expect(of("limit_request.decided")).to.deep.equal(decided);
      expect(of("key.expiring")).to.deep.include({
        key_id: key!.id,
        kind: "publishable",
        prefix: key!.prefix,
        label: "server",
      });
    });
    expect(await tellExpiringKeys(country.db)).to.equal(0);
  });

  it("are kept in the dashboard too, and seen and switched off by operators", async () => {
    const page = createPageClient(web.baseUrl, "dashboard");
    expect((await page.post("/session", { key: partner.secret })).status).to.equal(201);
    const wish = { url: receiver.url, events: ["key.expiring"], description: "Map\u001b[2J" };
    const made = await page.post("/webhooks", wish);
    expect(made.status).to.equal(201);
    const { id, secret } = made.body;
    const path = `/webhooks/${id}`;
    const renewed = await page.post(`${path}/rotate-secret`, {});
    expect(renewed.body.secret)
      .to.match(/^whsec_/)
      .and.not.equal(secret);
    const { body: sent } = await page.post(`${path}/test`, {});
    await withRole(async () => {
      await delivered(path, 1);
      expect((await page.post(`${path}/deliveries/${sent.id}/redeliver`, {})).status).to.equal(202);
      await delivered(path, 2);
    });
    const { deliveries } = (await page.get(`${path}/deliveries`)).body;
    expect(deliveries.map(({ status: code }: { status: number }) => code)).to.deep.equal([
      204, 204,
    ]);

    await addOperator(country.db, "vera", "viewer");
    const vera = await signIn(web.baseUrl, "vera");
    const [listed] = (await vera.call("GET", `/partners/${partner.id}/webhooks`)).body.webhooks;
    expect(listed).to.deep.include({ id, url: receiver.url, enabled: true, waiting: 0 });
    expect((await vera.call("POST", `${path}/disable`)).status).to.equal(403);
    const operator = (...args: string[]) => runOperator(instance.env, "webhook", ...args, "--json");
    expect((await operator("list", "--partner", String(partner.id))).json).to.have.length(1);
    expect((await operator("show", String(id))).json).to.deep.include({
      id,
      description: "Map [2J",
    });
    expect((await page.call("PATCH", path, { enabled: false })).status).to.equal(200);
    // The partner's own reason gives way.
    expect((await operator("disable", String(id))).json).to.include({ off_reason: "operator" });
    expect((await operator("disable", String(id))).code).to.equal(1);
    const refused = await page.call("PATCH", path, { enabled: true });
    expect(refused.body.type).to.match(/\/webhook-off$/);
    expect((await page.call("DELETE", path)).status).to.equal(204);
    expect((await page.get("/webhooks")).body.webhooks).to.deep.equal([]);
    expect((await operator("show", String(id))).code).to.equal(1);
  });
});
