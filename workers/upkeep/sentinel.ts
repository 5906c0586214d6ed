import { type Alarm, raiseAlarms } from "#src/alarms/raise.ts";
import {
  compareCopies,
  compareWithDatabase,
  type Content,
  type Counted,
  hasLostStatuses,
  streakAfter,
  streakTold,
  type Verdict,
} from "#src/domain/sentinel.ts";
import { minuteMs } from "#src/domain/units.ts";
import { givenOut } from "#src/feed/feed.ts";
import { type Db, rows } from "#src/infrastructure/db.ts";
import { createDumpStore } from "#snapshots/dumps/dump-store.ts";
import type { Duty, RoleDeps } from "#workers/role.ts";

/** A process with older facts is late or cut off, which `/readyz` shows. */
const freshMs = 30_000;
/** After a pause of this length differences are no more in a row. */
const streakMs = 5 * minuteMs;

/**
 * Compares the stations of the processes, the stored dump and the database, and raises alarms if they differ or many
 * statuses are gone (decisions 21.37 to 21.39). Gives the number of alarms.
 */
export function createSentinel(
  deps: Pick<RoleDeps, "config" | "db" | "log" | "redis" | "clock" | "peers">,
): Duty {
  const { config, db, log, redis, clock, peers } = deps;
  const dumps = createDumpStore(redis, config.redisPrefix, 0);
  const told = new Set<string>();

  /** Logs the beginning and the end of each finding. */
  const note = (what: string, isThere: boolean, figures: object): void => {
    if (isThere === told.has(what)) return;
    if (isThere) log.warn({ reason: what, counts: figures }, "the sentinel has found something");
    else log.info({ reason: what }, "the sentinel finds it no more");
    told[isThere ? "add" : "delete"](what);
  };

  return async () => {
    await peers.look();
    const now = clock();
    const served = peers
      .others()
      .filter(({ at, postgresAt }) => postgresAt !== null && at - postgresAt < freshMs)
      .flatMap(({ content }) => content ?? [])
      .filter(({ asOfMs }) => now - asOfMs < freshMs);
    const [head, database] = [await dumps.head(), await countStations(db)];
    const dump =
      head === null ? [] : [{ ...head, sinceMs: head.builtAtMs, asOfMs: head.builtAtMs }];
    const verdicts = {
      processes: compareCopies(served, served),
      dump: compareCopies(dump, served),
      database: compareWithDatabase(served, database),
    };
    const alarms: Omit<Alarm, "at">[] = [];
    for (const [code, verdict] of Object.entries(verdicts) as [keyof typeof verdicts, Verdict][]) {
      // In Redis, because each look may be another process's.
      const key = `${config.redisPrefix}:sentinel:${code}`;
      const streak = streakAfter(Number(await redis.get(key)) || 0, verdict);
      await redis.set(key, streak, "PX", streakMs);
      const isThere = streak >= streakTold;
      note(`${code} differ`, isThere, { served, dump: head, database });
      if (isThere)
        alarms.push({ kind: "copies-differ", subject: { code }, details: { looks: streak } });
    }
    const lost = served.filter(hasLostStatuses)[0];
    note("statuses lost", lost !== undefined, { ...lost });
    if (lost !== undefined)
      alarms.push({ kind: "statuses-lost", subject: { code: "stations" }, details: lossOf(lost) });
    await raiseAlarms(
      db,
      alarms.map((alarm) => ({ ...alarm, at: now })),
    );
    return alarms.length;
  };
}

const lossOf = ({ known, mostKnown }: Content): Record<string, number> => ({
  before: mostKnown,
  after: known,
});

/** The stations in service by the change feed, and the number of them with a status in their rows. */
async function countStations(db: Db): Promise<Counted> {
  const [found] = await rows<Counted>(
    db,
    `select coalesce((select max(seq) from ${givenOut("changes")}), 0) as seq, count(*) as count,
       count(*) filter (where st.status <> 'nodata') as known
     from changes c join stations s on s.id = c.station_id
       left join station_status st on st.station_id = c.station_id
     where not c.removed and s.removed_at is null`,
    [],
    "count_served",
  );
  return found!;
}
