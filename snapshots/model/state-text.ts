import {
  emptyState,
  type Seed,
  type Served,
  type Side,
  type StationState,
} from "#src/domain/state.ts";
import type { Grade, Queue, Status } from "#src/domain/vocabulary.ts";

type ServedText = [
  ...[status: Status, updated: number, confirmations: number, realCount: number],
  ...[fuelsNow: string, fuelsNo: string, queue: Queue | "", limitL: number | null],
  ...[noCash: 0 | 1, fuelCardsOnly: 0 | 1],
];
type SeedText = [status: Status, updated: number, fuelsNow: string, fuelsNo: string];
type SideText = [status: Status, count: number, updated: number];
type VersionText = [
  ...[status: Status, count: number, at: number, id: number],
  disputed: 0 | [served: SideText, challenger: SideText],
];
type PriceText = [grade: Grade, price: number, at: number];
type StateText = [
  served: ServedText | 0,
  seeded: SeedText | 0,
  versions: VersionText[],
  prices: PriceText[],
  lastUpdated: number | null,
  next: 0 | [at: number, state: StateText],
];

/**
 * A folded state as short text, a fifth of its JSON: no names, and only what `view` and `instants` look at. What only
 * the next fold needs (publications, the last mark) is left out: workers fold from the database.
 */
export const writeState = (state: StationState): string => JSON.stringify(shorten(state));

/** The state as far as `view` and `instants` look at it. */
export const readState = (text: string): StationState => restore(JSON.parse(text) as StateText);

const shorten = (state: StationState): StateText => [
  state.served === null ? 0 : servedText(state.served),
  state.seeded === null ? 0 : seedText(state.seeded),
  state.versions.map(({ status, count, newest, disputed }) => [
    ...([status, count, newest.at, newest.id] as const),
    disputed === null ? 0 : [sideText(disputed.served), sideText(disputed.challenger)],
  ]),
  state.prices.map(({ grade, price, from }) => [grade, price, from.at]),
  state.lastUpdated,
  state.next === null ? 0 : [state.next.at, shorten(state.next.state)],
];

const servedText = ({ status, updated, confirmations, realCount, details }: Served): ServedText => [
  ...([status, updated, confirmations, realCount] as const),
  ...([details.fuelsNow.join(), details.fuelsNo.join(), details.queue, details.limitL] as const),
  ...([details.noCash ? 1 : 0, details.fuelCardsOnly ? 1 : 0] as const),
];

const seedText = ({ status, updated, fuelsNow, fuelsNo }: Seed): SeedText => [
  ...([status, updated, fuelsNow.join(), fuelsNo.join()] as const),
];

const sideText = ({ status, count, updated }: Side): SideText => [status, count, updated];

function restore([served, seeded, versions, prices, lastUpdated, next]: StateText): StationState {
  return {
    ...emptyState,
    served: served === 0 ? null : readServed(served),
    seeded: seeded === 0 ? null : readSeed(seeded),
    versions: versions.map(([status, count, at, id, disputed]) => ({
      status,
      count,
      newest: { at, id },
      disputed:
        disputed === 0
          ? null
          : { served: readSide(disputed[0]), challenger: readSide(disputed[1]) },
    })),
    prices: prices.map(([grade, price, at]) => ({ grade, price, from: { at, id: 0 } })),
    lastUpdated,
    next: next === 0 ? null : { at: next[0], state: restore(next[1]) },
  };
}

const gradesOf = (text: string): Grade[] => (text === "" ? [] : (text.split(",") as Grade[]));

function readServed(text: ServedText): Served {
  const [status, updated, confirmations, realCount, now, no, queue, limitL, noCash, cards] = text;
  const flags = { noCash: noCash === 1, fuelCardsOnly: cards === 1 };
  const details = { fuelsNow: gradesOf(now), fuelsNo: gradesOf(no), queue, limitL, ...flags };
  return { status, updated, confirmations, realCount, details };
}

const readSeed = ([status, updated, now, no]: SeedText): Seed => ({
  ...{ importedAt: updated, updated, status },
  ...{ fuelsNow: gradesOf(now), fuelsNo: gradesOf(no) },
});

const readSide = ([status, count, updated]: SideText): Side => ({ status, count, updated });
