import {
  addToPending,
  refuseConfirmation,
  type PendingStatus,
} from "#src/domain/widget-confirmation.ts";
import type { Point } from "#src/domain/geo.ts";
import { isRemote, type JudgeRules, type Located, neededFor } from "#src/domain/devices.ts";
import { type Refusal, refuse } from "#src/contract/refusals.ts";
import { type ByGrade, type PriceRules, pricesNeeded } from "#src/domain/price-line.ts";
import type { FoldRules } from "#src/domain/rules.ts";
import { order, type Statement } from "#src/domain/state.ts";
import type { Rule, Status } from "#src/domain/vocabulary.ts";
import { minuteMs, hourMs, dayMs } from "#src/domain/units.ts";

export interface AdmitRules extends JudgeRules, FoldRules, Pick<PriceRules, "priceLinePercent"> {
  duplicateMs: number;
  cooldownMs: number;
  expressCooldownMs: number;
  hourlyCap: number;
  dailyCap: number;
  /** Age up to which a mark nearby is fresh. */
  nearbyFreshMs: number;
}

/** A mark as it arrives: checked for its form, not yet for its rights. */
export interface IncomingMark extends Statement {
  stationId: string;
  station: Point;
  /** Stations within `nearbyNoM`, the station itself included. */
  nearbyIds: readonly string[];
  /** Medians of the prices around the station (decisions 2.29); a grade with too few prices has none. */
  medians: ByGrade;
  status: Status;
  /** Identity of the reporter, hex (decisions 1). */
  reporter: string;
  /** Null for the widget. */
  partnerId: number | null;
  keyId: number;
  /** A widget's confirmation: good only while its status is pending, and from somebody else (decisions 6). */
  confirms: boolean;
  /** Hash of the widget viewer's address, hex; null for partners' marks. */
  viewer: string | null;
  externalId: string | null;
  observedAt: number | null;
  lat: number | null;
  lon: number | null;
  accM: number | null;
  express: boolean;
  comment: string | null;
  confirmMin: number;
  reports: boolean;
  acceptRemote: boolean;
  /** New users of its partner in a day. */
  newUsersLimit: number;
}

export interface PastMark {
  id: number;
  stationId: string;
  status: Status;
  receivedAt: number;
  effectiveAt: number;
  externalId?: string | null;
  /** Its driver took it back: it counts only for the caps (decisions 15.36). */
  takenBack?: boolean;
}

export interface ReporterFacts {
  /** The reporter's name in `nearby`: its row id, or its hash while it has no row. */
  identity: string;
  firstSeen: number | null;
  /** Accepted marks of the last 24 h by receipt. */
  recent: PastMark[];
  /** Located marks that can still matter for possible movement. */
  located: (Located & { id: number })[];
}

/** The database's facts for a batch. `admit` adds each accepted mark to them. */
export interface AdmitFacts {
  /** Time of receipt, ms. */
  now: number;
  reporters: Map<string, ReporterFacts>;
  /** First marks by `partner external_id`. */
  externalIds: Map<string, { id: number; stationId: string }>;
  /**
   * Users first seen in the last 24 h, by partner. `freeAt`: the first-seen time, ms, of the last one who must leave these
   * 24 h before another one has a place.
   */
  newReporters: Map<number, { count: number; freeAt: number }>;
  /** Reporters with a fresh mark, by station; at least two of them, if there are two. */
  nearby: Map<string, Set<string>>;
  /** Viewers' networks that many people share: their new devices are not one device (decisions 1.8). */
  sharedNetworks: ReadonlySet<string>;
  /** Reporters and viewers' networks that an operator has blocked. */
  blocked: ReadonlySet<string>;
  /** Pending statuses of the stations at which the batch confirms one, by station. */
  pendingStatus: Map<string, PendingStatus>;
}

export interface Admitted {
  kind: "accepted";
  id: number;
  incomingMark: IncomingMark;
  effectiveAt: number;
  remote: boolean;
  needed: number;
  rule: Rule;
  /** Devices that its prices out of line need; null when no price is out of line. */
  pricesNeeded: ByGrade | null;
  newcomer: boolean;
  /** The viewer's network is one that many people share. */
  sharedNetwork: boolean;
  review: "none" | "held" | "expired";
  /** A block of the operator holds it (decisions 4.13). */
  isBlocked: boolean;
}

export type Admission =
  | Admitted
  /** `named`: found by its `external_id`, not by its opinion. */
  | { kind: "duplicate"; of: number; stationId: string; named: boolean }
  | { kind: "refused"; problem: Refusal };

export const externalKey = (partnerId: number, externalId: string): string =>
  `${partnerId} ${externalId}`;

const secondsUntil = (ms: number): number => Math.max(1, Math.ceil(ms / 1000));

/**
 * The checks of decisions 3 from `reports-disabled` on, in that order, and the review of decisions 4. Pure except for
 * `facts`: an accepted mark is added to them, so that the next mark of the batch sees it.
 */
export function admit(
  facts: AdmitFacts,
  mark: IncomingMark,
  id: number,
  rules: AdmitRules,
): Admission {
  if (!mark.reports) {
    return {
      kind: "refused",
      problem: refuse(
        "reports-disabled",
        "Marks are switched off for this key. Ask the operator to switch them on.",
      ),
    };
  }
  const reporter = reporterOf(facts, mark);
  const duplicate = duplicateOf(facts, reporter, mark, rules);
  // A retry of a confirmation has an answer, also when its first try has published the status.
  if (mark.confirms && duplicate?.named !== true) {
    const here = facts.pendingStatus.get(mark.stationId);
    if (here === undefined)
      throw new Error("a confirmation without knowing how its station stands");
    const { status } = mark;
    const { identity } = reporter;
    const problem = refuseConfirmation(here, { status, identity }, facts.now, rules);
    if (problem !== null) return { kind: "refused", problem };
  }
  if (duplicate !== null) {
    const { id: of, stationId, named } = duplicate;
    return { kind: "duplicate", of, stationId, named };
  }

  const { now } = facts;
  const effectiveAt = Math.min(mark.observedAt ?? now, now);
  const expired = now - effectiveAt > rules.statusLifetimeMs;
  const newcomer = reporter.firstSeen === null || now - reporter.firstSeen < rules.newcomerMs;
  const remote = isRemote(
    { ...mark, at: effectiveAt },
    mark.station,
    previousLocated(reporter, effectiveAt, id),
    rules,
  );
  if (!expired) {
    const problem = refusal(facts, reporter, mark, remote, rules);
    if (problem !== null) return { kind: "refused", problem };
  }
  const othersNearby = mark.nearbyIds.some((stationId) =>
    hasOther(facts.nearby.get(stationId), reporter.identity),
  );
  const { needed, rule } = neededFor({
    status: mark.status,
    remote,
    confirmMin: mark.confirmMin,
    othersNearby,
  });
  const isBlocked =
    facts.blocked.has(mark.reporter) || (mark.viewer !== null && facts.blocked.has(mark.viewer));
  const review = expired ? "expired" : isBlocked ? "held" : "none";
  const admitted: Admitted = {
    kind: "accepted",
    id,
    incomingMark: mark,
    effectiveAt,
    remote,
    needed,
    rule,
    pricesNeeded: mark.prices ? pricesNeeded(mark.prices, mark.medians, rules) : null,
    newcomer,
    sharedNetwork: mark.viewer !== null && facts.sharedNetworks.has(mark.viewer),
    review,
    isBlocked,
  };
  feedBack(facts, reporter, admitted, rules);
  return admitted;
}

function reporterOf(facts: AdmitFacts, mark: IncomingMark): ReporterFacts {
  const known = facts.reporters.get(mark.reporter);
  if (known !== undefined) return known;
  const fresh: ReporterFacts = {
    identity: mark.reporter,
    firstSeen: null,
    recent: [],
    located: [],
  };
  facts.reporters.set(mark.reporter, fresh);
  return fresh;
}

function duplicateOf(
  facts: AdmitFacts,
  reporter: ReporterFacts,
  mark: IncomingMark,
  rules: AdmitRules,
): { id: number; stationId: string; named: boolean } | null {
  if (mark.externalId !== null && mark.partnerId !== null) {
    const first = facts.externalIds.get(externalKey(mark.partnerId, mark.externalId));
    if (first !== undefined) return { ...first, named: true };
  }
  // A device's ids hold only for the device, and for the day in which its marks can count (decisions 15.21).
  if (mark.externalId !== null && mark.partnerId === null) {
    const first = reporter.recent.find((past) => past.externalId === mark.externalId);
    if (first !== undefined) return { id: first.id, stationId: first.stationId, named: true };
  }
  const newest = ownMarksHere(reporter, mark)
    .sort((a, b) => order({ at: a.effectiveAt, id: a.id }, { at: b.effectiveAt, id: b.id }))
    .at(-1);
  const repeats =
    newest?.status === mark.status && facts.now - newest.receivedAt < rules.duplicateMs;
  return repeats ? { ...newest, named: false } : null;
}

/** The reporter's recent marks of that station which it has not taken back. */
const ownMarksHere = (
  { recent }: ReporterFacts,
  { stationId }: Pick<IncomingMark, "stationId">,
): PastMark[] => recent.filter((past) => past.stationId === stationId && past.takenBack !== true);

function refusal(
  facts: AdmitFacts,
  reporter: ReporterFacts,
  mark: IncomingMark,
  remote: boolean,
  rules: AdmitRules,
): Refusal | null {
  const { now } = facts;
  const cooldownMs = mark.express ? rules.expressCooldownMs : rules.cooldownMs;
  const here = ownMarksHere(reporter, mark).map((past) => past.receivedAt);
  const cooldownLeftMs = Math.max(...here) + cooldownMs - now;
  if (cooldownLeftMs > 0) {
    return refuse(
      "station-cooldown",
      // The text repeats the wait, because a mark of a batch has no Retry-After header.
      `This user marked this station less than ${cooldownMs / minuteMs} minutes ago. Send the next mark in ${secondsUntil(cooldownLeftMs)} s.`,
      {
        retryAfterS: secondsUntil(cooldownLeftMs),
        limit: 1,
        window: `${cooldownMs / 1000}s`,
      },
    );
  }
  for (const [limit, windowMs] of [
    [rules.hourlyCap, hourMs],
    [rules.dailyCap, dayMs],
  ] as const) {
    const times = reporter.recent
      .map((past) => past.receivedAt)
      .filter((at) => now - at < windowMs)
      .sort((a, b) => a - b);
    if (times.length < limit) continue;
    return refuse(
      "user-rate-limited",
      `This user has sent ${times.length} marks within ${windowMs / hourMs} h; the most is ${limit}.`,
      {
        retryAfterS: secondsUntil(times[times.length - limit]! + windowMs - now),
        limit,
        window: `${windowMs / 1000}s`,
      },
    );
  }
  // Viewers of the map have no such limit: thousands may share one address (decisions 3.10).
  if (reporter.firstSeen === null && mark.partnerId !== null) {
    const limit = mark.newUsersLimit;
    const seen = facts.newReporters.get(mark.partnerId);
    if (seen !== undefined && seen.count >= limit) {
      return refuse(
        "new-users-limit",
        `${limit} new users were seen within 24 h, the most allowed. Users known already still pass.`,
        {
          retryAfterS: secondsUntil(seen.freeAt + dayMs - now),
          limit,
          window: "86400s",
        },
      );
    }
  }
  if (remote && !mark.acceptRemote) {
    return refuse(
      "too-far",
      "The mark needs lat and lon at the station, with acc_m up to 1000: marks without a confirmed position are switched off for this partner.",
    );
  }
  return null;
}

const hasOther = (identities: Set<string> | undefined, own: string): boolean =>
  identities !== undefined && [...identities].some((identity) => identity !== own);

function previousLocated(reporter: ReporterFacts, at: number, id: number): Located | null {
  const before = reporter.located.filter((mark) => order(mark, { at, id }) < 0).sort(order);
  return before.at(-1) ?? null;
}

function feedBack(
  facts: AdmitFacts,
  reporter: ReporterFacts,
  admitted: Admitted,
  rules: AdmitRules,
): void {
  const { incomingMark: mark, id, effectiveAt, review } = admitted;
  // It is answered and not stored: it may come again.
  if (review === "expired") return;
  if (mark.externalId !== null && mark.partnerId !== null) {
    facts.externalIds.set(externalKey(mark.partnerId, mark.externalId), {
      id,
      stationId: mark.stationId,
    });
  }
  reporter.recent.push({
    id,
    stationId: mark.stationId,
    status: mark.status,
    receivedAt: facts.now,
    effectiveAt,
    externalId: mark.externalId,
  });
  if (mark.lat !== null && mark.lon !== null)
    reporter.located.push({ id, lat: mark.lat, lon: mark.lon, at: effectiveAt });
  if (reporter.firstSeen === null) {
    reporter.firstSeen = facts.now;
    if (mark.partnerId !== null) {
      const { count, freeAt } = facts.newReporters.get(mark.partnerId) ?? {
        count: 0,
        freeAt: facts.now,
      };
      facts.newReporters.set(mark.partnerId, { count: count + 1, freeAt });
    }
  }
  if (review === "none") {
    const isFresh = effectiveAt > facts.now - rules.nearbyFreshMs;
    const here = facts.nearby.get(mark.stationId) ?? new Set<string>();
    if (isFresh) facts.nearby.set(mark.stationId, here.add(reporter.identity));
    const pendingStatus = facts.pendingStatus.get(mark.stationId);
    if (pendingStatus !== undefined)
      addToPending(pendingStatus, admitted, {
        identity: reporter.identity,
        firstSeen: reporter.firstSeen,
      });
  }
}
