import { setImmediate as nextTurn } from "node:timers/promises";
import { type Block, type Stations, sumOfStations, sumText } from "#snapshots/model/block.ts";
import {
  type Deflated,
  deflatedAfter,
  deflateWindow,
  joinDeflated,
  type Packed,
} from "#snapshots/model/gzip-stitch.ts";
import { copyInOrder, sizeOf, slice } from "#snapshots/model/area-selection.ts";

/** Neighbours of a dump, in the order of their ids. Equal `sum`s mean equal content. */
export interface Chunk {
  stations: Stations;
  sum: string;
  /** Bytes of its JSON, the comma after its last station included. */
  size: number;
  isLast: boolean;
}

/** Mean number of stations; measured, see decisions 7.24. */
const chunkStations = 256;

/**
 * Cuts a list into chunks. A chunk ends with a station whose number divides evenly, so a station that comes or goes
 * changes its own chunk and does not move the borders of all chunks behind it.
 */
export function chunksOf(stations: Stations): Chunk[] {
  const { blocks, slots } = stations;
  const chunks: Chunk[] = [];
  let from = 0;
  slots.forEach((slot, i) => {
    const isLast = i === slots.length - 1;
    const { stations: numbers } = blocks[i] as Block;
    if (!isLast && (numbers[slot] as number) % chunkStations !== 0) return;
    const some = slice(stations, from, i + 1);
    const sum = `${i + 1 - from}-${sumText(sumOfStations(some))}`;
    chunks.push({ stations: some, sum, size: sizeOf(some), isLast });
    from = i + 1;
  });
  return chunks;
}

/** The JSON of a chunk; every station of the list but the last one ends with a comma. */
export function bytesOf({ stations, isLast }: Chunk): Buffer {
  const bytes = copyInOrder(stations);
  return isLast ? bytes.subarray(0, -1) : bytes;
}

/**
 * Deflates lists of chunks, one after the other. A chunk that stood in the list before, behind the same one as now, is
 * not deflated again.
 */
export function createChunkPacker(): (chunks: readonly Chunk[]) => Promise<Packed> {
  let packed = new Map<string, Deflated>();
  return async (chunks) => {
    const found = new Map<string, Deflated>();
    let written: { chunk: Chunk; bytes: Buffer } | undefined;
    for (const [i, chunk] of chunks.entries()) {
      const before = chunks[i - 1];
      // A deflated chunk refers to the end of the one before it.
      const name = `${before?.sum} ${chunk.sum} ${chunk.isLast}`;
      let deflated = packed.get(name);
      if (deflated === undefined) {
        const end = written?.chunk === before ? written?.bytes : before && bytesOf(before);
        written = { chunk, bytes: bytesOf(chunk) };
        deflated = await deflatedAfter(end?.subarray(-deflateWindow), written.bytes);
      }
      found.set(name, deflated);
    }
    packed = found;
    return joinDeflated([...found.values()]);
  };
}

/** The JSON of the chunks one after the other, each made in a turn of the event loop of its own. */
export async function* eachBytes(chunks: readonly Chunk[]): AsyncGenerator<Buffer> {
  for (const chunk of chunks) {
    yield bytesOf(chunk);
    await nextTurn();
  }
}
