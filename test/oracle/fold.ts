import {
  type Details,
  detailsOf,
  type Enough,
  listed,
  newestPrice,
  noDetails,
} from "#test/oracle/details.ts";
import { groups, isNewcomer } from "#test/oracle/devices.ts";
import {
  type Grade,
  grades,
  inOrder,
  type OracleBlock,
  type OracleMark,
  type OracleSeed,
  type OracleStory,
  type Status,
} from "#test/oracle/story.ts";

/**
 * A second reading of decisions 2, written without src/domain: slow and plain.
 *
 * It walks through every instant at which anything could change (each mark, 60 minutes and 24 hours
 * after it, 24 hours after each reporter's first mark) and evaluates everything from scratch there.
 */
interface Opinion {
  readonly mark: OracleMark;
  /** which step of the fold brought it */
  readonly turn: number;
}

interface Version {
  readonly status: Status;
  readonly devices: number;
  readonly newest: OracleMark;
}

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const statuses: readonly Status[] = ["yes", "low", "no", "queue"];

const family = (status: Status) => (status === "no" ? "no" : "some");

/** The fold of decisions 2 over a station's counted marks, seen at `now`. */
export function replay(story: OracleStory, now: number) {
  const { firstSeen, seeds = [], opinionsMax = 500 } = story;
  const marks = [...story.marks].sort(inOrder);
  const opinions = new Map<string, Opinion>();
  const publishedTurn = new Map<Status, number>();
  const disputed = new Set<Status>();
  const prices = new Map<Grade, { price: number; mark: OracleMark }>();
  let turn = 0;
  let served: { status: Status; updated: number } | null = null;
  let lastUpdated: number | null = null;
  let seed: OracleSeed | null = null;
  let sides: OracleBlock["sides"] = null;
  let confirmations = 0;
  let realCount = 0;
  let versions: Version[] = [];
  let details: Details = noDetails();

  const devices = (of: readonly OracleMark[], t: number) => groups(of, t, firstSeen).length;
  const leastNeeded = (of: readonly OracleMark[]) => Math.min(...of.map((mark) => mark.needed));

  function supporters(status: Status, t: number): OracleMark[] {
    const others = statuses.filter((s) => s !== status).map((s) => publishedTurn.get(s) ?? -1);
    const after = Math.max(...others);
    return [...opinions.values()]
      .filter((o) => o.mark.status === status && t - o.mark.at < day && o.turn > after)
      .map((o) => o.mark)
      .filter((mark) => status !== "no" || served?.status === "no" || stillWaits(mark, t))
      .sort(inOrder);
  }
  /** A newcomer's `no` waits three hours for others; one through a key with a threshold a day. */
  function stillWaits(mark: OracleMark, t: number): boolean {
    if (mark.rule === "key-threshold" || !isNewcomer(firstSeen(mark.reporter), mark.at))
      return true;
    return t - mark.at < hour;
  }
  const have = (status: Status, t: number) => devices(supporters(status, t), t);
  const needed = (status: Status, t: number) => leastNeeded(supporters(status, t));

  function weigh(side: readonly OracleMark[], t: number) {
    const found = groups(side, t, firstSeen);
    let weight = 0;
    for (const group of found) {
      let one = group.every((mark) => mark.remote) ? 0.5 : 1;
      if (group.every((mark) => isNewcomer(firstSeen(mark.reporter), t))) one /= 2;
      weight += one;
    }
    return { devices: found.length, weight };
  }
  function challenger(status: Status, t: number) {
    return weigh(
      supporters(status, t).filter((mark) => t - mark.at < hour),
      t,
    );
  }
  function servedSide(t: number) {
    const against = served;
    if (against === null) return { devices: 0, weight: 0 };
    const side = [...opinions.values()]
      .map((o) => o.mark)
      .filter((mark) => family(mark.status) === family(against.status) && t - mark.at < hour);
    return weigh(side, t);
  }
  function isDispute(status: Status, t: number): boolean {
    if (served === null || family(served.status) === family(status)) return false;
    if (needed(status, t) < 2 || have(status, t) < needed(status, t)) return false;
    const one = challenger(status, t);
    const two = servedSide(t);
    return one.devices >= 2 && two.devices >= 2 && one.weight <= two.weight;
  }

  function publish(status: Status, updated: number) {
    served = { status, updated };
    lastUpdated = updated;
    seed = null;
    publishedTurn.set(status, turn);
    disputed.clear();
  }
  function expire(t: number) {
    if (served !== null && t >= served.updated + day) served = null;
    versions = versions.filter((version) => t < version.newest.at + day);
  }
  /** Ends the disputes that are over; true when one was. */
  function settleDisputes(t: number): boolean {
    let ended = false;
    for (const { status } of ranked(t).filter((version) => disputed.has(version.status))) {
      if (!disputed.has(status) || isDispute(status, t)) continue;
      ended = true;
      disputed.delete(status);
      if (challenger(status, t).devices < 2 || have(status, t) < needed(status, t)) continue;
      turn += 1;
      publish(status, supporters(status, t).at(-1)!.at);
    }
    for (const status of disputed) {
      if (supporters(status, t).length === 0) {
        disputed.delete(status);
        ended = true;
      }
    }
    return ended;
  }
  /** The two sides of the dispute that is shown, as counted when the station was last touched. */
  function sidesOf(t: number): OracleBlock["sides"] {
    const shown = versions.find((version) => disputed.has(version.status));
    if (shown === undefined || served === null) return null;
    return [
      { status: served.status, count: servedSide(t).devices },
      { status: shown.status, count: challenger(shown.status, t).devices },
    ];
  }
  function ranked(t: number): Version[] {
    return statuses
      .filter((status) => status !== served?.status)
      .map((status) => ({ status, of: supporters(status, t) }))
      .filter(({ of }) => of.length > 0)
      .map(({ status, of }) => ({
        status,
        devices: devices(of, t),
        newest: of.at(-1)!,
      }))
      .sort((a, b) => b.devices - a.devices || inOrder(b.newest, a.newest));
  }
  function recount(t: number) {
    versions = ranked(t);
    sides = sidesOf(t);
    if (served === null) return;
    const of = supporters(served.status, t);
    confirmations = of.length;
    realCount = devices(of, t);
    const enough: Enough = (stating) => devices(stating, t) >= leastNeeded(stating);
    details = detailsOf(of, enough);
    for (const grade of grades) {
      const stated = newestPrice(of, grade, (stating) => devices(stating, t));
      const known = prices.get(grade);
      if (stated !== undefined && (known === undefined || inOrder(known.mark, stated.mark) <= 0)) {
        prices.set(grade, { price: stated.value, mark: stated.mark });
      }
    }
  }
  function pass(t: number) {
    expire(t);
    if (settleDisputes(t)) recount(t);
  }
  function step(mark: OracleMark) {
    const t = mark.at;
    turn += 1;
    opinions.set(mark.reporter, { mark, turn });
    keepNewest(t);
    if (served?.status === mark.status) {
      if (have(mark.status, t) >= mark.needed) {
        served = { status: mark.status, updated: t };
        lastUpdated = t;
      }
    } else if (have(mark.status, t) >= needed(mark.status, t)) {
      if (isDispute(mark.status, t)) disputed.add(mark.status);
      else publish(mark.status, t);
    }
    settleDisputes(t);
    recount(t);
  }

  /** Of the live opinions only the newest count, for good. */
  function keepNewest(t: number) {
    const live = [...opinions.values()].filter((o) => t - o.mark.at < day);
    const newestFirst = live.sort((a, b) => inOrder(b.mark, a.mark));
    for (const { mark } of newestFirst.slice(opinionsMax)) opinions.delete(mark.reporter);
  }

  function importSeed(one: OracleSeed) {
    const t = one.importedAt;
    if (served !== null || t >= one.at + day || (seed !== null && seed.at > one.at)) return;
    seed = one;
    lastUpdated = one.at;
  }

  for (const t of instants(marks, seeds, firstSeen, now)) {
    pass(t);
    for (const one of seeds) if (one.importedAt === t) importSeed(one);
    for (const mark of marks) if (mark.at === t) step(mark);
  }
  pass(now);

  const alive = versions;
  const contested = alive.find((version) => disputed.has(version.status));
  const shown = block();
  return { block: shown, outcome, standing: standing() };

  /** What stands at `now`: the served status without imports, its supporters, and every live opinion. */
  function standing() {
    const status = served?.status ?? null;
    const live = [...opinions.values()].map((o) => o.mark).filter((mark) => now - mark.at < day);
    return {
      served: status,
      supporters: status === null ? [] : supporters(status, now),
      opinions: live,
    };
  }

  /** What the processing of `mark` found, `before` being what was served until then (decisions 2). */
  function outcome(mark: OracleMark, before: Status | null): { outcome: string; have: number } {
    const supports = supporters(mark.status, now).some((one) => one.id === mark.id);
    const version = alive.find((one) => one.status === mark.status);
    const isServed = served?.status === mark.status;
    if (isServed && before !== mark.status) return { outcome: "published", have: realCount };
    if (!supports) return { outcome: "superseded", have: isServed ? realCount : 0 };
    if (isServed) return { outcome: "confirmed", have: realCount };
    // It supported a status that has expired since: nothing pending is left to count it in.
    if (version === undefined) return { outcome: "superseded", have: 0 };
    const outcome = disputed.has(mark.status) ? "conflict" : "pending";
    return { outcome, have: version.devices };
  }

  function block(): OracleBlock {
    const human = served;
    const pending = alive[0];
    const common = {
      pending_status: pending?.status ?? ("" as const),
      pending_count: pending?.devices ?? 0,
      resolution_reason: reason(),
      sides: contested === undefined ? null : sides,
    };
    if (human !== null) {
      const none = human.status === "no";
      return {
        status: human.status,
        fuels_now: none ? "" : listed(details.fuelsNow),
        fuels_no: listed(details.fuelsNo),
        prices: freshPrices(),
        queue: none ? "" : details.queue,
        limit_l: details.limitL,
        no_cash: details.noCash,
        fuel_cards_only: details.fuelCardsOnly,
        confirmations,
        real_count: realCount,
        seeded: false,
        updated: human.updated,
        ...common,
      };
    }
    const import_ = seed;
    if (import_ !== null && now < import_.at + day) {
      return {
        status: import_.status,
        fuels_now: import_.status === "no" ? "" : listed(new Set(import_.fuels)),
        fuels_no: listed(new Set(import_.fuelsNo)),
        prices: freshPrices(),
        queue: "",
        limit_l: null,
        no_cash: false,
        fuel_cards_only: false,
        confirmations: 0,
        real_count: 0,
        seeded: true,
        updated: import_.at,
        ...common,
      };
    }
    return {
      status: "nodata",
      fuels_now: "",
      fuels_no: "",
      prices: undefined,
      queue: "",
      limit_l: null,
      no_cash: false,
      fuel_cards_only: false,
      confirmations: 0,
      real_count: 0,
      seeded: false,
      updated: lastUpdated,
      ...common,
    };
  }
  function reason(): OracleBlock["resolution_reason"] {
    if (contested !== undefined) return "conflict";
    if (alive.length > 0) return "unconfirmed";
    return served === null ? "no_data" : "published";
  }
  function freshPrices(): string | undefined {
    const fresh = grades.flatMap((grade) => {
      const known = prices.get(grade);
      return known !== undefined && now < known.mark.at + day
        ? [`${grade}=${known.price.toFixed(2)}`]
        : [];
    });
    return fresh.length === 0 ? undefined : fresh.join(",");
  }
}

/** Every instant up to `now` at which anything could change. */
function instants(
  marks: readonly OracleMark[],
  seeds: readonly OracleSeed[],
  firstSeen: (reporter: string) => number,
  now: number,
): number[] {
  const all = new Set<number>();
  for (const seed of seeds) if (seed.importedAt <= now) all.add(seed.importedAt);
  for (const mark of marks) {
    const { at } = mark;
    for (const t of [at, at + hour, at + day, firstSeen(mark.reporter) + day])
      if (t <= now) all.add(t);
  }
  return [...all].sort((a, b) => a - b);
}
