import { createHmac } from "node:crypto";
import type { ServerResponse } from "node:http";
import { expect } from "chai";
import { Redis } from "ioredis";
import { acknowledgeAlarm } from "#src/alarms/alarms.ts";
import { readChannels } from "#src/alarms/claims.ts";
import { type Alarm, raiseAlarms } from "#src/alarms/raise.ts";
import { createAlarmSender } from "#src/alarms/sender.ts";
import { minuteMs } from "#src/domain/units.ts";
import { loadConfig } from "#src/infrastructure/config.ts";
import { inTransaction, rows } from "#src/infrastructure/db.ts";
import { createLog } from "#src/infrastructure/log.ts";
import { by } from "#test/harness/by.ts";
import { startHook, startMailbox } from "#test/flow/alarm-receivers.ts";
import { until } from "#test/flow/client.ts";
import { status } from "#test/flow/webhook-receivers.ts";
import { usualPatience } from "#test/harness/instance.ts";
import { runOperator } from "#test/harness/operator.ts";
import { startRoleProcess } from "#test/harness/processes.ts";
import { type RunningRole, startRole } from "#test/harness/roles.ts";
import { startPrivateRedis } from "#test/harness/servers.ts";
import { useInstance } from "#test/harness/use.ts";

const hookKey = Buffer.alloc(32, 7);
const consoleAt = "https://fuel.example/console/#";

describe("flow: alarms reach the operator", function () {
  const instance = useInstance({ BASE_URL: "https://fuel.example" });
  let mailbox: Awaited<ReturnType<typeof startMailbox>>;
  let hook: Awaited<ReturnType<typeof startHook>>;
  const running: RunningRole[] = [];

  beforeEach(async () => {
    await rows(instance.db, "truncate alarms restart identity");
    await rows(
      instance.db,
      "update alarm_channels set next_at = '-infinity', failures = 0, fault = null",
    );
    mailbox = await startMailbox();
    hook = await startHook();
  });
  afterEach(async () => {
    for (const role of running.splice(0)) await role.stop();
    await mailbox.close();
    await hook.close();
  });

  const settings = (more: Record<string, string> = {}): Record<string, string> => ({
    ...instance.env,
    ALARM_EMAIL_TO: "olga@fuel.example, deputy@fuel.example",
    ALARM_SMTP_URL: mailbox.url,
    ALARM_WEBHOOK_URL: hook.url,
    ALARM_WEBHOOK_SECRET: `whsec_${hookKey.toString("base64")}`,
    ALARM_EMAIL_GAP_MS: "0",
    // So long that only the wake-up can be in time.
    ALARM_POLL_MS: "600000",
    ...more,
  });
  const start = async <Role extends RunningRole>(starting: Promise<Role>): Promise<Role> => {
    const role = await starting;
    running.push(role);
    return role;
  };
  const raise = (...subjects: string[]): Promise<void> =>
    inTransaction(instance.db, (tx) => raiseAlarms(tx, subjects.map(alarmOf)));
  const told = (which: "emailed_at" | "posted_at"): Promise<{ subject: string }[]> =>
    rows(instance.db, `select subject from alarms where ${which} is not null order by id`);
  const listening = (): Promise<unknown> =>
    until(
      () =>
        rows(
          instance.db,
          `select from pg_stat_activity where datname = current_database()
             and application_name = 'fuelmark listens to alarms' and query like 'listen%' and state = 'idle'`,
        ),
      ({ length }) => length > 0,
    );
  /** Waits for so many failures of e-mail in a row. Resolves with how many there are. */
  const failed = async (count: number): Promise<number> => {
    const [email] = await until(
      () =>
        rows<{ failures: number }>(
          instance.db,
          "select failures from alarm_channels order by channel",
        ),
      ([{ failures } = { failures: 0 }]) => failures >= count,
    );
    return email!.failures;
  };
  const mailed = (count: number) =>
    until(
      async () => mailbox.mails,
      ({ length }) => length >= count,
    );
  const posted = (count: number) =>
    until(
      async () => hook.posts,
      ({ length }) => length >= count,
    );

  it("by e-mail and webhook, from a process of its own, as soon as the transaction commits", async () => {
    const upkeep = await start(startRoleProcess("upkeep", settings()));
    await listening();
    await raise("partner 7");
    const [mail] = await mailed(1);
    expect(mail).to.deep.include({
      from: "fuelmark@fuel.example",
      to: ["olga@fuel.example", "deputy@fuel.example"],
      subject: "[Fuelmark] Marks are held for review: partner 7, Тестоград",
    });
    expect(mail!.messageId).to.equal("<alarms-1-1-1@fuel.example>");
    for (const part of [
      ...["partner 7", "Тестоград", "limit 20", "review list", "alarm acknowledge 1"],
      ...[`${consoleAt}/review`, `${consoleAt}/\n`],
    ])
      expect(mail!.text).to.contain(part);

    const [post] = await posted(1);
    expect(post!.body).to.deep.include({ type: "alarms.raised" });
    expect(post!.body.text).to.contain(mail!.text);
    expect(post!.body.data.alarms).to.have.length(1);
    expect(post!.body.data.alarms[0]).to.deep.include({
      ...{ id: 1, kind: "marks-held", subject: "partner 7", city: "Тестоград", count: 1 },
      ...{ title: "Marks are held for review", details: { limit: 20 } },
    });
    const { "webhook-id": id, "webhook-timestamp": at } = post!.headers;
    const mac = createHmac("sha256", hookKey).update(`${String(id)}.${String(at)}.${post!.raw}`);
    expect(post!.headers["webhook-signature"]).to.equal(`v1,${mac.digest("base64")}`);
    expect(Number(at)).to.be.closeTo(Date.now() / 1000, 300);

    // A repeat within the hour only counts.
    await until(
      () => told("posted_at"),
      ({ length }) => length === 1,
    );
    await raise("partner 7");
    await raise("partner 8");
    await mailed(2);
    expect(mailbox.mails[1]!.subject).to.contain("partner 8");
    expect(upkeep.lines.join("\n")).to.not.match(/hunter2|s3cret|olga@/);
  });

  it("although the wake-up is lost and Redis is away", async () => {
    const server = await startPrivateRedis();
    const env = { ...settings({ ALARM_POLL_MS: "200" }), ...usualPatience };
    const upkeep = await startRoleProcess("upkeep", { ...env, REDIS_URL: server.url });
    try {
      await server.kill9();
      // No NOTIFY.
      await rows(
        instance.db,
        `insert into alarms (kind, subject, hour) values ('station-stuck', 'station n7', server_now()),
           ('an-unknown-kind', 'something', server_now())`,
      );
      const [mail] = await mailed(1);
      expect(mail!.text).to.contain("station n7").and.contain("an-unknown-kind");
      await posted(1);
    } finally {
      await upkeep.kill9();
      await server.drop();
    }
  });

  it("when the mail server is back; the webhook does not wait for it, and the log says it once", async () => {
    await mailbox.down();
    const upkeep = await start(startRole("upkeep", settings({ ALARM_POLL_MS: "50" })));
    await raise("partner 1");
    await posted(1);
    await failed(3);
    await raise("partner 2");
    await posted(2);
    await until(
      () => told("posted_at"),
      ({ length }) => length === 2,
    );
    expect(await told("emailed_at")).to.deep.equal([]);
    // What an operator has seen to meanwhile is not told any more.
    await acknowledgeAlarm(by(instance.db, "olga"), {}, 1);
    // An attempt that had begun by then ends first: it still has both in its message.
    await failed((await failed(3)) + 1);
    await mailbox.up();
    const [mail] = await mailed(1);
    expect(mail!.subject).to.contain("partner 2");
    await upkeep.waitForLine(/"channel":"email".*alarms sent, after failures/);
    const failures = upkeep.lines.filter((line) => /"level":50.*alarms not sent/.test(line));
    expect(failures).to.have.length(1);
    expect(failures[0]).to.match(/"channel":"email".*ECONNREFUSED/);
  });

  it("once to those who take it, and shows that the mail server refuses another address", async () => {
    const env = settings({ ALARM_EMAIL_TO: "olga@fuel.example, gone@fuel.example" });
    const first = await startRole("upkeep", { ...env, ALARM_POLL_MS: "50" });
    await raise("partner 1");
    await first.waitForLine(/"level":40.*refused 1 of the addresses.*not to every address/);
    await first.stop();
    const [email] = await readChannels(instance.db);
    expect(email).to.include({ failures: 1, fault: "refused 1 of the addresses" });
    expect(await told("emailed_at")).to.have.length(1);
    // The next failure is of another kind, and the log says it, also that of another process.
    const upkeep = await start(startRole("upkeep", { ...env, ALARM_POLL_MS: "50" }));
    await mailbox.down();
    await raise("partner 2");
    await failed(2);
    await mailbox.up();
    await mailed(2);
    await upkeep.waitForLine(/"level":50.*ECONNREFUSED.*alarms not sent/);
    expect(mailbox.mails.map(({ to }) => to)).to.deep.equal([
      ["olga@fuel.example"],
      ["olga@fuel.example"],
    ]);
    expect(mailbox.mails[1]!.text).to.not.contain("partner 1");
    const test = await runOperator(env, "alarm", "test");
    expect(test.code).to.equal(1);
    expect(test.err).to.match(/email: 250 .*, refused 1 of the addresses; webhook: HTTP 204/);
  });

  it("when the webhook's receiver takes them at last", async () => {
    hook.answer = status(500);
    const upkeep = await start(startRole("upkeep", settings({ ALARM_POLL_MS: "50" })));
    await raise("partner 1");
    await mailed(1);
    await posted(3);
    expect(await told("posted_at")).to.deep.equal([]);
    hook.answer = status(204);
    await until(
      () => told("posted_at"),
      ({ length }) => length === 1,
    );
    // The same message has the same id each time.
    expect(new Set(hook.posts.map(({ headers }) => headers["webhook-id"])).size).to.equal(1);
    const failures = upkeep.lines.filter((line) => /"level":50.*alarms not sent/.test(line));
    expect(failures).to.have.length(1);
    expect(mailbox.mails).to.have.length(1);
  });

  it("once each, from two upkeep processes at the same time", async () => {
    const env = settings({ ALARM_POLL_MS: "20" });
    await Promise.all([start(startRole("upkeep", env)), start(startRole("upkeep", env))]);
    // An e-mail names 50 at most, and may have to name all of them.
    const subjects = Array.from({ length: 40 }, (_, n) => `partner ${100 + n}`);
    for (const subject of subjects) await raise(subject);
    await until(
      () => told("emailed_at"),
      ({ length }) => length === subjects.length,
    );
    const named = mailbox.mails.flatMap(({ text }) => text.match(/partner \d+/g) ?? []);
    expect(named.toSorted()).to.deep.equal(subjects);
    expect(mailbox.mails.length).to.be.greaterThan(1);
    await until(
      () => told("posted_at"),
      ({ length }) => length === subjects.length,
    );
    const ids = hook.posts.flatMap(({ body }) =>
      body.data.alarms.map(({ id }: Alarm & { id: number }) => id),
    );
    expect(new Set(ids).size).to.equal(ids.length);
  });

  it("that the database takes no writes, by another process when one dies while it sends that", async () => {
    const redis = new Redis(instance.redisUrl);
    const key = `${instance.redisPrefix}:unstored-alarm:webhook`;
    await redis.del(key);
    const newSender = () =>
      createAlarmSender({
        ...{ db: instance.db, redis, clock: Date.now },
        config: loadConfig({ ...instance.env, ALARM_WEBHOOK_URL: hook.url }),
        log: createLog({ logLevel: "silent" }, "test"),
        database: { lastingRefusal: () => "the database is read-only" },
      });
    const [first, second] = [newSender(), newSender()];
    const held: ServerResponse[] = [];
    hook.answer = (response) => void held.push(response);
    first.start();
    try {
      await posted(1);
      expect(await redis.pttl(key)).to.be.within(1, minuteMs);
      // Its minute is over.
      await redis.pexpire(key, 1);
      second.start();
      await posted(2);
      held[1]!.writeHead(204).end();
      await until(
        () => redis.pttl(key),
        (ms) => ms > minuteMs,
      );
      // A late failure takes nothing of the other's hour.
      held[0]!.writeHead(500).end();
      await first.stop();
      expect(await redis.pttl(key)).to.be.greaterThan(minuteMs);
    } finally {
      hook.answer = status(204);
      for (const response of held) response.end();
      await Promise.all([first.stop(), second.stop()]);
      redis.disconnect();
    }
  });

  it("together in the next e-mail when one has just been sent", async () => {
    await start(startRole("upkeep", settings({ ALARM_EMAIL_GAP_MS: "6000" })));
    await listening();
    await raise("partner 1");
    await mailed(1);
    for (const subject of ["partner 2", "partner 3", "partner 4"]) await raise(subject);
    await mailed(2);
    expect(mailbox.mails[1]!.subject).to.equal("[Fuelmark] 3 alarms: Marks are held for review");
    expect(mailbox.mails[1]!.text.match(/partner \d/g)).to.deep.equal([
      ...["partner 2", "partner 3", "partner 4"],
    ]);
  });

  it("but not those of an earlier day, when a channel is set up late", async () => {
    await raise("partner 1", "partner 2");
    await rows(
      instance.db,
      "update alarms set raised_at = raised_at - interval '25 hours' where subject = 'partner 1'",
    );
    await start(startRole("upkeep", settings()));
    await mailed(1);
    expect(mailbox.mails[0]!.text).to.contain("partner 2").and.not.contain("partner 1");
  });

  it("not at all without settings, which the log says once", async () => {
    await raise("partner 1");
    const upkeep = await start(startRole("upkeep", { ...instance.env, ALARM_POLL_MS: "20" }));
    expect(upkeep.lines.filter((line) => line.includes("alarms are not sent"))).to.have.length(1);
    expect(
      await rows(instance.db, "select from alarm_channels where claims > 0 and next_at > 'now'"),
    ).to.deep.equal([]);
    expect(await told("emailed_at")).to.deep.equal([]);
  });

  it("as a test through every channel, with what each answered", async () => {
    // Of alarms that were acknowledged before they could be sent.
    const fail = () => rows(instance.db, "update alarm_channels set failures = 3, fault = 'away'");
    const failures = async () =>
      (await readChannels(instance.db)).map(({ channel, failures: count }) => [channel, count]);
    await fail();
    const ran = await runOperator(settings(), "alarm", "test", "--json");
    expect(await failures()).to.deep.equal([
      ["email", 0],
      ["webhook", 0],
    ]);
    await fail();
    expect(ran.json).to.deep.equal([
      { channel: "email", answer: ran.json[0].answer },
      { channel: "webhook", answer: "HTTP 204" },
    ]);
    expect(ran.json[0].answer).to.match(/^250 /);
    expect(mailbox.mails[0]!.subject).to.equal("[Fuelmark] Test of the alarms");
    expect(hook.posts[0]!.body).to.deep.include({ type: "alarms.test", data: { alarms: [] } });
    await mailbox.down();
    const failed = await runOperator(settings(), "alarm", "test");
    await mailbox.up();
    expect(failed.code).to.equal(1);
    expect(await failures()).to.deep.equal([
      ["email", 3],
      ["webhook", 0],
    ]);
    expect(failed.err).to.match(/email: failed \(.*ECONNREFUSED.*\); webhook: HTTP 204/);
    expect(failed.err).to.not.match(/hunter2|s3cret/);
    const none = await runOperator(instance.env, "alarm", "test");
    expect(none.code).to.equal(1);
    expect(none.err).to.contain("ALARM_EMAIL_TO");
  });
});

const alarmOf = (subject: string): Alarm => ({
  ...{ kind: "marks-held", subject, city: "Тестоград", at: Date.now(), details: { limit: 20 } },
});
