import type { FuelBlock, Mark, Seed } from "#src/domain/state.ts";
import { formatTime } from "#src/domain/time.ts";
import type { OracleBlock, OracleMark, OracleSeed, Says } from "#test/oracle/story.ts";

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** A mark of the domain in the oracle's words: null and absent alike say nothing, but for the limit. */
export function oracleMark(mark: Mark & { readonly network?: string }): OracleMark {
  const says: Mutable<Says> = {};
  if (mark.fuels) says.fuels = mark.fuels;
  if (mark.fuelsNo) says.fuelsNo = mark.fuelsNo;
  if (mark.queue) says.queue = mark.queue;
  if (mark.prices) says.prices = mark.prices;
  if (mark.limitL !== undefined) says.limitL = mark.limitL;
  if (typeof mark.noCash === "boolean") says.noCash = mark.noCash;
  if (typeof mark.fuelCardsOnly === "boolean") says.fuelCardsOnly = mark.fuelCardsOnly;
  const { id, at, status, remote, needed, rule, network, pricesNeeded } = mark;
  const reporter = String(mark.reporterId);
  return {
    ...{ id, at, status, remote, needed, rule, reporter, says },
    ...(network === undefined ? {} : { network }),
    ...(pricesNeeded === undefined ? {} : { pricesNeeded }),
  };
}

export const oracleSeed = (seed: Seed): OracleSeed => ({
  status: seed.status,
  importedAt: seed.importedAt,
  at: seed.updated,
  fuels: seed.fuelsNow,
  fuelsNo: seed.fuelsNo,
});

/** A served block or the oracle's as text in one form, so that a difference shows both whole. */
export const asText = (block: FuelBlock | OracleBlock): string =>
  Object.entries(comparable(block))
    .map(([field, value]) => `${field}: ${JSON.stringify(value)}`)
    .sort()
    .join("\n");

/** Times as served, of a conflict what both vouch for. */
function comparable(block: FuelBlock | OracleBlock): Record<string, unknown> {
  if ("conflict" in block) {
    const { conflict, ...rest } = block;
    const sides = conflict?.versions.map(({ status, count }) => ({ status, count })) ?? null;
    return { ...rest, prices: rest.prices ?? null, sides };
  }
  return {
    ...block,
    prices: block.prices ?? null,
    updated: block.updated === null ? "" : formatTime(block.updated),
  };
}
