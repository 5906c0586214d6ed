import { expect } from "chai";
import { rows } from "#src/infrastructure/db.ts";
import { lockIntake } from "#src/infrastructure/locks.ts";
import { partnerReporter } from "#src/marks/marks.ts";
import { isIntakeAwaited } from "#test/harness/intake-lock.ts";
import { runOperator } from "#test/harness/operator.ts";
import { type Answer, type Client, createClient, until } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { expectRefolded, untilServed } from "#test/flow/refold.ts";
import { useStage } from "#test/flow/stage.ts";

const remote = { lat: null, lon: null };
const rounds = 10;

describe("flow: erasing a person", function () {
  const { instance, country, webs } = useStage(100, ["web", "web", "marks"], {
    TRUSTED_PROXIES: "127.0.0.1",
    SWEEP_MS: "200",
  });
  /** By process: a partner's server, and a page with the map. */
  let partners: Client[];
  let pages: Client[];
  let next = 0;

  before(async () => {
    const clientsOf = (key: string) => webs.map((role) => createClient(role.baseUrl, key));
    partners = clientsOf(country.secret);
    pages = clientsOf(country.publishable);
  });

  /** Each test has stations of its own, out of the others' reach. */
  const place = () => placeOf((next += 4));
  const fromMap = (
    n: number,
    at: { id: string },
    device: string,
    network: string,
  ): Promise<Answer> =>
    pages[n]!.post(
      `/widget/stations/${at.id}/report`,
      { device, status: "low" },
      { "X-Forwarded-For": network },
    );
  const served = async (n: number): Promise<unknown> =>
    (await partners[n]!.get("/stations/all")).body.stations;
  const states = () =>
    rows(
      country.db,
      "select station_id, state from station_status where state is not null order by 1",
    );
  const settled = () => untilServed(country.db, webs);

  it("leaves every status, every count and the fold of the marks as they were", async () => {
    const [confirmed, pending, disputed] = [place(), place(), place()];
    for (const [n, user] of ["old-1", "old-2", "old-3", "old-4"].entries())
      await country.meet(user, 60 + 20 * n);
    for (const user of ["old-1", "old-2"]) {
      await partners[0]!.mark(confirmed, user, { status: "no", ...remote, text: "closed" });
      await partners[1]!.mark(disputed, user, { status: "yes" });
    }
    for (const user of ["old-3", "old-4"])
      await partners[1]!.mark(disputed, user, { status: "no", ...remote });
    for (const [n, device] of ["d-1", "d-2", "d-3"].entries())
      await country.meetDevice(device, 60 + 20 * n);
    await fromMap(0, pending, "d-1", "192.0.2.1");
    await fromMap(1, pending, "d-2", "192.0.2.1");
    await settled();
    const before = { states: await states(), served: await served(0) };
    const shown = JSON.stringify(before.served);
    expect(shown).to.contain('"resolution_reason":"conflict"').and.contain('"pending_count":1');

    const users = ["old-1", "old-2", "old-3", "old-4"];
    const answers = await Promise.all([
      ...users.map((user, n) => partners[n % 2]!.delete(`/users/${user}`)),
      ...["d-1", "d-2"].map((device, n) => pages[n]!.post("/widget/forget", { device })),
    ]);
    for (const { body } of answers) expect(body).to.deep.equal({ erased: true });
    expect(await served(1)).to.deep.equal(before.served);
    await rows(country.db, "update station_status set refold = true where state is not null");
    await settled();
    expect(await states()).to.deep.equal(before.states);
    await expectRefolded(country.db, instance.config);
    // Still one device with those of its network.
    const third = await fromMap(0, pending, "d-3", "192.0.2.1");
    expect(third.body.published).to.include({ outcome: "pending", have: 1 });
  });

  it("makes the next mark of the same user_ref that of somebody new, who cannot confirm it", async () => {
    const here = place();
    const mark = (external_id: string) =>
      partners[0]!.mark(here, "again", { status: "no", ...remote, external_id });
    const first = await mark("named");
    expect((await mark("other")).body.duplicate).to.equal(true);
    expect((await partners[1]!.delete("/users/again")).body).to.deep.equal({ erased: true });
    // The partner's name of the mark is forgotten with its user.
    const second = await mark("named");
    expect(second.body.duplicate).to.equal(false);
    expect(second.body.report_id).to.not.equal(first.body.report_id);
    expect(second.body.published).to.include({ outcome: "pending", have: 1 });
    expect(second.body.fuel.pending_count).to.equal(1);
    const report = await partners[0]!.get(`/reports/${first.body.report_id}`);
    expect(report.body.published.outcome).to.equal("pending");
  });

  it("reads user_ref as marks do, says nobody for the unknown, and refuses what no mark can have", async () => {
    const user = "Ж/ü %2F+?#";
    await partners[0]!.mark(place(), user, { status: "yes" });
    const path = `/users/${encodeURIComponent(user)}`;
    const nobody = { erased: false };
    expect((await partners[0]!.delete(`${path}x`)).body).to.deep.equal(nobody);
    expect((await partners[1]!.delete(path)).body).to.deep.equal({ erased: true });
    expect((await partners[0]!.delete(path)).body).to.deep.equal(nobody);
    const longest = encodeURIComponent("😀".repeat(128));
    expect((await partners[0]!.delete(`/users/${longest}`)).body).to.deep.equal(nobody);
    // A client that does not encode: this path names the user "a".
    const cut = await partners[0]!.delete("/users/a?b");
    expect([cut.status, cut.body.detail[0].loc]).to.deep.equal([422, ["path", "user_ref"]]);
    const longer = await partners[0]!.delete(`/users/${longest}x`);
    expect([longer.status, longer.body.detail[0].loc]).to.deep.equal([422, ["path", "user_ref"]]);
  });

  it("puts a mark that is sent meanwhile before or after, through two processes", async () => {
    const { reporterPepper } = instance.config;
    for (let round = 0; round < rounds; round += 1) {
      const [known, raced] = [placeOf(80), placeOf(81)];
      const user = `raced ${round}`;
      await partners[0]!.mark(known, user, { status: "yes", text: "first" });
      const [marked, erased] = await Promise.all([
        partners[round % 2]!.mark(raced, user, { status: "yes", text: "second" }),
        partners[1]!.delete(`/users/${encodeURIComponent(user)}`),
      ]);
      const [stored] = await rows<{ same: boolean; text: string | null }>(
        country.db,
        `select r.hash = decode(?, 'hex') as same, m.comment as text
         from marks m join reporters r on r.id = m.reporter_id where m.id = ?`,
        [partnerReporter(reporterPepper, country.partnerId, user), marked.body.report_id],
      );
      const before = { same: false, text: null };
      const after = { same: true, text: "second" };
      expect(erased.body.erased).to.equal(true);
      expect(stored).to.deep.equal(stored?.same === true ? after : before);
    }
    const [left] = await rows<{ count: number }>(
      country.db,
      "select count(*) from marks where comment = 'first'",
    );
    expect(left!.count).to.equal(0);
  });

  it("waits for a mark that is being taken in, and erases it too", async () => {
    const here = place();
    await partners[0]!.mark(here, "slow", { status: "yes", text: "first" });
    let answered = false;
    const intake = await country.db.transaction();
    await lockIntake(intake, [country.partnerId]);
    const [taken] = await rows<{ id: number }>(
      intake,
      `insert into marks (id, station_id, reporter_id, partner_id, key_id, source, status, received_at, effective_at,
         remote, needed, rule, comment)
       select next_mark_id(server_now()), station_id, reporter_id, partner_id, key_id, source, 'low', server_now(),
         server_now(), true, 2, 'remote', 'second'
       from marks where station_id = ? returning id`,
      [here.id],
    );
    const erasing = partners[0]!.delete("/users/slow").finally(() => void (answered = true));
    await until(
      () => isIntakeAwaited(country.db),
      (waiting) => waiting || answered,
    );
    const waitedFor = !answered;
    await intake.commit();
    expect(waitedFor).to.equal(true);
    expect((await erasing).body).to.deep.equal({ erased: true });
    const sql = "select comment from marks where id = ?";
    expect(await rows(country.db, sql, [taken!.id])).to.deep.equal([{ comment: null }]);
  });

  it("erases once when asked twice at one instant", async () => {
    await partners[0]!.mark(place(), "twice", { status: "yes" });
    const both = await Promise.all(partners.map((client) => client.delete("/users/twice")));
    const erased = both.map(({ body }) => body.erased as boolean).sort();
    expect(erased).to.deep.equal([false, true]);
  });

  it("clears the marks of all days, also those that no setting would keep any more", async () => {
    const ids: number[] = [];
    for (const days of [40, 410]) {
      const [own, device] = [place(), place()];
      const body = { status: "yes", text: "fine", external_id: `${days} days ago` };
      await partners[0]!.mark(own, "regular", body);
      await pages[1]!.post(`/widget/stations/${device.id}/report`, {
        ...{ ...body, device: "d-long", lat: device.lat, lon: device.lon, acc_m: 10 },
      });
      await settled();
      const day = Math.floor(Date.now() / 86_400_000) - days;
      const partition = "select ensure_mark_partitions(date '1970-01-01' + ?::int, 1)";
      await rows(country.db, partition, [day]);
      const moved = await rows<{ id: number }>(
        country.db,
        `update marks set id = (?::bigint << 32) + (id & 4294967295)
         where station_id = any(?::text[]) returning id`,
        [day, [own.id, device.id]],
      );
      ids.push(...moved.map(({ id }) => id));
    }
    expect(ids).to.have.length(4);
    const kept = async () =>
      rows(
        country.db,
        `select num_nonnulls(lat, lon, comment, external_id) as kept from marks
         where id = any(?::bigint[])`,
        [ids],
      );
    expect(await kept()).to.deep.equal(ids.map(() => ({ kept: 4 })));
    for (const { body: erased } of [
      await partners[0]!.delete("/users/regular"),
      await pages[0]!.post("/widget/forget", { device: "d-long" }),
    ])
      expect(erased).to.deep.equal({ erased: true });
    expect(await kept()).to.deep.equal(ids.map(() => ({ kept: 0 })));
  });

  it("hands out what is kept, and has nothing to hand out afterwards", async () => {
    const here = place();
    const body = { status: "yes", text: "fine", external_id: "mine", prices: { "95": 60.5 } };
    const sent = await partners[0]!.mark(here, "reader", body);
    const who = ["--partner", `${country.partnerId}`, "--user-ref", "reader"];
    const operator = (...args: string[]) => runOperator(instance.env, "reporter", ...args);
    const exported = await operator("export", ...who, "--json");
    expect(exported.json.partner).to.equal(country.partnerId);
    expect(exported.json.marks).to.have.length(1);
    expect(exported.json.marks[0]).to.include({
      ...{ report_id: sent.body.report_id, station_id: here.id, status: "yes", text: "fine" },
      ...{ lat: here.lat, lon: here.lon, external_id: "mine", outcome: "published" },
    });
    expect(exported.json.first_seen).to.equal(exported.json.marks[0].received);
    const erased = await operator("erase", ...who, "--json");
    expect(erased.json).to.deep.equal({ erased: true });
    const empty = {
      partner: country.partnerId,
      first_seen: null,
      blocked_until: null,
      alerts: [],
      suggestions: [],
      marks: [],
    };
    expect((await operator("export", ...who, "--json")).json).to.deep.equal(empty);
    const log = await rows<{ text: string }>(
      country.db,
      "select concat_ws(' ', action, subject, details) as text from operator_log where action like 'reporter.%' order by id",
    );
    const side = `partner ${country.partnerId}`;
    expect(log.map(({ text }) => text)).to.deep.equal([
      `reporter.export ${side} {}`,
      `reporter.erase ${side} {"erased": true}`,
      `reporter.export ${side} {}`,
    ]);
    expect((await operator("erase", "--partner", "999", "--user-ref", "reader")).code).to.equal(1);
    for (const args of [["--partner", "1"], ["--device", "x", ...who], []])
      expect((await operator("erase", ...args)).code).to.equal(2);
  });
});
