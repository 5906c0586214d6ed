import { expect } from "chai";
import { rows } from "#src/infrastructure/db.ts";
import { formatTime } from "#src/domain/time.ts";
import type { Answer } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { untilProcessed } from "#test/flow/refold.ts";
import { useStage } from "#test/flow/stage.ts";

/** Rules of decisions 3 and 4 that need what the database remembers: windows, first-seen, distances, switches. */
describe("flow: intake rules through HTTP", function () {
  const { country, client } = useStage(1100, ["web", "marks"], { KEYS_REFRESH_MS: "200" });
  /** Each test has stations of its own, 30 km from the next test's. */
  let next = 0;

  before(async () => {
    await country.meet("known", 30 * 24 * 60);
  });
  beforeEach(() => void (next += 100));

  const at = (n: number) => placeOf(next + n);
  const code = (answer: Answer): string =>
    answer.status === 200 ? "taken" : String(answer.body.type).split("/").at(-1)!;
  /** Makes everything that was received seem `ms` older. */
  const age = async (ms: number): Promise<void> => {
    await untilProcessed(country.db);
    const by = `${ms} milliseconds`;
    await rows(country.db, "update marks set received_at = received_at - ?::interval", [by]);
    await rows(country.db, "update mark_keys set at = at - ?::interval", [by]);
    await rows(country.db, "update review_changes set at = at - ?::interval", [by]);
    await rows(country.db, "update reporters set first_seen = first_seen - ?::interval", [by]);
  };
  const minute = 60_000;
  const hour = 60 * minute;

  it("cooldown: 429 with Retry-After, limit and window, for 20 minutes from the receipt", async () => {
    await client.mark(at(0), "known", { status: "yes" });
    await age(10 * minute);
    const refused = await client.mark(at(0), "known", { status: "low" });
    expect([refused.status, code(refused), refused.body.window, refused.body.limit]).to.deep.equal([
      429,
      "station-cooldown",
      "1200s",
      1,
    ]);
    expect(Number(refused.headers.get("retry-after"))).to.be.within(1, 600);
    await age(10 * minute);
    expect(code(await client.mark(at(0), "known", { status: "low" }))).to.equal("taken");
  });

  it("duplicate: the same status again under 5 minutes, and the first's verdict with the fuel of now", async () => {
    await client.mark(at(1), "another", { status: "yes" });
    const first = await client.mark(at(0), "known", { status: "no" });
    await country.meet(`second ${next}`, 9 * 24 * 60);
    await client.mark(at(0), `second ${next}`, { status: "no" });
    const again = await client.mark(at(0), "known", { status: "no" });
    expect([again.status, again.body.duplicate, again.body.accepted]).to.deep.equal([
      200,
      true,
      true,
    ]);
    expect(again.body.published).to.deep.equal(first.body.published);
    expect(again.body.published.outcome).to.equal("pending");
    expect(again.body.fuel.status).to.equal("no");
    await age(5 * minute);
    expect(code(await client.mark(at(0), "known", { status: "no" }))).to.equal("station-cooldown");
  });

  it("external_id: 30 days, also with a changed body; not used up by a refused mark", async () => {
    await client.mark(at(0), "known", { status: "yes" });
    const id = { external_id: "the one" };
    expect(code(await client.mark(at(0), "known", { status: "low", ...id }))).to.equal(
      "station-cooldown",
    );
    const taken = await client.mark(at(1), "known", { status: "low", ...id });
    expect(taken.body.duplicate).to.equal(false);
    await age(29 * 24 * hour);
    const late = await client.mark(at(2), "other", { status: "no", ...id });
    expect(late.body).to.include({ duplicate: true, report_id: taken.body.report_id });
    expect(late.body.fuel.status).to.equal("low");
    await age(24 * hour);
    expect((await client.mark(at(2), "other", { status: "yes", ...id })).body.duplicate).to.equal(
      false,
    );
  });

  it("caps: 12 an hour, for a new reporter too, sliding by receipt, 429 user-rate-limited", async () => {
    const user = `busy ${next}`;
    for (let n = 0; n < 12; n += 1)
      expect(code(await client.mark(at(n), user, { status: "yes" }))).to.equal("taken");
    const refused = await client.mark(at(12), user, { status: "yes" });
    expect([code(refused), refused.body.limit, refused.body.window]).to.deep.equal([
      "user-rate-limited",
      12,
      "3600s",
    ]);
    expect(Number(refused.headers.get("retry-after"))).to.be.within(3000, 3600);
    await age(hour);
    expect(code(await client.mark(at(12), user, { status: "yes" }))).to.equal("taken");
  });

  it("expired: answered, accepted false, not stored; takes no cooldown, cap or first-seen", async () => {
    const rowsNow = async (): Promise<unknown[]> =>
      rows(
        country.db,
        "select (select count(*) from marks), (select count(*) from reporters), (select count(*) from mark_keys)",
      );
    const before = await rowsNow();
    const old = { status: "yes", observed_at: formatTime(Date.now() - 24 * hour - minute) };
    const user = `slow ${next}`;
    for (let n = 0; n < 8; n += 1) {
      const answer = await client.mark(at(0), user, { ...old, external_id: `old ${n % 2}` });
      expect(answer.body).to.deep.include({ accepted: false, duplicate: false, report_id: "" });
      expect(answer.body.published).to.include({ outcome: "expired", status: "nodata" });
    }
    expect(await rowsNow()).to.deep.equal(before);
    expect(code(await client.mark(at(0), user, { status: "low" }))).to.equal("taken");
  });

  it("new reporters: 500 a day and partner, sliding; known ones still pass", async () => {
    await age(24 * hour);
    // More than the limit, as after it was lowered: ten have to leave before there is a place.
    await rows(
      country.db,
      `insert into reporters (hash, partner_id, first_seen)
       select decode(md5(n::text) || md5(n::text), 'hex'), ?,
         server_now() - case when n <= 10 then interval '23 hours 50 minutes' else interval '23 hours' end
       from generate_series(1, 510) as n`,
      [country.partnerId],
    );
    const refused = await client.mark(at(0), `one more ${next}`, { status: "yes" });
    expect([code(refused), refused.body.limit, refused.body.window]).to.deep.equal([
      "new-users-limit",
      500,
      "86400s",
    ]);
    expect(Number(refused.headers.get("retry-after"))).to.be.within(3000, 3600);
    expect(code(await client.mark(at(0), "known", { status: "yes" }))).to.equal("taken");
    await age(hour);
    expect(code(await client.mark(at(1), `one more ${next}`, { status: "yes" }))).to.equal("taken");
  });

  it("mass `no`: the 21st of newcomers within 60 minutes through one key is held", async () => {
    await age(24 * hour);
    const no = (n: number) => client.mark(at(n), `crowd ${next} ${n}`, { status: "no" });
    for (let n = 0; n < 20; n += 1)
      expect((await no(n)).body.published.outcome, `mark ${n}`).to.not.equal("held");
    const held = await no(20);
    expect([held.status, held.body.accepted, held.body.published.outcome]).to.deep.equal([
      200,
      true,
      "held",
    ]);
    expect(held.body.fuel).to.include({ status: "nodata", pending_status: "", pending_count: 0 });
    await age(hour);
    expect((await no(21)).body.published.outcome).to.not.equal("held");
  });
});
