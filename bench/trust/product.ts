import { factsOf } from "#api/marks/intake-rows.ts";
import { admit, type Admission, type Admitted, type IncomingMark } from "#src/domain/admit.ts";
import { decide, sortsLast } from "#src/domain/decide.ts";
import {
  cityLimitOf,
  hoursADay,
  isFirstByNewcomer,
  mayBeHeld,
  passedLimit,
  type HarmScope,
} from "#src/domain/harm-limits.ts";
import { emptyState, type Mark, type StationState } from "#src/domain/state.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { markId, networkOf, toMark } from "#src/marks/marks.ts";
import { hourMs } from "#src/domain/units.ts";
import { countedAsFirst } from "#workers/marks/hold-harmful.ts";
import type { Country } from "#bench/trust/country.ts";
import { createMemory } from "#bench/trust/memory.ts";
import type { ServedStatus } from "#src/domain/vocabulary.ts";
import type { Reporter, SentMark, Traffic } from "#bench/trust/traffic.ts";

interface Folded {
  state: StationState;
  opinions: ReadonlyMap<number, Mark>;
  history: Mark[];
}

/** The switches that are the operator's to set, as a new partner and key have them. */
const asNew = { confirmMin: 0, reports: true, acceptRemote: true } as const;

/** The same of limits: what `markLimitsOf` and the worker make of a key. */
export interface PartnerLimits {
  newUsersLimit: number;
  /** Stations that a partner may harmfully change in an hour. */
  harmLimit: number;
  isLaunch: boolean;
}

export const usualLimits = (config: Config): PartnerLimits => ({
  newUsersLimit: config.newReportersDaily,
  harmLimit: config.massNoLimit,
  isLaunch: false,
});

/**
 * The product over a simulated clock: `factsOf`, `admit`, `toMark` and `decide` are its own, with memory in place of
 * tables. Approximated: a mark is taken alone instead of in a batch, and processed in the millisecond of its receipt.
 */
export function createProduct(
  country: Country,
  config: Config,
  known: Traffic["known"],
  limits = usualLimits(config),
) {
  const memory = createMemory(config);
  for (const { reporter, firstSeen } of known)
    memory.meet(reporter.name, reporter.viewer, firstSeen);
  const stations = country.stations.map((): Folded => ({
    state: emptyState,
    opinions: new Map(),
    history: [],
  }));
  let sequence = 0;

  /** Checks, stores and folds in one mark. `told`: it raised the alarm of decisions 4.19. */
  const send = (sent: SentMark): Admission & { told?: boolean } => {
    const mark = incoming(country, config, limits, sent);
    const number = (sequence += 1);
    const { facts } = factsOf(memory.find(mark, sent.at, number), config);
    const admission = admit(facts, mark, markId(sent.at, number), config);
    if (admission.kind !== "accepted") return admission;
    const reporterId = memory.store(admission, sent.at);
    if (admission.review !== "none") return admission;
    const verdict = fold(sent, asMark(admission, reporterId));
    if (verdict.review === "held") memory.hold(mark.stationId, admission.id);
    return { ...admission, ...verdict };
  };

  /** What the marks worker does (`workers/marks/process.ts`, `review.ts`): the verdict on the mark. */
  const fold = (
    { station, at, reporter }: SentMark,
    mark: Mark,
  ): Pick<Admitted, "needed" | "rule" | "review"> & { told?: boolean } => {
    const before = stations[station]!;
    const arrivals = { marks: [mark], seeds: [] };
    // The worker starts at the last gap of a lifetime, before which nothing matters; here all there is.
    const history = sortsLast(before.state, arrivals) ? null : { marks: before.history, seeds: [] };
    const facts = { state: before.state, opinions: [...before.opinions.values()], history };
    const { state, opinions, harms, outcomes } = decide(
      facts,
      arrivals,
      memory.firstSeen,
      at,
      config,
    );
    const { needed, rule } = outcomes.get(mark.id)!;
    const harm = harms.get(mark.id);
    const age = at - memory.firstSeen(mark.reporterId);
    if (harm !== undefined && mayBeHeld(harm, age, config)) {
      const place = placeOf(station, reporter);
      if (passedLimit(harm, place, ledger, at) !== null) return { needed, rule, review: "held" };
      noteChange(place.source, place.stationId, at);
      if (!harm.isPending) {
        noteChange(place.city, place.stationId, at);
        ledger.last.set(place.stationId, { ...harm, at });
      }
    }
    const told =
      harm !== undefined &&
      isFirstByNewcomer(harm, age, config) &&
      noteFirst(station, reporter, at);
    before.history.push(opinions.get(mark.reporterId) ?? mark);
    stations[station] = { state, opinions, history: before.history };
    return { needed, rule, review: "none", told };
  };

  const ledger = {
    changed: new Map<string, Map<string, number>>(),
    last: new Map<string, { from: ServedStatus; to: ServedStatus; at: number }>(),
  };
  const noteChange = (name: string, stationId: string, at: number): void => {
    const known = ledger.changed.get(name) ?? new Map<string, number>();
    ledger.changed.set(name, known.set(stationId, at));
  };
  /** Whether the source has passed its limit of first statuses in an hour. */
  const noteFirst = (station: number, reporter: Reporter, at: number): boolean => {
    const { source, stationId, sourceLimit } = placeOf(station, reporter);
    noteChange(countedAsFirst(source), stationId, at);
    const times = [...ledger.changed.get(countedAsFirst(source))!.values()];
    return times.filter((time) => time > at - hourMs).length > sourceLimit;
  };
  const placeOf = (station: number, { partnerId, viewer }: Reporter): HarmScope => {
    const { id: stationId, city } = country.stations[station]!;
    const sourceLimit = viewer === null ? limits.harmLimit : config.networkHarmLimit;
    const hours = hoursADay[viewer === null && limits.isLaunch ? "launch" : "usual"];
    return {
      stationId,
      source: viewer === null ? `partner ${partnerId}` : `network ${viewer}`,
      city: `city ${city}`,
      sourceLimit,
      sourceDailyLimit: sourceLimit * hours,
      // Nearly all stations of the simulation have a status.
      cityLimit: cityLimitOf(country.cities[city]!.length, config),
    };
  };

  return { send, stateOf: (station: number): StationState => stations[station]!.state };
}

/** As `api/marks/submit-mark.ts` makes it of a report; the reporter's name stands for the hash. */
function incoming(
  country: Country,
  config: Config,
  { newUsersLimit }: PartnerLimits,
  sent: SentMark,
): IncomingMark {
  const { station, status, reporter, position } = sent;
  const place = country.stations[station]!;
  return {
    ...statementOf(sent),
    ...asNew,
    stationId: place.id,
    station: place,
    nearbyIds: status === "no" ? country.within(station, config.nearbyNoM) : [],
    // This country has no medians: no price is out of line.
    medians: {},
    status,
    reporter: reporter.name,
    partnerId: reporter.partnerId,
    keyId: reporter.keyId,
    confirms: false,
    viewer: reporter.viewer,
    externalId: null,
    observedAt: null,
    lat: position?.lat ?? null,
    lon: position?.lon ?? null,
    accM: position?.accM ?? null,
    express: false,
    comment: null,
    newUsersLimit,
  };
}

const statementOf = ({
  fuels,
  fuelsNo,
  queue,
  prices,
  limitL,
  noCash,
  fuelCardsOnly,
}: SentMark) => ({
  fuels: fuels ?? null,
  fuelsNo: fuelsNo ?? null,
  queue: queue ?? null,
  prices: prices ?? null,
  limitL,
  noCash: noCash ?? null,
  fuelCardsOnly: fuelCardsOnly ?? null,
});

/** The mark as the worker reads it back. */
const asMark = (
  {
    id,
    effectiveAt,
    remote,
    needed,
    rule,
    pricesNeeded,
    sharedNetwork,
    incomingMark: mark,
  }: Admitted,
  reporterId: number,
): Mark =>
  toMark({
    id,
    station_id: mark.stationId,
    reporter_id: reporterId,
    at: effectiveAt,
    status: mark.status,
    remote,
    needed,
    rule,
    fuels: mark.fuels ? [...mark.fuels] : null,
    fuels_no: mark.fuelsNo ? [...mark.fuelsNo] : null,
    queue: mark.queue ?? null,
    prices: mark.prices ?? null,
    prices_needed: pricesNeeded,
    limit_l: mark.limitL ?? null,
    limit_stated: mark.limitL !== undefined,
    no_cash: mark.noCash ?? null,
    fuel_cards_only: mark.fuelCardsOnly ?? null,
    network: networkOf({ sharedNetwork, incomingMark: mark }).network ?? null,
  });
