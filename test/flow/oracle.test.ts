import { randomBytes } from "node:crypto";
import { expect } from "chai";
import { Redis } from "ioredis";
import { isRefusal } from "#src/contract/refusals.ts";
import { inTransaction, rows } from "#src/infrastructure/db.ts";
import { formatTime } from "#src/domain/time.ts";
import { storeKey } from "#src/keys/issued-keys.ts";
import { hashKey, keyPrefix, newKey } from "#src/keys/key-text.ts";
import { deviceReporter, partnerReporter } from "#src/marks/marks.ts";
import { blockReporter } from "#src/marks/source-blocks.ts";
import { reviewMark } from "#src/marks/review-mark.ts";
import { decideBatch } from "#src/marks/bulk-decisions.ts";
import { undoDecision } from "#src/marks/undo-decision.ts";
import { saveMedians } from "#snapshots/insights/price-medians.ts";
import { cellOf } from "#src/domain/price-line.ts";
import { by } from "#test/harness/by.ts";
import { sized } from "#test/harness/long.ts";
import { type Answer, type Client, createClient } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { untilServed } from "#test/flow/refold.ts";
import { differences, storedOf } from "#test/flow/stored.ts";
import { judgedInTurn, type Verdict } from "#test/oracle/caution.ts";
import { asText } from "#test/oracle/compare.ts";
import { bodyOf, dice, draw, type Drawn, stationsIn } from "#test/oracle/draw.ts";
import { replay } from "#test/oracle/fold.ts";
import { judgedAs, type OracleReport, pricesNeededBy } from "#test/oracle/intake.ts";
import type { OracleMark } from "#test/oracle/story.ts";
import { type StoredMark, storedFirstSeen, storedMarks } from "#test/oracle/stored.ts";
import { useStage } from "#test/flow/stage.ts";
import { useRoles } from "#test/harness/use.ts";

const users = 300;
const stations = sized(10, 50);
const quietGroups = sized(10, 60);
/** What the drawn marks can be about. */
const used = stationsIn({ stations, quietGroups });
const marks = sized(400, 10_000);
const inFlight = 64;
const hourMs = 3600_000;
/** What grades cost around all stations; of the last one too few prices are known. */
const medians = { "92": 55, "95": 55, "98": 60, "100": 55 };

/** A mark that was answered with 200 or 202 and is no duplicate. */
interface Acknowledged {
  drawn: Drawn;
  observedAt: number | null;
}

describe(`flow: ${marks} random marks against a second reading of the rules`, function () {
  const { instance, country } = useStage(used.at(-1)! + 1, [], {
    HOURLY_CAP: "1000000",
    DAILY_CAP: "1000000",
    COOLDOWN_MS: "0",
    EXPRESS_COOLDOWN_MS: "0",
    NEW_REPORTERS_DAILY: "1000000",
    // The second reading does not know the review of harmful changes.
    ESTABLISHED_MS: "0",
    TRUSTED_PROXIES: "127.0.0.1",
  });
  let secrets: string[];
  /** By key, one client for each web process. */
  let clients: Client[][];
  let keys: { id: number; confirmMin: number }[];
  let widgetKey: { id: number; confirmMin: number };
  /** What each mark needed at its acceptance. */
  const asAccepted = new Map<number, Verdict>();
  /** What the first processing made of each mark: it stays, whatever is withdrawn or approved later. */
  const verdicts = new Map<number, Verdict>();
  let reviewed: ReadonlyMap<number, string> = new Map();
  const acknowledged = new Map<number, Acknowledged>();
  /** Which of these their drivers took back. */
  const takenBack = new Set<number>();
  /** Reporters (hex) whose further marks an operator holds. */
  const blocked = new Set<string>();
  /** Why a station showed what it showed. */
  const reasons = new Set<string>();
  const chance = dice(20_260_115);
  let sent = 0;

  before(async () => {
    secrets = [country.secret];
    keys = [{ id: country.keyId, confirmMin: 0 }];
    await inTransaction(country.db, async (tx) => {
      for (const confirmMin of [1, 3, 5, 0]) {
        const secret = newKey("secret", randomBytes(32));
        const hash = hashKey(secret);
        const stored = await storeKey(
          tx,
          { partner_id: country.partnerId, kind: "secret", prefix: keyPrefix(secret), hash },
          { confirm_min: confirmMin },
        );
        secrets.push(secret);
        keys.push({ id: stored.id, confirmMin });
      }
    });
    const [publishable] = await rows<{ id: number }>(
      country.db,
      "select id from keys where kind = 'publishable'",
    );
    widgetKey = { id: publishable!.id, confirmMin: 0 };
    // Two in three are known already: half of them for days, half since yesterday or today, many within one window.
    for (let user = 0; user < users; user += 1) {
      const minutes = user % 2 === 0 ? 5000 + user * 4 : 1380 + user / 2;
      if (user % 3 === 0) continue;
      await country.meet(`user ${user}`, Math.floor(minutes));
      await country.meetDevice(`device ${user}`, Math.floor(minutes) + 3);
    }
    await storeMedians();
  });
  useRoles(["marks", "marks"], instance);
  const webs = useRoles(["web", "web"], instance);
  before(() => {
    clients = [...secrets, country.publishable].map((secret) =>
      webs.map((role) => createClient(role.baseUrl, secret)),
    );
  });

  it("takes marks, retries, changes of mind and late ones from many at once, and holds those of blocked people", async function () {
    await blockSome(5);
    await sendMarks(marks * 0.6);
    await settled();
    await expectJudged(new Map());
  });

  it("serves what the oracle serves, on both processes", () => expectServed());

  it("serves it after drivers have taken marks back, and takes their next ones at once", async () => {
    const before = reviewsOf(await storedMarks(country.db));
    await sendSome(sent + 20, true);
    await settled();
    const latest = newestOfDevices(await storedMarks(country.db), before);
    expect(latest.length).to.be.above(5);
    for (const [n, { id, drawn }] of latest.entries()) {
      const answer = await sendTakeBack(drawn, n % 2);
      expect(answer.status, JSON.stringify(answer.body)).to.be.oneOf([200, 202]);
      expect(answer.body.report_id).to.equal(String(id));
      takenBack.add(id);
    }
    await settled();
    await expectJudged(before);
    await expectServed();
    const after = await storedMarks(country.db);
    const withdrawn = after.filter((mark) => mark.review === "withdrawn");
    expect(withdrawn.map((mark) => mark.id)).to.have.members([...takenBack]);
    for (const [n, { id, drawn, others }] of latest.entries()) {
      const again = { ...drawn, lateMin: null };
      const answer = await send(again, bodyOf(again, null), n % 2);
      note(answer, { drawn: again, observedAt: null });
      // What else the device has said there lately may be the same.
      if (others === 0) expect(answer.body.duplicate, `after ${id}`).to.equal(false);
      expect(answer.body.report_id).to.not.equal(String(id));
    }
    await settled();
    await expectJudged(reviewsOf(after));
    await expectServed();
    reviewed = reviewsOf(await storedMarks(country.db));
  });

  it("serves it after approvals, rejections, a rollback that is taken back and one that stays", async () => {
    const held = (await storedMarks(country.db)).filter((mark) => mark.review === "held");
    expect(held.length).to.be.above(sized(5, 50));
    for (const [n, { id }] of held.entries()) {
      if (n % 5 === 4) continue;
      await reviewMark[n % 5 === 3 ? "reject" : "approve"](by(country.db, "test"), {}, id);
    }
    await settled();
    await expectApprovedJudged();
    await expectServed();
    const selection = { key: keys[4]!.id, status: "yes" } as const;
    const rollBack = async (): Promise<number> => {
      const done = await decideBatch(country.db, "test", "rollback", selection, () => undefined);
      if (isRefusal(done)) throw new Error("not done");
      expect(done.marks).to.be.above(sized(3, 100));
      await settled();
      await expectServed();
      return done.id!;
    };
    const before = await storedOf(country.db);
    await undoDecision(country.db, "test", ["rollback"], await rollBack(), () => undefined);
    await settled();
    expect(differences(before, await storedOf(country.db))).to.deep.equal([]);
    await expectServed();
    await rollBack();
    reviewed = reviewsOf(await storedMarks(country.db));
    expect(new Set(reviewed.values())).to.deep.equal(
      new Set(["none", "held", "approved", "rejected", "withdrawn"]),
    );
  });

  it("serves it after as many marks again on top of the reviewed ones, those of blocked people held", async () => {
    await blockSome(0);
    await sendMarks(marks - sent);
    await settled();
    await expectJudged(reviewed);
    await expectServed();
    const stopped = (await storedMarks(country.db)).filter(
      ({ id, reporter, review }) => !reviewed.has(id) && blocked.has(reporter) && review === "held",
    );
    expect(stopped.length).to.be.above(sized(5, 50));
    const cautious = (await storedMarks(country.db)).filter((mark) => mark.rule === "caution");
    // Few marks may have drawn none; what was judged agrees in any case.
    expect(cautious.filter((mark) => mark.status === "no").length).to.be.above(sized(-1, 20));
    expect(cautious.filter((mark) => mark.status !== "no").length).to.be.above(sized(-1, 20));
  });

  it("serves it after people are erased and every station is folded again", async () => {
    const known = await readKnown();
    const [partner, map] = [clients[0]![0]!, clients.at(-1)![1]!];
    for (let user = 0; user < users; user += 15) {
      await partner.delete(`/users/user ${user}`);
      await map.post("/widget/forget", { device: `device ${user}` });
    }
    const hashes = new Set((await storedFirstSeen(country.db)).keys());
    const gone = [...known.seen.keys()].filter((hash) => !hashes.has(hash));
    expect(gone.length).to.be.above(users / 30);
    await rows(country.db, "update station_status set refold = true where state is not null");
    await settled();
    await expectServed(known);
    // Few marks may lead to no dispute, and many may leave no station without data.
    const usual = ["published", "unconfirmed"];
    expect([...reasons]).to.include.members([...usual, sized("no_data", "conflict")]);
  });

  /** What the oracle reads of the database. */
  const readKnown = async () => ({
    stored: await storedMarks(country.db),
    seen: await storedFirstSeen(country.db),
  });

  /** As the worker stores them that no test of this file starts. */
  async function storeMedians(): Promise<void> {
    const redis = new Redis(instance.redisUrl);
    const byCell = Object.fromEntries(used.map((n) => [cellOf(placeOf(n)), medians]));
    await saveMedians(redis, instance.redisPrefix, byCell, Date.now());
    redis.disconnect();
  }

  /** Partners' users first, then the widget's drivers: an acceptance locks out others of its kind only. */
  async function sendMarks(count: number): Promise<void> {
    await sendSome(sent + Math.floor(count * 0.7), false);
    await sendSome(sent + Math.ceil(count * 0.3), true);
  }

  /** Sends marks up to number `last`, `inFlight` at a time; some are sent twice, at once or later, also with a changed body. */
  async function sendSome(last: number, widget: boolean): Promise<void> {
    const bounds = {
      users,
      stations,
      quietGroups,
      keys: [0, 0, 0, 4, 4, 4, 1, 2, 3],
      placeOf,
      widget,
    };
    const earlier: { drawn: Drawn; body: Record<string, unknown>; id: string }[] = [];
    const lanes = Array.from({ length: inFlight }, async () => {
      while (sent < last) {
        const n = (sent += 1);
        const drawn = draw(chance, n, bounds);
        const observedAt =
          drawn.lateMin === null ? null : wholeSecond(Date.now() - drawn.lateMin * 60_000);
        const body = bodyOf(drawn, observedAt === null ? null : formatTime(observedAt));
        const retries = drawn.externalId === null ? 0 : chance();
        const answers = await Promise.all([
          send(drawn, body, n % 2),
          ...(retries > 0.95 ? [send(drawn, body, (n + 1) % 2)] : []),
        ]);
        for (const answer of answers) note(answer, { drawn, observedAt });
        const taken = answers.find(
          ({ body: { duplicate, report_id: id } }) => !duplicate && id !== "",
        );
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

  function send(drawn: Drawn, body: Record<string, unknown>, process: number): Promise<Answer> {
    const { user, viewer } = drawn;
    const prefer: Record<string, string> = user % 4 === 0 ? { Prefer: "respond-async" } : {};
    const place = placeOf(drawn.station);
    const client = clients[drawn.key ?? keys.length]![process]!;
    if (viewer === null) return client.mark(place, `user ${user}`, body, prefer);
    return client.post(
      `/widget/stations/${place.id}/report`,
      { device: `device ${user}`, ...body },
      { ...prefer, "X-Forwarded-For": viewer.address },
    );
  }

  const sendTakeBack = ({ user, station, viewer }: Drawn, process: number): Promise<Answer> =>
    clients[keys.length]![process]!.post(
      `/widget/stations/${placeOf(station).id}/take-back`,
      { device: `device ${user}` },
      { "X-Forwarded-For": viewer!.address },
    );

  /** Of the marks since `before` those that their devices may take back: the newest of each on a station. */
  function newestOfDevices(stored: readonly StoredMark[], before: ReadonlyMap<number, string>) {
    const places = new Map<string, StoredMark[]>();
    for (const mark of stored) {
      const place = `${mark.reporter} ${mark.stationId}`;
      places.set(place, [...(places.get(place) ?? []), mark]);
    }
    return [...places.values()].flatMap((here) => {
      const newest = here.at(-1)!;
      const { drawn } = acknowledged.get(newest.id)!;
      return before.has(newest.id) || drawn.viewer === null
        ? []
        : { id: newest.id, drawn, others: here.length - 1 };
    });
  }

  function note(answer: Answer, what: Acknowledged): void {
    expect(answer.status, JSON.stringify(answer.body)).to.be.oneOf([200, 202]);
    if (answer.body.duplicate || answer.body.published.outcome === "expired") return;
    const id = Number(answer.body.report_id);
    expect(acknowledged.has(id), `${id} given out twice`).to.equal(false);
    acknowledged.set(id, what);
  }

  /** Every tenth person that is known, from number `first`, until tomorrow. */
  async function blockSome(first: number): Promise<void> {
    const known = await rows<{ id: number; hash: string }>(
      country.db,
      "select id, encode(hash, 'hex') as hash from reporters order by id",
    );
    const now = Date.now();
    for (const { id, hash } of known.filter((_, n) => n % 10 === first)) {
      const done = await blockReporter(
        { ...by(country.db, "test"), now },
        { until: now + 24 * hourMs },
        id,
      );
      if (isRefusal(done)) throw new Error("not blocked");
      blocked.add(hash);
    }
  }

  const settled = () => untilServed(country.db, webs);

  /** What each mark needs is what the oracle says of its acceptance and its first processing, with all that came before in view. */
  async function expectJudged(before: ReadonlyMap<number, string>): Promise<void> {
    const stored = await storedMarks(country.db);
    expect(stored.map((mark) => mark.id)).to.have.members([...acknowledged.keys()]);
    const seen = await storedFirstSeen(country.db);
    const places = new Map(used.map((n) => [placeOf(n).id, placeOf(n)] as const));
    const firstSeen = (reporter: string): number => seen.get(reporter)!;
    const known = new Map<string, OracleMark[]>();
    const accepted: OracleReport[] = [];
    const counting: OracleReport[] = [];
    for (const mark of stored) {
      const { drawn, observedAt } = acknowledged.get(mark.id)!;
      const report = reportOf(mark);
      expect(mark.at, "effective time").to.equal(Math.min(observedAt ?? Infinity, mark.receivedAt));
      expect(mark.status).to.equal(drawn.status);
      const fresh = before.get(mark.id);
      const key = drawn.key === null ? widgetKey : keys[drawn.key]!;
      expect(mark.receivedAt - mark.at, "older marks are not stored").to.be.at.most(24 * hourMs);
      const held = fresh === undefined && blocked.has(mark.reporter);
      const taken = held ? "held" : "none";
      if (fresh === undefined) {
        const judged = judgedAs(
          report,
          { accepted, counting },
          places,
          key.confirmMin,
          mark.receivedAt,
        );
        asAccepted.set(mark.id, { needed: judged.needed, rule: judged.rule });
        const received = held ? [] : [{ ...oracleMarkOf(mark), ...judged }];
        const story = { marks: known.get(mark.stationId) ?? [], firstSeen };
        const [made = judged] = judgedInTurn(received, story, verdicts);
        expect(neededOf(mark), `mark ${mark.id}`).to.deep.equal(neededOf(made));
        expect(mark.pricesNeeded, `mark ${mark.id}`).to.deep.equal(
          pricesNeededBy(drawn.says.prices, medians),
        );
        expect(mark.review, `mark ${mark.id}`).to.equal(
          takenBack.has(mark.id) ? "withdrawn" : taken,
        );
      }
      accepted.push(report);
      // What was taken back counted for all that came before.
      const review = fresh ?? (takenBack.has(mark.id) ? taken : mark.review);
      if (!["none", "approved"].includes(review)) continue;
      counting.push(report);
      const made = { ...oracleMarkOf(mark), ...verdicts.get(mark.id) };
      known.set(mark.stationId, [...(known.get(mark.stationId) ?? []), made]);
    }
  }

  /** A held mark is processed for the first time when it has been approved, after everything that was there by then. */
  async function expectApprovedJudged(): Promise<void> {
    const stored = await storedMarks(country.db);
    const seen = await storedFirstSeen(country.db);
    const firstSeen = (reporter: string): number => seen.get(reporter)!;
    for (const n of used) {
      const here = stored.filter((mark) => mark.stationId === placeOf(n).id);
      const reviewedAs = (review: string) => here.filter((mark) => mark.review === review);
      const marks = reviewedAs("none").map((mark) => judgedMarkOf(mark));
      const approved = reviewedAs("approved").map((mark) => ({
        ...oracleMarkOf(mark),
        ...asAccepted.get(mark.id)!,
      }));
      const made = judgedInTurn(approved, { marks, firstSeen }, verdicts);
      expect(reviewedAs("approved").map(neededOf), placeOf(n).id).to.deep.equal(made.map(neededOf));
    }
  }

  /** Every station, through each web process, serves what the oracle makes of the acknowledged marks. */
  async function expectServed(known?: Awaited<ReturnType<typeof readKnown>>): Promise<void> {
    const { stored, seen } = known ?? (await readKnown());
    const firstSeen = (reporter: string): number => seen.get(reporter)!;
    for (const n of used) {
      const { id } = placeOf(n);
      const counted = stored
        .filter((mark) => mark.stationId === id && ["none", "approved"].includes(mark.review))
        .map((mark) => judgedMarkOf(mark));
      const at = (moment: number) => asText(replay({ marks: counted, firstSeen }, moment).block);
      for (const client of clients[0]!) {
        const from = Date.now();
        const served = (await client.get(`/stations/${id}`)).body.station.fuel;
        // What time changes while it is read may be in the answer or not.
        const shown = asText(served);
        if (shown !== at(from)) expect(shown, id).to.equal(at(Date.now()));
        reasons.add(served.resolution_reason as string);
      }
    }
  }

  /** The mark as it was sent; of the stored one only what acceptance fixed. */
  function oracleMarkOf(stored: StoredMark): OracleMark {
    const { drawn } = acknowledged.get(stored.id)!;
    const { reporterPepper } = instance.config;
    const { id, at, remote, needed, rule } = stored;
    const pricesNeeded = pricesNeededBy(drawn.says.prices, medians);
    return {
      ...{ id, at, remote, needed, rule, status: drawn.status, says: drawn.says },
      reporter:
        drawn.viewer === null
          ? partnerReporter(reporterPepper, country.partnerId, `user ${drawn.user}`)
          : deviceReporter(reporterPepper, `device ${drawn.user}`),
      ...(drawn.viewer === null ? {} : { network: drawn.viewer.network }),
      ...(pricesNeeded === null ? {} : { pricesNeeded }),
    };
  }

  /** The same as the oracle's first processing left it. */
  const judgedMarkOf = (stored: StoredMark): OracleMark => ({
    ...oracleMarkOf(stored),
    ...verdicts.get(stored.id)!,
  });

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

const reviewsOf = (stored: readonly StoredMark[]): Map<number, string> =>
  new Map(stored.map((mark) => [mark.id, mark.review]));

const neededOf = ({ remote, needed, rule }: Pick<StoredMark, "remote" | "needed" | "rule">) => ({
  ...{ remote, needed, rule },
});

const wholeSecond = (ms: number): number => Math.floor(ms / 1000) * 1000;
