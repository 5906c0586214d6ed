import { expect } from "chai";
import { rows } from "#src/infrastructure/db.ts";
import { msOf } from "#src/marks/marks.ts";
import { slices } from "#src/infrastructure/lists.ts";
import { until } from "#test/flow/client.ts";
import { differences, storedOf } from "#test/flow/stored.ts";
import {
  addressOf,
  baseMarks,
  type Ground,
  honestBeside,
  type Sent,
  servedBefore,
} from "#test/long/attack-country.ts";
import {
  type AttackStage,
  type Became,
  beside,
  inBatches,
  openAttackStage,
  type Shown,
} from "#test/long/attack-stage.ts";
import { type Attack, attacks, type Condition } from "#test/long/attackers.ts";

const honestCount = 60;
const waveS = 630;
const dayOneS = 26 * 3600;

/** What an attack did: printed, and held against what the rules promise. */
interface Result {
  sent: number;
  stored: string[];
  /** Stations that showed another thing than without the attack, in any wave. */
  moved: Map<string, "false" | "missing">;
  held: Record<string, number>;
  honest: { stored: string[]; held: number; refused: number };
  /**
   * s, from when the first of the marks that the alarm is about was received, and was judged, to the alarm and to its
   * message. Held ones; of first statuses all.
   */
  alarm: { sinceReceived: number; sinceJudged: number; told: number } | null;
}

describe("long: attacks on two web and two marks processes, honest people beside", function () {
  this.timeout(1_800_000);
  let stage: AttackStage;
  afterEach(() => stage.close());

  for (const attack of attacks)
    it(attack.name, async () => {
      stage = await openAttackStage(attack.ground);
      const { before, honestSaid, result } = await carryOut(attack);
      const [storedBefore, shownBefore] = [await storedOf(stage.country.db), await stage.shown()];
      const rolledBack = await rollBack(attack, result);
      console.log(`      ${lineOf(result, rolledBack)}`);

      const { moved, held, alarm } = result;
      expect(falseAt(moved), "moved").to.be.at.most(attack.movedMost);
      expect(Object.keys(held).length > 0, "held").to.equal(attack.alarm === "marks-held");
      expect(alarm !== null, "alarm").to.equal(attack.alarm !== null);
      if (alarm !== null) expect(alarm.sinceJudged, "alarm").to.be.at.most(60);
      expect(rolledBack.lies, "lies withdrawn").to.be.at.least(0.99);
      expect(rolledBack.honest, "honest marks withdrawn").to.be.at.most(attack.undo.honestMost);
      const left = await stage.shown();
      const wrong = [...left].filter(([id, is]) => !honestSaid.has(id) && is !== before.get(id));
      expect(wrong, "as before, where nobody honest was").to.deep.equal([]);

      const undone = await stage.operator("marks", "rollback", "undo", String(rolledBack.id));
      expect(undone.code, undone.err).to.equal(0);
      await untilFolded();
      const different = differences(storedBefore, await storedOf(stage.country.db));
      expect(different, "stored, taken back").to.deep.equal([]);
      expect(await stage.shown(), "shown, taken back").to.deep.equal(shownBefore);
    });

  async function carryOut(
    attack: Attack,
  ): Promise<{ before: Shown; honestSaid: Map<string, string>; result: Result }> {
    const { ground, dayBefore, waves } = attack;
    const startS = dayBefore === undefined ? 0 : dayOneS;
    if (dayBefore !== undefined) {
      await stage.setClock(0);
      await stage.send(dayBefore());
    }
    await stage.setClock(startS);
    const before = await makeGround(ground);
    const honest = honestBeside(ground, honestCount);
    for (const { mark, daysKnown } of honest)
      if (daysKnown !== null) await stage.meet(mark, daysKnown);

    const result: Result = {
      ...{ sent: 0, stored: [], moved: new Map(), held: {}, alarm: null },
      honest: { stored: [], held: 0, refused: 0 },
    };
    const honestSaid = new Map<string, string>();
    const perWave = [...slices(honest, Math.ceil(honest.length / waves.length))];
    for (const [wave, lies] of waves.entries()) {
      if (wave > 0) await stage.setClock(startS + wave * waveS);
      const people = perWave[wave]!;
      for (const { mark } of people) honestSaid.set(idOf(mark), mark.said.status);
      const { requests, isHonest } = beside(lies(ground), people);
      note(result, await stage.send(requests), isHonest);
      for (const [id, how] of movedIn(await stage.shown(), before, honestSaid))
        if (result.moved.get(id) !== "false") result.moved.set(id, how);
    }
    await readHeld(attack, result);
    return { before, honestSaid, result };
  }

  const idOf = ({ station }: Sent): string => stage.layout.placeOf(station).id;

  /** What was known before the attack: every station shows it. */
  async function makeGround(ground: Ground): Promise<Shown> {
    const marks = baseMarks(ground, stage.now());
    const residents = new Map(marks.map((mark) => [mark.who, mark]));
    // A quarter of an hour apart: each is a device of its own.
    for (const [n, mark] of [...residents.values()].entries()) await stage.meet(mark, 9 + n / 96);
    await stage.send(inBatches(marks));
    const shown = await stage.shown();
    for (let n = 0; n < ground.cities * ground.stationsOfCity; n += 1) {
      const { id } = stage.layout.placeOf(n);
      expect(statusIn(shown.get(id)!), id).to.equal(servedBefore(ground, n));
    }
    return shown;
  }

  async function readHeld({ alarm: kind }: Attack, result: Result): Promise<void> {
    const { db } = stage.country;
    const stored = [...result.stored, ...result.honest.stored];
    const judged = await rows<{ id: number; reason: string | null; received: number; at: number }>(
      db,
      `select id, case when review = 'held' then coalesce(held_reason, 'intake') end as reason,
         ${msOf("received_at")} as received, ${msOf("processed_at")} as at
       from marks where id = any(?::bigint[])`,
      [stored],
    );
    const held = judged.filter(({ reason }) => reason !== null);
    const honest = new Set(result.honest.stored);
    for (const { id, reason } of held)
      if (honest.has(String(id))) result.honest.held += 1;
      else result.held[reason!] = (result.held[reason!] ?? 0) + 1;
    const about =
      kind === "first-statuses" ? judged.filter(({ id }) => !honest.has(String(id))) : held;
    if (kind === null || about.length === 0) return;
    const [first] = await until(
      () =>
        rows<{ raised: number; posted: number | null }>(
          db,
          `select ${msOf("min(raised_at)")} as raised, ${msOf("min(posted_at)")} as posted from alarms
           where kind = ?`,
          [kind],
        ),
      ([alarm]) => alarm!.posted !== null,
    );
    const { raised, posted } = first!;
    const since = (times: number[], at: number): number => (at - Math.min(...times)) / 1000;
    const received = about.map((mark) => mark.received);
    result.alarm = {
      sinceReceived: since(received, raised),
      sinceJudged: since(
        about.map((mark) => mark.at),
        raised,
      ),
      told: since(received, posted!),
    };
  }

  /** Withdraws by the conditions of the attack. Which shares of the lies and of the honest marks go. */
  async function rollBack({ undo }: Attack, { stored, honest }: Result) {
    const { db } = stage.country;
    const flags = await flagsOf(stored);
    const chosen = undo.by.flatMap((by) =>
      by === "status" ? ["--status", undo.status] : flags[by],
    );
    const ran = await stage.operator("marks", "rollback", ...chosen);
    expect(ran.code, ran.err).to.equal(0);
    await untilFolded();
    const shareOf = async (ids: readonly string[]): Promise<number> => {
      const [gone] = await rows<{ count: number }>(
        db,
        "select count(*) from marks where review = 'withdrawn' and id = any(?::bigint[])",
        [ids],
      );
      return gone!.count / ids.length;
    };
    const [lies, along] = [await shareOf(stored), await shareOf(honest.stored)];
    return { id: ran.json.id as number, by: undo.by, lies, honest: along };
  }

  const untilFolded = () =>
    until(
      () => rows(stage.country.db, "select station_id from station_status where refold"),
      (waiting) => waiting.length === 0,
      600_000,
    );

  /** Each condition as it is typed, for these lies. */
  async function flagsOf(
    lies: readonly string[],
  ): Promise<Record<Exclude<Condition, "status">, string[]>> {
    const { db } = stage.country;
    const [of] = await rows<Record<"received" | "last" | "seen" | "lastSeen", number>>(
      db,
      `select ${msOf("min(received_at)")} as received, ${msOf("max(received_at)")} as last,
         ${msOf("min(first_seen)")} as seen, ${msOf("max(first_seen)")} as "lastSeen"
       from marks join reporters r on r.id = reporter_id where marks.id = any(?::bigint[])`,
      [lies],
    );
    const { received, last, seen, lastSeen } = of!;
    const networks = await rows<{ network: string }>(
      db,
      "select distinct left(encode(viewer, 'hex'), 8) as network from marks where id = any(?::bigint[])",
      [lies],
    );
    const iso = (ms: number): string => new Date(ms).toISOString();
    return {
      "secret key": ["--key", String(stage.country.keyId)],
      network: ["--network", networks[0]!.network],
      city: ["--city", stage.layout.cities[0]!.name],
      time: ["--since", iso(received), "--until", iso(last + 1)],
      "first seen": ["--first-seen-since", iso(seen), "--first-seen-until", iso(lastSeen + 1)],
    };
  }

  // The dry run with a public key stands in test/flow/dry-run.test.ts.
  it("20 junk devices on one address: an honest new driver there is not refused", async () => {
    const ground: Ground = { cities: 2, stationsOfCity: 60, yes: 0, no: 0 };
    stage = await openAttackStage(ground);
    await stage.setClock(0);
    const address = addressOf(1);
    const from = (who: string, station: number, status: "yes" | "no", atStation: boolean) => [
      { station, who, address, atStation, said: { status } },
    ];
    const before = await stage.shown();
    await stage.send(Array.from({ length: 20 }, (_, n) => from(`junk-${n}`, n, "no", false)));
    expect(await stage.shown(), "moved by the junk").to.deep.equal(before);
    const became = await stage.send([
      from("honest-1", 30, "yes", true),
      from("honest-2", 31, "no", true),
    ]);
    const outcomes = await Promise.all(became.map(([one]) => reportOf(one!)));
    console.log(`      an honest \`yes\` is ${outcomes[0]}, an honest \`no\` is ${outcomes[1]}`);
    expect(outcomes).to.deep.equal(["published", "held"]);
  });

  const reportOf = async (became: Became): Promise<string> => {
    if (!("id" in became)) return became.refused;
    const sql = "select outcome, review from marks where id = ?";
    const [mark] = await rows<{ outcome: string; review: string }>(stage.country.db, sql, [
      became.id,
    ]);
    return mark!.review === "held" ? "held" : mark!.outcome;
  };
});

/** Adds what became of the marks of a wave. */
function note(result: Result, became: readonly Became[][], isHonest: readonly boolean[]): void {
  for (const [index, of] of became.entries()) {
    const ids = of.flatMap((one) => ("id" in one ? [one.id] : []));
    if (isHonest[index]) {
      result.honest.stored.push(...ids);
      result.honest.refused += of.length - ids.length;
    } else {
      result.sent += of.length;
      result.stored.push(...ids);
    }
  }
}

/**
 * Stations that show another thing than they would without the attack: what was there before, or where somebody honest
 * reported a change, that one. `missing`: the change is not shown, and nothing false is either.
 */
function movedIn(
  shown: Shown,
  before: Shown,
  honestSaid: ReadonlyMap<string, string>,
): [id: string, how: "false" | "missing"][] {
  return [...shown].flatMap(([id, is]): [string, "false" | "missing"][] => {
    const was = before.get(id)!;
    const said = honestSaid.get(id) ?? statusIn(was);
    if (said === statusIn(was)) return is === was ? [] : [[id, "false"]];
    if (statusIn(is) === said) return [];
    return [[id, is === was ? "missing" : "false"]];
  });
}

const falseAt = (moved: Result["moved"]): number =>
  [...moved.values()].filter((how) => how === "false").length;

const statusIn = (shown: string): string => (JSON.parse(shown) as [string])[0];

function lineOf(
  { sent, stored, moved, held, alarm, honest }: Result,
  rolledBack: { by: readonly Condition[]; lies: number; honest: number },
): string {
  const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
  const reasons = Object.entries(held).map(([reason, count]) => `${count} by ${reason}`);
  const seconds =
    alarm === null
      ? "no alarm"
      : `alarm ${alarm.sinceReceived.toFixed(1)} s after the crossing, told after ${alarm.told.toFixed(1)} s`;
  return [
    `${sent} marks sent, ${sent - stored.length} refused`,
    `moved ${falseAt(moved)}, and at ${moved.size - falseAt(moved)} an honest change not shown`,
    `held ${reasons.join(", ") || 0}`,
    seconds,
    `honest marks ${honestCount}, held ${honest.held}, refused ${honest.refused}`,
    `rollback by ${rolledBack.by.join(", ")} takes ${percent(rolledBack.lies)} of the lies, ${percent(rolledBack.honest)} of the honest marks`,
  ].join("; ");
}
