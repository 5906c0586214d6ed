import { field, type Page, recordSize } from "#snapshots/model/block.ts";

/** Three lanes of fragment digests, each summed modulo 2^32: equal content gives equal sums, in any order. */
export type Sum = Uint32Array;

export const emptySum = (): Sum => new Uint32Array(3);

/** Adds the digest of one station. */
export function addStation(sum: Sum, page: Page, slot: number): void {
  const at = slot * recordSize + field.hash;
  for (let lane = 0; lane < 3; lane++)
    sum[lane] = (sum[lane] as number) + (page.records[at + lane] as number);
}

export function pageSum(page: Page): Sum {
  const sum = emptySum();
  for (let slot = 0; slot < page.stations.length; slot++) addStation(sum, page, slot);
  return sum;
}

export const sumText = ([a, b, c]: Sum): string => hex(a) + hex(b) + hex(c);

/** Eight digits; the carry in front keeps the zeros. */
const hex = (lane = 0): string => (lane + 2 ** 32).toString(16).slice(1);
