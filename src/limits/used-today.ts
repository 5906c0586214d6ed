import type { Config } from "#src/infrastructure/config.ts";
import type { Db } from "#src/infrastructure/db.ts";
import type { Log } from "#src/infrastructure/log.ts";
import { createPolled } from "#src/infrastructure/polled.ts";
import type { Metered } from "#src/limits/meter.ts";
import { loadUsedToday } from "#src/limits/usage-rows.ts";

/**
 * Each partner's durable use of today: the meter continues from it when Redis has lost its own counts. Read again every
 * `keysRefreshMs`; while Postgres is away the last answer stays.
 */
export function createUsedToday({ db, config, log }: { db: Db; config: Config; log: Log }) {
  let latest: Awaited<ReturnType<typeof loadUsedToday>> = null;
  const { start, stop } = createPolled({
    everyMs: config.keysRefreshMs,
    look: async () => {
      latest = await loadUsedToday(db);
    },
    onError: (reason) => log.debug({ reason }, "used requests not refreshed"),
  });

  return {
    floorOf(partnerId: number): Metered["floor"] {
      const count = latest?.counts.get(partnerId);
      return latest === null || count === undefined ? null : { day: latest.day, count };
    },
    ...{ start, stop },
  };
}

export type UsedToday = ReturnType<typeof createUsedToday>;
