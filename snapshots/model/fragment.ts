import { hash } from "node:crypto";
import type { StationRow } from "#src/feed/feed.ts";
import type { FuelBlock } from "#src/domain/state.ts";
import { parseTime } from "#src/domain/time.ts";
import { grades, queues, statuses } from "#src/domain/vocabulary.ts";
import {
  field,
  type Page,
  read,
  recordSize,
  type Rendered,
  startOf,
  stateOf,
  textOf,
} from "#snapshots/model/block.ts";
import { foldText } from "#snapshots/model/search-text.ts";

export const statusCodes = [...statuses, "nodata"] as const;
export const gradeShift = 3;
export const queueShift = 8;
export const pricedBit = 1 << 11;

/**
 * The station rendered as it is served (partner-api.md 2.1). `state` is what time alone will still change (see
 * state-text.ts), "" when that is nothing.
 */
export function renderStation(
  station: number,
  row: StationRow,
  brand: number,
  block: FuelBlock,
  state: string,
): Rendered {
  const { id, lat, lon, name, addr } = row;
  const fixed = `${JSON.stringify({ id, lat, lon, brand: row.brand, name, addr }).slice(0, -1)},"fuel":`;
  const text = `${[name, row.brand, addr].map(foldText).join("\u001f")}\n`;
  const json = `${fixed}${JSON.stringify(block)}},`;
  return { station, lat, lon, json, text, state, record: recordOf(fixed, json, brand, block) };
}

/** The same station with another fuel block; `ended` when time alone changes nothing any more. */
export function renderFuel(page: Page, slot: number, block: FuelBlock, ended: boolean): Rendered {
  const start = startOf(page, slot);
  const fixed = page.body.read().toString("utf8", start, start + read(page, slot, field.fuel));
  const json = `${fixed}${JSON.stringify(block)}},`;
  return {
    station: page.stations[slot] as number,
    lat: page.coordinates[slot * 2] as number,
    lon: page.coordinates[slot * 2 + 1] as number,
    json,
    text: textOf(page, slot),
    state: ended ? "" : stateOf(page, slot),
    record: recordOf(fixed, json, read(page, slot, field.brand), block),
  };
}

/** The fuel block as it is served, read back from the station's bytes. */
export function fuelOf(page: Page, slot: number): FuelBlock {
  const from = startOf(page, slot) + read(page, slot, field.fuel);
  return JSON.parse(
    page.body.read().toString("utf8", from, read(page, slot, field.end) - 2),
  ) as FuelBlock;
}

function recordOf(fixed: string, json: string, brand: number, block: FuelBlock): number[] {
  const record = Array.from({ length: recordSize }, () => 0);
  // A digest of each fragment, summed over a result, is the same however the result is put together.
  const digest = hash("sha1", json, "hex");
  for (let lane = 0; lane < 3; lane++)
    record[field.hash + lane] = Number.parseInt(digest.slice(lane * 8, lane * 8 + 8), 16);
  record[field.fuel] = Buffer.byteLength(fixed);
  record[field.flags] = flagsOf(block);
  record[field.updatedS] = (parseTime(block.updated) ?? 0) / 1000;
  record[field.brand] = brand;
  return record;
}

function flagsOf(block: FuelBlock): number {
  let flags = statusCodes.indexOf(block.status);
  if (block.fuels_now !== "")
    for (const grade of block.fuels_now.split(","))
      flags |= 1 << (gradeShift + (grades as readonly string[]).indexOf(grade));
  if (block.queue !== "") flags |= (queues.indexOf(block.queue) + 1) << queueShift;
  if (block.prices !== undefined) flags |= pricedBit;
  return flags;
}
