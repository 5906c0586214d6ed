import type { Config } from "#src/infrastructure/config.ts";
import type { Db } from "#src/infrastructure/db.ts";
import { createNextRun } from "#src/infrastructure/next-run.ts";
import type { Log } from "#src/infrastructure/log.ts";
import type { Metered } from "#src/limits/meter.ts";
import { loadUsedToday } from "#src/limits/usage-rows.ts";

/**
 * What each partner has durably used today: the meter goes on from it when Redis has lost its own counts. Read again
 * every `keysRefreshMs`; while Postgres is away the last answer stays.
 */
export function createUsedToday({ db, config, log }: { db: Db; config: Config; log: Log }) {
  let latest: Awaited<ReturnType<typeof loadUsedToday>> = null;
  let timer: NodeJS.Timeout | undefined;

  const load = async (): Promise<void> => {
    try {
      latest = await loadUsedToday(db);
    } catch (error) {
      log.debug({ reason: (error as Error).message }, "used requests not refreshed");
    }
  };
  const loads = createNextRun(load);

  return {
    floorOf(partnerId: number): Metered["floor"] {
      const count = latest?.counts.get(partnerId);
      return latest === null || count === undefined ? null : { day: latest.day, count };
    },
    start(): Promise<void> {
      timer ??= setInterval(() => void loads.run(), config.keysRefreshMs).unref();
      return loads.run();
    },
    stop: async () => {
      clearInterval(timer);
      await loads.idle();
    },
  };
}
