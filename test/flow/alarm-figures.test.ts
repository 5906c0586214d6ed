import { randomBytes } from "node:crypto";
import { expect } from "chai";
import { countHarmful } from "#src/alarms/harmful-counts.ts";
import { raiseAlarms } from "#src/alarms/raise.ts";
import { inTransaction, rows } from "#src/infrastructure/db.ts";
import { firstIdOfDay } from "#src/marks/marks.ts";
import { readExposition } from "#test/api/exposition.ts";
import { until } from "#test/flow/client.ts";
import { useAccount } from "#test/flow/console-client.ts";
import { placeOf } from "#test/flow/country.ts";
import { runOperator } from "#test/harness/operator.ts";
import { useStage } from "#test/flow/stage.ts";

describe("flow: alarms in /metrics, /readyz, the console and the command line", function () {
  const { instance, country, web } = useStage(3, ["web"], {
    ALARM_POLL_MS: "50",
    ALARM_WEBHOOK_URL: "http://127.0.0.1:1/hooks/s3cret",
  });
  const olga = useAccount(country, () => web.baseUrl);
  let marks = 0;

  beforeEach(async () => {
    await rows(country.db, "truncate alarms, harmful_changes restart identity");
    await rows(country.db, "update alarm_channels set failures = 0, fault = null");
    await rows(country.db, "delete from marks");
  });

  const raise = (...cities: string[]): Promise<void> =>
    inTransaction(country.db, (tx) =>
      raiseAlarms(
        tx,
        cities.map((city) => ({
          ...{ kind: "marks-held", city, at: Date.now() },
          subject: { code: "partner", partner: 7 },
        })),
      ),
    );
  const samples = async () => readExposition(await (await fetch(`${web.baseUrl}/metrics`)).text());
  const sample = (name: string, value: number) =>
    until(samples, (found) => found.get(name) === value);
  const readiness = async () => {
    const response = await fetch(`${web.baseUrl}/readyz`);
    const { degraded, checks } = (await response.json()) as {
      degraded: string[];
      checks: { alarms: { ok: boolean; detail: Record<string, unknown> } };
    };
    return { status: response.status, degraded, ...checks.alarms };
  };
  /** A mark of a partner, or of a viewer's network, received `minutesAgo`. */
  const mark = async (
    from: { partner: number } | { viewer: Buffer },
    { review = "none", minutesAgo = 1 } = {},
  ): Promise<void> => {
    const [partner, viewer] = "partner" in from ? [from.partner, null] : [null, from.viewer];
    await rows(
      country.db,
      `insert into marks (id, station_id, reporter_id, partner_id, viewer, source, status, received_at,
         effective_at, remote, needed, rule, review, processed_at, outcome)
       values (?, ?, 1, ?, ?, ?, 'no', server_now() - ?::int * interval '1 minute', server_now(), false, 1,
         'geolocated', ?, server_now(), 'published')`,
      [
        firstIdOfDay(Date.now()) + 1_000_000 + (marks += 1),
        placeOf(0).id,
        ...[partner, viewer, viewer === null ? "partner" : "widget", minutesAgo, review],
      ],
    );
  };

  it("shows how many alarms of each kind are open", async () => {
    await raise("Тестоград", "Другой");
    await sample('fuelmark_alarms_open{kind="marks-held"}', 2);
    expect((await samples()).get('fuelmark_alarms_open{kind="station-stuck"}')).to.equal(0);
    const { status, degraded, detail } = await until(
      readiness,
      ({ detail: { open } }) => open === 2,
    );
    expect(status).to.equal(200);
    expect(degraded).to.not.include("alarms");
    expect(detail["newest"]).to.have.length(2);
    expect(JSON.stringify(detail)).to.match(/marks-held in Тестоград since \d{4}/);
    // Anybody may read /readyz.
    expect(JSON.stringify(detail)).to.not.contain("partner 7");
  });

  it("gives the console the code of a subject, and the English text of one from an older process", async () => {
    await raise("Тестоград");
    await rows(
      country.db,
      "insert into alarms (kind, subject, hour) values ('station-stuck', 'station n7', server_now())",
    );
    const { body } = await olga.call("GET", "/alarms");
    expect(body.alarms.map(({ subject }: { subject: unknown }) => subject)).to.deep.equal([
      "station n7",
      { code: "partner", partner: 7 },
    ]);
    const texts = await rows<{ subject: string }>(country.db, "select subject from alarms");
    expect(texts.map(({ subject }) => subject)).to.have.members(["partner 7", "station n7"]);
  });

  it("counts harmful changes as a counter that every process shows alike", async () => {
    const change = { from: "yes", to: "no", sourceKind: "partner" } as const;
    await inTransaction(country.db, (tx) => countHarmful(tx, [change, change]));
    const name = 'fuelmark_harmful_changes_total{from="yes",to="no",source_kind="partner"}';
    await sample(name, 2);
    await inTransaction(country.db, (tx) => countHarmful(tx, [change]));
    await sample(name, 3);
    expect((await readiness()).detail["harmful_changes"]).to.equal(3);
  });

  it("shows held marks by reason", async () => {
    await mark({ partner: country.partnerId }, { review: "held" });
    await sample('fuelmark_marks_held{reason="mass-no"}', 1);
  });

  it("shows the share of the busiest source in the counted marks of the last hour", async () => {
    await sample("fuelmark_busiest_source_share", 0);
    const [one, two] = [randomBytes(8), randomBytes(8)];
    for (let n = 0; n < 3; n += 1) await mark({ partner: country.partnerId });
    await mark({ viewer: one });
    await mark({ viewer: two });
    // Neither of them counts.
    await mark({ viewer: one }, { review: "held" });
    await mark({ viewer: one }, { minutesAgo: 61 });
    await sample("fuelmark_busiest_source_share", 0.6);
    for (let n = 0; n < 5; n += 1) await mark({ viewer: two });
    await sample("fuelmark_busiest_source_share", 0.6);
    expect((await readiness()).detail["busiest_source_share"]).to.equal(0.6);
  });

  it("is degraded, and serves, while a channel cannot send", async () => {
    await rows(
      country.db,
      "update alarm_channels set failures = 3, fault = 'connect ECONNREFUSED' where channel = 'webhook'",
    );
    // Nobody has set up e-mail here.
    await rows(country.db, "update alarm_channels set failures = 9 where channel = 'email'");
    await sample('fuelmark_alarm_channel_failures{channel="webhook"}', 3);
    const { status, degraded, detail } = await until(readiness, ({ ok }) => !ok);
    expect(status).to.equal(200);
    expect(degraded).to.include("alarms");
    expect(detail["failing"]).to.deep.equal({ webhook: 3 });
    const { body } = await olga.call("GET", "/alarms");
    expect(body.channels).to.have.length(1);
    expect(body.channels[0]).to.deep.include({
      ...{ channel: "webhook", failures: 3, fault: "connect ECONNREFUSED" },
    });
    const listed = await runOperator(instance.env, "alarm", "list");
    expect(listed.err).to.contain("webhook has failed 3 times: connect ECONNREFUSED");
  });

  it("lets an operator acknowledge alarms in the console", async () => {
    await raise("Тестоград", "Другой", "Третий");
    const before = await olga.call("GET", "/alarms");
    expect(before.body.total).to.equal(3);
    expect(before.body.alarms[0]).to.deep.include({
      ...{ kind: "marks-held", title: "Marks are held for review", page: "/review" },
      ...{ subject: { code: "partner", partner: 7 }, count: 1 },
    });
    const { body } = await olga.call("POST", "/alarms/acknowledge", { ids: [2, 1, 99] });
    expect(body).to.deep.equal({ acknowledged: [1, 2], missed: [99] });
    expect(
      (await olga.call("POST", "/alarms/acknowledge", { ids: [1] })).body.missed,
    ).to.deep.equal([1]);
    expect((await olga.call("GET", "/alarms")).body.alarms).to.have.length(1);
    await sample('fuelmark_alarms_open{kind="marks-held"}', 1);
    const [row] = await rows(country.db, "select acknowledged_by from alarms where id = 2");
    expect(row).to.deep.equal({ acknowledged_by: "olga" });
  });

  it("lists and acknowledges alarms on the command line", async () => {
    await raise("Тестоград", "Другой");
    const run = (...args: string[]) => runOperator(instance.env, "alarm", ...args);
    expect((await run("list")).out).to.match(/marks-held +partner 7 +Тестоград/);
    expect((await run("acknowledge", "1", "--json")).json).to.deep.equal({ acknowledged: [1] });
    expect((await run("acknowledge", "1")).err).to.contain("alarm 1 is acknowledged already");
    expect((await run("acknowledge", "9")).err).to.contain("there is no alarm 9");
    expect((await run("acknowledge")).code).to.equal(2);
    expect((await run("acknowledge", "--all", "--json")).json).to.deep.equal({ acknowledged: [2] });
    expect((await run("list")).out).to.equal("no open alarms\n");
    expect((await run("list", "--all", "--json")).json).to.have.length(2);
  });
});
