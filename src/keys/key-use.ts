import { rows, type Db } from "#src/infrastructure/db.ts";
import type { Clock } from "#src/infrastructure/clock.ts";
import { minuteMs } from "#src/domain/units.ts";
import { fromMs } from "#src/marks/marks.ts";

const quietMs = minuteMs;

/** When which key was last used, as `key list` shows it: right to the minute. */
export function createKeyUse(db: Db, clock: Clock) {
  const usedAt = new Map<number, number>();
  const writtenAt = new Map<number, number>();

  return {
    /** Remembers that a key was used now. Costs next to nothing: it is called for every request. */
    note: (keyId: number): void => void usedAt.set(keyId, clock()),
    /**
     * Writes down the latest use of each key that was not written within the last minute, or of all (`everything`), in
     * one statement. Rejects when Postgres is away; what was not written is kept.
     */
    async flush(everything: boolean): Promise<void> {
      const now = clock();
      const isDue = (id: number): boolean =>
        everything || now - (writtenAt.get(id) ?? Number.NEGATIVE_INFINITY) >= quietMs;
      const due = [...usedAt].filter(([id]) => isDue(id));
      if (due.length === 0) return;
      const ids = due.map(([id]) => id);
      await rows(
        db,
        // Another process that writes the same key now writes the same time, so locked rows are skipped.
        `update keys k set last_used_at = used.at
         from (select id, ${fromMs.replace("?::bigint", "ms")} as at from unnest(?::int[], ?::bigint[]) as u(id, ms)) as used
         join (select id from keys where id = any(?::int[]) for no key update skip locked) as free using (id)
         where k.id = used.id and (k.last_used_at is null or k.last_used_at < used.at)`,
        [ids, due.map(([, at]) => at), ids],
      );
      for (const [id, at] of due) {
        writtenAt.set(id, now);
        // A use during the writing stays for the next time.
        if (usedAt.get(id) === at) usedAt.delete(id);
      }
    },
  };
}
