import { promisify } from "node:util";
import { constants, deflateRaw } from "node:zlib";
import { type Checked, checkedOf } from "#snapshots/model/crc.ts";
import { jsonOf, type Page } from "#snapshots/model/block.ts";

/** A text in a form that may stand anywhere in a deflate stream: whole blocks, none of them the last. */
export interface Deflated extends Checked {
  blocks: Buffer;
}

const inBackground = promisify(deflateRaw);

/** Deflates off the main thread. The blocks end at a byte and refer to nothing before them. */
export async function deflated(bytes: Buffer, level: number): Promise<Deflated> {
  const options = { level, finishFlush: constants.Z_SYNC_FLUSH };
  return { ...checkedOf(bytes), blocks: await inBackground(bytes, options) };
}

/** Once for each content, so a fifth less to send is worth twice the time of level 1. */
const pageLevel = 6;
const made = new WeakMap<Page, Deflated | Promise<Deflated>>();

/** A page's JSON without the comma at its end, deflated when it is first asked for and as long as there is the page. */
export function deflatedPage(page: Page): Deflated | Promise<Deflated> {
  let found = made.get(page);
  if (found === undefined) {
    found = deflated(jsonOf(page).subarray(0, -1), pageLevel).then((done) => {
      made.set(page, done);
      return done;
    });
    made.set(page, found);
    found.catch(() => made.delete(page));
  }
  return found;
}
