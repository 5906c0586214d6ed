import { randomBytes } from "node:crypto";
import { expect } from "chai";
import { inTransaction, rows } from "#src/infrastructure/db.ts";
import { formatTime } from "#src/domain/time.ts";
import { storeKey } from "#src/keys/issued-keys.ts";
import { hashKey, keyPrefix, newKey } from "#src/keys/key-text.ts";
import { partnerReporter } from "#src/marks/reporter.ts";
import { reviewMark } from "#src/marks/held.ts";
import { rollBack } from "#src/marks/rollback.ts";
import { isNotDone } from "#src/operators/act.ts";
import { createTestInstance, type TestInstance } from "#test/harness/instance.ts";
import { sized } from "#test/harness/long.ts";
import { type RunningRole, startRole } from "#test/harness/roles.ts";
import { type Answer, type Client, createClient, until } from "#test/flow/client.ts";
import { type Country, openCountry, placeOf } from "#test/flow/country.ts";
import { countUnprocessed } from "#test/flow/refold.ts";
import { asText } from "#test/oracle/compare.ts";
import { bodyOf, dice, draw, type Drawn } from "#test/oracle/draw.ts";
import { replay } from "#test/oracle/fold.ts";
import { judgedAs, type OracleReport } from "#test/oracle/intake.ts";
import type { OracleMark } from "#test/oracle/story.ts";
import { type StoredMark, storedFirstSeen, storedMarks } from "#test/oracle/stored.ts";

const users = 300;
const stations = sized(20, 50);
const marks = sized(1000, 10_000);
const inFlight = 64;
const massNoLimit = sized(10, 100);
const hourMs = 3600_000;

/** A mark that was answered with 200 or 202 and is no duplicate. */
interface Acknowledged {
  drawn: Drawn;
  observedAt: number | null;
}

describe(`flow: ${marks} random marks against a second reading of the rules`, function () {
  let instance: TestInstance;
  let country: Country;
  let roles: RunningRole[];
  /** By key, one client for each web process. */
  let clients: Client[][];
  let keys: { id: number; confirmMin: number }[];
  const acknowledged = new Map<number, Acknowledged>();
  const chance = dice(20_260_115);
  let sent = 0;

  before(async () => {
    instance = await createTestInstance({
      HOURLY_CAP: "1000000",
      DAILY_CAP: "1000000",
      COOLDOWN_MS: "0",
      EXPRESS_COOLDOWN_MS: "0",
      NEW_REPORTERS_DAILY: "1000000",
    });
    country = await openCountry(instance.config, stations);
    const secrets = [country.secret];
    keys = [{ id: country.keyId, confirmMin: 0 }];
    await inTransaction(country.db, async (tx) => {
      await tx("keys").update({ mass_no_limit: massNoLimit });
      for (const confirmMin of [1, 3, 5, 0]) {
        const secret = newKey("secret", randomBytes(32));
        const hash = hashKey(secret);
        const stored = await storeKey(
          tx,
          { partner_id: country.partnerId, kind: "secret", prefix: keyPrefix(secret), hash },
          { confirm_min: confirmMin, mass_no_limit: massNoLimit },
        );
        secrets.push(secret);
        keys.push({ id: stored.id, confirmMin });
      }
    });
    // Two in three are known already: half of them for days, half since yesterday or today, many within one window.
    for (let user = 0; user < users; user += 1) {
      const minutes = user % 2 === 0 ? 5000 + user * 4 : 1380 + user / 2;
      if (user % 3 !== 0) await country.meet(`user ${user}`, Math.floor(minutes));
    }
    roles = await Promise.all(
      ["web", "web", "marks", "marks"].map((role) => startRole(role, instance.env)),
    );
    clients = secrets.map((secret) =>
      roles.slice(0, 2).map((role) => createClient(role.baseUrl, secret)),
    );
  });

  after(async () => {
    await Promise.all(roles.map((role) => role.stop()));
    await country.close();
    await instance.drop();
  });

  it("takes marks, retries, changes of mind and late ones from many at once", async function () {
    await sendMarks(marks * 0.6);
    await settled();
    await expectJudged(new Map());
  });

  it("serves what the oracle serves, on both processes", () => expectServed());

  let reviewed: ReadonlyMap<number, string> = new Map();

  it("serves it after approvals, rejections and a rollback", async () => {
    const held = (await storedMarks(country.db)).filter((mark) => mark.review === "held");
    expect(held.length).to.be.above(massNoLimit);
    for (const [n, { id }] of held.entries()) {
      if (n % 5 === 4) continue;
      await reviewMark(country.db, "test", id, n % 5 === 3 ? "reject" : "approve");
    }
    await settled();
    await expectServed();
    const selection = { key: keys[4]!.id, status: "yes" } as const;
    const done = await rollBack(country.db, "test", selection, () => undefined);
    expect(isNotDone(done) ? 0 : done.marks).to.be.above(sized(10, 100));
    await settled();
    await expectServed();
    reviewed = new Map((await storedMarks(country.db)).map((mark) => [mark.id, mark.review]));
    expect(new Set(reviewed.values())).to.deep.equal(
      new Set(["none", "held", "approved", "rejected", "withdrawn", "expired"]),
    );
  });

  it("serves it after as many marks again on top of the reviewed ones", async () => {
    await sendMarks(marks - sent);
    await settled();
    await expectJudged(reviewed);
    await expectServed();
  });

  /** Sends `count` marks, `inFlight` at a time; some are sent twice, at once or later, also with a changed body. */
  async function sendMarks(count: number): Promise<void> {
    const last = sent + count;
    const earlier: { drawn: Drawn; body: Record<string, unknown>; id: string }[] = [];
    const lanes = Array.from({ length: inFlight }, async () => {
      while (sent < last) {
        const n = (sent += 1);
        const drawn = draw(chance, n, { users, stations, keys: [0, 0, 0, 1, 2, 3, 4], placeOf });
        const observedAt =
          drawn.lateMin === null ? null : wholeSecond(Date.now() - drawn.lateMin * 60_000);
        const body = bodyOf(drawn, observedAt === null ? null : formatTime(observedAt));
        const retries = drawn.externalId === null ? 0 : chance();
        const answers = await Promise.all([
          send(drawn, body, n % 2),
          ...(retries > 0.95 ? [send(drawn, body, (n + 1) % 2)] : []),
        ]);
        for (const answer of answers) note(answer, { drawn, observedAt });
        const taken = answers.find((answer) => answer.body.duplicate === false);
        if (drawn.externalId !== null && taken !== undefined && n % 20 === 0)
          earlier.push({ drawn, body, id: taken.body.report_id as string });
        const again = n % 40 === 39 ? earlier[Math.floor(chance() * earlier.length)] : undefined;
        if (again !== undefined) {
          const answer = await send(again.drawn, { ...again.body, status: "low" }, n % 2);
          expect(answer.body).to.include({ duplicate: true, report_id: again.id });
        }
      }
    });
    await Promise.all(lanes);
  }

  const send = (drawn: Drawn, body: Record<string, unknown>, process: number): Promise<Answer> =>
    clients[drawn.key]![process]!.mark(placeOf(drawn.station), `user ${drawn.user}`, body, {
      ...(drawn.user % 4 === 0 ? { Prefer: "respond-async" } : {}),
    });

  function note(answer: Answer, what: Acknowledged): void {
    expect(answer.status, JSON.stringify(answer.body)).to.be.oneOf([200, 202]);
    if (answer.body.duplicate) return;
    const id = Number(answer.body.report_id);
    expect(acknowledged.has(id), `${id} given out twice`).to.equal(false);
    acknowledged.set(id, what);
  }

  const settled = () =>
    until(
      async () =>
        (await countUnprocessed(country.db)) +
        (await rows(country.db, "select 1 as one from station_status where refold")).length,
      (left) => left === 0,
      60_000,
    );

  /** What acceptance fixed for each mark is what the oracle says of it, with all that came before in view. */
  async function expectJudged(before: ReadonlyMap<number, string>): Promise<void> {
    const stored = await storedMarks(country.db);
    expect(stored.map((mark) => mark.id)).to.have.members([...acknowledged.keys()]);
    const seen = await storedFirstSeen(country.db);
    const places = new Map(
      Array.from({ length: stations }, (_, n) => [placeOf(n).id, placeOf(n)] as const),
    );
    const accepted: OracleReport[] = [];
    const counting: OracleReport[] = [];
    const newcomersNo = new Map<number, number>();
    for (const mark of stored) {
      const { drawn, observedAt } = acknowledged.get(mark.id)!;
      const report = reportOf(mark);
      expect(mark.at, "effective time").to.equal(Math.min(observedAt ?? Infinity, mark.receivedAt));
      expect(mark.status).to.equal(drawn.status);
      const fresh = before.get(mark.id);
      const key = keys[drawn.key]!;
      const expired = mark.receivedAt - mark.at > 24 * hourMs;
      const newcomer = mark.receivedAt - (seen.get(mark.reporter) ?? mark.receivedAt) < 24 * hourMs;
      const sinceNo = newcomersNo.get(key.id) ?? 0;
      const held = !expired && newcomer && drawn.status === "no" && sinceNo >= massNoLimit;
      if (fresh === undefined) {
        const judged = judgedAs(
          report,
          { accepted, counting },
          places,
          key.confirmMin,
          mark.receivedAt,
        );
        const { remote, needed, rule } = mark;
        expect({ remote, needed, rule }, `mark ${mark.id}`).to.deep.equal(judged);
        expect(mark.review, `mark ${mark.id}`).to.equal(
          expired ? "expired" : held ? "held" : "none",
        );
      }
      if (expired) continue;
      accepted.push(report);
      if (newcomer && drawn.status === "no") newcomersNo.set(key.id, sinceNo + 1);
      if (["none", "approved"].includes(fresh ?? mark.review)) counting.push(report);
    }
  }

  /** Every station, through each web process, serves what the oracle makes of the acknowledged marks. */
  async function expectServed(): Promise<void> {
    const stored = await storedMarks(country.db);
    const seen = await storedFirstSeen(country.db);
    const firstSeen = (reporter: string): number => seen.get(reporter)!;
    const statuses = new Set<string>();
    for (let n = 0; n < stations; n += 1) {
      const { id } = placeOf(n);
      const counted = stored
        .filter((mark) => mark.stationId === id && ["none", "approved"].includes(mark.review))
        .map((mark) => oracleMarkOf(mark));
      const at = (moment: number) => asText(replay({ marks: counted, firstSeen }, moment).block);
      for (const client of clients[0]!) {
        const from = Date.now();
        const served = (await client.get(`/stations/${id}`)).body.station.fuel;
        // What time changes while it is read may be in the answer or not.
        const shown = asText(served);
        if (shown !== at(from)) expect(shown, id).to.equal(at(Date.now()));
        statuses.add(served.resolution_reason as string);
      }
    }
    expect([...statuses]).to.include.members(["published", "unconfirmed", "conflict"]);
  }

  /** The mark as it was sent; of the stored one only what acceptance fixed. */
  function oracleMarkOf(stored: StoredMark): OracleMark {
    const { drawn } = acknowledged.get(stored.id)!;
    return {
      id: stored.id,
      reporter: partnerReporter(
        instance.config.reporterPepper,
        country.partnerId,
        `user ${drawn.user}`,
      ),
      status: drawn.status,
      at: stored.at,
      remote: stored.remote,
      needed: stored.needed,
      says: drawn.says,
    };
  }

  function reportOf(stored: StoredMark): OracleReport {
    const { drawn } = acknowledged.get(stored.id)!;
    return {
      reporter: stored.reporter,
      stationId: placeOf(drawn.station).id,
      status: drawn.status,
      at: stored.at,
      ...(drawn.lat === null ? {} : { lat: drawn.lat, lon: drawn.lon! }),
      ...(drawn.accM === null ? {} : { accM: drawn.accM }),
    };
  }
});

const wholeSecond = (ms: number): number => Math.floor(ms / 1000) * 1000;
