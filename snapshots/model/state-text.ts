import {
  emptyState,
  type Price,
  type Seed,
  type Served,
  type Side,
  type StationState,
  type Version,
} from "#src/domain/state.ts";
import type { Grade } from "#src/domain/vocabulary.ts";

type StateText = [
  served: ReturnType<typeof servedText> | 0,
  imported: ReturnType<typeof importedText> | 0,
  versions: ReturnType<typeof versionText>[],
  prices: ReturnType<typeof priceText>[],
  lastUpdated: number | null,
  next: 0 | [at: number, state: StateText],
];

/**
 * A folded state as short text, a fifth of its JSON: no names, and only the parts that `view` and `instants` read. The
 * parts that only the next fold needs (publications, the last mark) are left out: workers fold from the database.
 */
export const writeState = (state: StationState): string => JSON.stringify(stateText(state));

/** The parts of the state that `view` and `instants` read. */
export const readState = (text: string): StationState => stateOf(JSON.parse(text) as StateText);

const stateText = (state: StationState): StateText => [
  state.served === null ? 0 : servedText(state.served),
  state.seeded === null ? 0 : importedText(state.seeded),
  state.versions.map(versionText),
  state.prices.map(priceText),
  state.lastUpdated,
  state.next === null ? 0 : [state.next.at, stateText(state.next.state)],
];

function stateOf([served, imported, versions, prices, lastUpdated, next]: StateText): StationState {
  return {
    ...emptyState,
    served: served === 0 ? null : servedOf(served),
    seeded: imported === 0 ? null : importedOf(imported),
    versions: versions.map(versionOf),
    prices: prices.map(priceOf),
    lastUpdated,
    next: next === 0 ? null : { at: next[0], state: stateOf(next[1]) },
  };
}

const servedText = ({ status, updated, confirmations, realCount, details }: Served) => {
  const { fuelsNow, fuelsNo, queue, limitL, noCash, fuelCardsOnly } = details;
  const flags = [Number(noCash), Number(fuelCardsOnly)] as const;
  const shown = [fuelsNow.join(), fuelsNo.join(), queue, limitL] as const;
  return [status, updated, confirmations, realCount, ...shown, ...flags] as const;
};
function servedOf(text: ReturnType<typeof servedText>): Served {
  const [status, updated, confirmations, realCount, now, no, queue, limitL, noCash, cards] = text;
  const flags = { noCash: noCash === 1, fuelCardsOnly: cards === 1 };
  const details = { fuelsNow: gradesOf(now), fuelsNo: gradesOf(no), queue, limitL, ...flags };
  return { status, updated, confirmations, realCount, details };
}

const importedText = ({ status, updated, fuelsNow, fuelsNo }: Seed) =>
  [status, updated, fuelsNow.join(), fuelsNo.join()] as const;
function importedOf([status, updated, now, no]: ReturnType<typeof importedText>): Seed {
  return { importedAt: updated, updated, status, fuelsNow: gradesOf(now), fuelsNo: gradesOf(no) };
}

const versionText = ({ status, count, newest, disputed }: Version) => {
  const sides = disputed && ([sideText(disputed.served), sideText(disputed.challenger)] as const);
  return [status, count, newest.at, newest.id, sides] as const;
};
function versionOf([status, count, at, id, sides]: ReturnType<typeof versionText>): Version {
  const disputed = sides && { served: sideOf(sides[0]), challenger: sideOf(sides[1]) };
  return { status, count, newest: { at, id }, disputed };
}

const sideText = ({ status, count, updated }: Side) => [status, count, updated] as const;
function sideOf([status, count, updated]: ReturnType<typeof sideText>): Side {
  return { status, count, updated };
}

const priceText = ({ grade, price, from }: Price) => [grade, price, from.at] as const;
function priceOf([grade, price, at]: ReturnType<typeof priceText>): Price {
  return { grade, price, from: { at, id: 0 } };
}

const gradesOf = (text: string): Grade[] => (text === "" ? [] : (text.split(",") as Grade[]));
