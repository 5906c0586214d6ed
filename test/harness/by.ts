import type { Db } from "#src/infrastructure/db.ts";
import type { By } from "#src/operators/act.ts";

/** An operator who does an act now. */
export const by = (db: Db, actor: string): By => ({
  ...{ db, actor, now: Date.now() },
  wake: () => undefined,
  config: { defaultRpm: 120, defaultDaily: 50_000, massNoLimit: 20 },
});
