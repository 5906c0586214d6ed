import { randomUUID } from "node:crypto";
import { claimChances, writeLevels } from "#src/feed/chance-levels.ts";
import type { Db } from "#src/infrastructure/db.ts";

const holder = randomUUID();

/** Writes chances (percent; null: unknown) as the process that follows the marks does, in place of it. */
export async function writeChances(
  db: Db,
  chances: ReadonlyMap<string, number | null>,
): Promise<void> {
  const waiting = new Map(chances);
  while (waiting.size > 0) {
    await claimChances(db, holder);
    // Those that somebody works at are left out.
    for (const id of await writeLevels(db, holder, waiting)) waiting.delete(id);
  }
}
