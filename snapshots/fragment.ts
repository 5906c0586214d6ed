import { hash } from "node:crypto";
import type { StationRow } from "#src/feed.ts";
import type { FuelBlock } from "#src/domain/state.ts";
import { parseTime } from "#src/domain/time.ts";
import { grades, queues, statuses } from "#src/domain/words.ts";
import { field, type Page, read, recordSize, startOf } from "#snapshots/page.ts";
import { foldText } from "#snapshots/search-text.ts";
import type { Station } from "#snapshots/station.ts";

export const statusCodes = [...statuses, "nodata"] as const;
export const gradeShift = 3;
export const queueShift = 8;
export const pricedBit = 1 << 11;

/** The station as a page of its own, rendered as it is served at `now` (partner-api.md 2.1). */
export function renderStation(
  station: Station,
  row: StationRow,
  brand: number,
  block: FuelBlock,
): Page {
  const { id, lat, lon, name, addr } = row;
  const fixed = `${JSON.stringify({ id, lat, lon, brand: row.brand, name, addr }).slice(0, -1)},"fuel":`;
  const text = Buffer.from(`${[name, row.brand, addr].map(foldText).join("\u001f")}\n`);
  const bytes = Buffer.from(`${fixed}${JSON.stringify(block)}},`);
  const page: Page = {
    stations: [station],
    coordinates: Float64Array.of(lat, lon),
    records: new Uint32Array(recordSize),
    bytes,
    text,
  };
  page.records[field.fuel] = Buffer.byteLength(fixed);
  page.records[field.brand] = brand;
  page.records[field.textEnd] = text.length;
  return finish(page, block);
}

/** The same station with another fuel block: its fixed part is copied, not rendered again. */
export function renderFuel(from: Page, slot: number, block: FuelBlock): Page {
  const start = startOf(from, slot);
  const fixed = from.bytes.subarray(start, start + read(from, slot, field.fuel));
  const textStart = slot === 0 ? 0 : read(from, slot - 1, field.textEnd);
  const text = from.text.subarray(textStart, read(from, slot, field.textEnd));
  const page: Page = {
    stations: [from.stations[slot] as Station],
    coordinates: from.coordinates.slice(slot * 2, slot * 2 + 2),
    records: from.records.slice(slot * recordSize, (slot + 1) * recordSize),
    bytes: Buffer.concat([fixed, Buffer.from(`${JSON.stringify(block)}},`)]),
    text,
  };
  page.records[field.textEnd] = text.length;
  return finish(page, block);
}

/** The fuel block as it is served, read back from the station's bytes. */
export function fuelOf(page: Page, slot: number): FuelBlock {
  const from = startOf(page, slot) + read(page, slot, field.fuel);
  return JSON.parse(
    page.bytes.toString("utf8", from, read(page, slot, field.end) - 2),
  ) as FuelBlock;
}

function finish(page: Page, block: FuelBlock): Page {
  const { records, bytes } = page;
  // A digest of each fragment, summed over a result, is the same however the result is put together.
  const digest = hash("sha1", bytes.subarray(0, -1), "buffer");
  for (let lane = 0; lane < 3; lane++) records[field.hash + lane] = digest.readUInt32LE(lane * 4);
  records[field.end] = bytes.length;
  records[field.flags] = flagsOf(block);
  records[field.updatedS] = (parseTime(block.updated) ?? 0) / 1000;
  return page;
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
