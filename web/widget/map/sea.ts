import type { AddProtocolAction } from "maplibre-gl";

/** A layer `sea` of a vector tile (specification 2): one square, 64 wider on each side than the tile's 4096. */
const sea = [
  ...[0x1a, 30, 0x78, 2, 0x0a, 3, 0x73, 0x65, 0x61, 0x28, 128, 32],
  ...[0x12, 18, 0x18, 3, 0x22, 14, 9, 127, 127, 26, 128, 66, 0, 0, 128, 66, 255, 65, 0, 15],
];

/**
 * Our own tiles have land, and where there is none there are none. Here each gets a layer `sea` that fills it, to lie
 * below its land: what has not come yet is drawn as neither.
 *
 * @param archive the address of our own tiles; those of others stay as they are
 */
export const withSea =
  (read: AddProtocolAction, archive: string): AddProtocolAction =>
  async (asked, stop) => {
    const told = await read(asked, stop);
    if (!asked.url.startsWith(`pmtiles://${archive}/`)) return told;
    const own = told.data as Uint8Array;
    // Layers that follow each other are one tile.
    const data = new Uint8Array(own.length + sea.length);
    data.set(own);
    data.set(sea, own.length);
    return { ...told, data };
  };
