import { setImmediate as nextTurn } from "node:timers/promises";
import { rows, type Statements } from "#src/infrastructure/db.ts";
import { minuteMs } from "#src/domain/units.ts";
import {
  doubtDatabase,
  knowsTokenSql,
  newestTokenSql,
  timelineSql,
  type Token,
  tokenBindings,
} from "#src/feed/database-identity.ts";
import {
  byPlace,
  type FeedRow,
  givenOut,
  isGivenOut,
  lostRow,
  readAfter,
  readStations,
} from "#src/feed/feed.ts";
import { createIdTable, type IdTable, larger, roomFor } from "#src/feed/id-table.ts";
import { listen, type Listener } from "#src/infrastructure/listen.ts";
import type { Report } from "#src/contract/present.ts";
import type { Resources } from "#src/infrastructure/resources.ts";
import { loadReports, msOf } from "#src/marks/marks.ts";
import { createNextRun } from "#src/infrastructure/polled.ts";
import { createQuarantine, type Quarantine } from "#src/infrastructure/quarantine.ts";
import { pipelinedTransaction } from "#src/infrastructure/pipelined-transaction.ts";
import { slices } from "#src/infrastructure/lists.ts";

/** The time before which no commit is under way, and the identity of the database. */
const safeSql = `select ${msOf("feed_safe()")} as safe, ${timelineSql} as timeline,
    ${knowsTokenSql} as "isKnown", newest.number, newest.token
  from database_identity d, (${newestTokenSql}) newest`;
type Safe = Token & { safe: number | null; timeline: string | null; isKnown: boolean };

export type Follower = ReturnType<typeof createFollower>;

/** The name of these rows in the quarantine. */
const table = "station_status";

/** Rows of one page. */
const pageRows = 250;
/** Rows given out in one turn of the event loop: more would delay other requests. */
const turnRows = 32;
/** Rows of one page of the first load, which no request waits for. */
const loadRows = 1000;
const compareRows = 10_000;
/** Longest pause between two pages of the first load. */
const loadIdleMs = minuteMs;
/** Longest statement of the first load: the first page waits until the whole country is in order. */
const loadMs = 5 * minuteMs;

/**
 * Follows the change feed. NOTIFY wakes it, and a poll each `pollMs` is the guarantee. Before each read of changes it
 * reads the outcomes of `outcomes.ids()`, and settles them after the changes are applied, so that a caller who waits
 * for a mark sees it in the next read. After a lost connection everything is compared with memory.
 */
export function createFollower(
  deps: Pick<Resources, "db" | "config" | "log" | "clock"> & {
    onRows: (rows: FeedRow[]) => void;
    /** Called after everything was read, or compared with memory: others may then have been told something else. */
    onReload?: () => void;
    /** The numbers of the stations, shared with other stores that have a value for each station. */
    ids?: IdTable;
    outcomes?: { ids(): number[]; settle(reports: readonly Report[]): void };
    /** By default a separate one. */
    quarantine?: Quarantine;
    /** The first load comes in the order of ids, not of the map. */
    inIdOrder?: boolean;
  },
) {
  const { db, config, log, clock, onRows, onReload, outcomes } = deps;
  const { quarantine = createQuarantine(log), inIdOrder = false } = deps;
  const { ids: stations = createIdTable() } = deps;
  /** The applied number of each station; 0 when the database does not know it. */
  let seqs = new Float64Array(1024);
  /** The last number that was read. */
  let lastSeq = 0;
  /** Everything up to this number was given to `onRows`. */
  let appliedSeq = 0;
  let safe = 0;
  let readAt = 0;
  let timeline: string | null = null;
  /** Stations whose rows cannot be read, and whose fold nobody has asked for yet. */
  const toMend = new Set<string>();
  /** The newest token of the database that it has known. */
  let token: Token | null = null;
  let loaded = false;
  let compare = false;
  let away = false;
  let stopped = false;
  let listener: Listener | null = null;
  let timer: NodeJS.Timeout | undefined;

  const note = (id: string, seq: number): void => {
    const station = stations.numberOf(id);
    if (station >= seqs.length) seqs = larger(seqs, roomFor(station + 1));
    seqs[station] = seq;
  };

  const isKnown = (id: string): boolean => (seqs[stations.find(id)] ?? 0) !== 0;

  /**
   * Gives rows out and then notes them, so that a row that was not taken counts as different in the next comparison. A
   * station with an unreadable row keeps its last good row; without one the readable part is given out.
   */
  const apply = (found: readonly FeedRow[]): void => {
    const faults = new Map<string, string>();
    for (const { id, fault } of found) if (fault !== undefined) faults.set(id, fault);
    const usable = found.filter(({ id, fault }) => fault === undefined || !isKnown(id));
    const give = (some: FeedRow[]): FeedRow[] => {
      try {
        if (some.length > 0) onRows(some);
        return some;
      } catch (error) {
        // None was taken, so they are given one by one: only the faulty ones stay behind.
        if (some.length > 1) return some.flatMap((row) => give([row]));
        faults.set(some[0]!.id, (error as Error).message);
        return [];
      }
    };
    for (const row of give(usable)) note(row.id, row.seq);
    setAside(found, faults);
  };
  const setAside = (found: readonly FeedRow[], faults: ReadonlyMap<string, string>): void => {
    for (const id of quarantine.add(table, faults)) toMend.add(id);
    const read = found.filter(({ id }) => !faults.has(id)).map(({ id }) => id);
    quarantine.release(table, read);
    for (const id of read) toMend.delete(id);
  };
  /** Asks the marks worker to fold the stations with unreadable rows anew, without their stored states. */
  const mend = async (): Promise<void> => {
    if (toMend.size === 0) return;
    const ids = [...toMend];
    const sql = `update station_status set refold = true where station_id in (
      select station_id from station_status where station_id = any(?::text[]) order by 1 for no key update)`;
    await rows(db, sql, [ids]).then(
      () => ids.forEach((id) => toMend.delete(id)),
      (error: Error) => log.debug({ err: error.message }, "no fold asked for, will ask again"),
    );
  };

  const read = async (): Promise<void> => {
    const ids = outcomes?.ids() ?? [];
    // One round trip, in this order: outcomes and the safe time are read before any change.
    const [[mark], reports, first] = await pipelinedTransaction(
      db,
      (tx) =>
        Promise.all([
          rows<Safe>(tx, safeSql, tokenBindings(token), "feed_safe"),
          loadReports(tx, ids, "outcomes"),
          loaded ? readAfter(tx, lastSeq, pageRows) : [],
          tx.commit(),
        ]),
      { reads: true },
    );
    // A standby that took over may have lost the last changes and give their numbers out again.
    if (timeline !== null && timeline !== mark!.timeline) compare = true;
    timeline = mark!.timeline;
    if (mark!.isKnown) token = { number: mark!.number, token: mark!.token };
    else await doubt("it does not know the last token");
    const comparing = compare;
    compare = false;
    if (!loaded) await loadAll();
    // Nothing was read before the first load, so there is nothing to compare.
    if (comparing && stations.size() > 0) await reload();
    // Not later than now: a clock that was ahead, or rows stamped by it, must not promise later changes.
    const known = Math.min(mark!.safe ?? safe, clock());
    await catchUp(loaded && !comparing ? first : await readAfter(db, lastSeq, pageRows), known);
    if (!loaded || comparing) onReload?.();
    loaded = true;
    readAt = clock();
    outcomes?.settle(reports);
    await mend();
  };

  /** For a database that went back to an earlier state, perhaps at the same address and on the same timeline. */
  const doubt = async (reason: string): Promise<void> => {
    log.warn(
      { reason },
      "the database has lost what was read from it, upkeep is to mark all stations",
    );
    compare = true;
    await doubtDatabase(db, token!.number);
  };

  /** Loads one neighbourhood at a time, so that a read model writes its blocks once. Later changes follow. */
  const loadAll = (): Promise<void> =>
    db.transaction(
      async (tx) => {
        // This transaction locks nothing that a write waits for, and a busy machine may take long for 1,000 stations.
        await tx.raw(`set local idle_in_transaction_session_timeout = ${loadIdleMs}`);
        await tx.raw(`set local statement_timeout = ${loadMs}`);
        const slow: Statements = {
          raw: (asked, values) => tx.raw(asked, values).options({ query_timeout: loadMs }),
        };
        const sql = `select max(seq) as seq from ${givenOut("changes")}`;
        const [newest] = await rows<{ seq: number | null }>(tx, sql);
        await tx.raw(
          `declare everything no scroll cursor for select s.id from changes c join stations s on s.id = c.station_id
         order by ${inIdOrder ? "" : "floor(s.lat * 2), s.lon, "}s.id collate "C"`,
        );
        for (;;) {
          const ids = await rows<{ id: string }>(slow, `fetch forward ${loadRows} from everything`);
          const some = ids.map(({ id }) => id);
          apply((await readStations(slow, some)).toSorted(byPlace));
          if (ids.length < loadRows) break;
        }
        lastSeq = newest!.seq ?? 0;
      },
      { readOnly: true },
    );

  const catchUp = async (first: FeedRow[], known: number): Promise<void> => {
    let reached = known;
    for (let found = first; ; found = await readAfter(db, lastSeq, pageRows)) {
      const from = lastSeq;
      for (const some of slices(found, turnRows)) {
        apply(some);
        for (const row of some) {
          lastSeq = Math.max(lastSeq, row.seq);
          reached = Math.max(reached, row.at);
        }
        if (some.length === turnRows) await nextTurn();
      }
      // A page with only numbers that were not given out would be read again and again.
      if (found.length < pageRows || lastSeq === from) break;
    }
    // Only at the end, because a station that changed twice comes with its last number, far behind its first change.
    appliedSeq = lastSeq;
    safe = reached;
  };

  /** Compares everything after a reconnect, which may lead to a database that lost its last changes. */
  const reload = async (): Promise<void> => {
    const found = new Uint8Array(stations.size());
    const different: string[] = [];
    let [highest, lastGiven] = [0, 0];
    // Read in the order of numbers, so that a station with a new number comes again and is never missed.
    for (;;) {
      const numbersSql = `select station_id as id, seq, ${isGivenOut("seq", "change_seq")} as given from changes
        where seq > ? order by seq limit ?`;
      const some = await rows<{ id: string; seq: number; given: boolean }>(db, numbersSql, [
        ...[highest, compareRows],
      ]);
      for (const { id, seq, given } of some) {
        if (given) lastGiven = seq;
        const station = stations.find(id);
        if (station === -1 || seqs[station] !== seq) different.push(id);
        if (station < found.length) found[station] = 1;
      }
      highest = some.at(-1)?.seq ?? highest;
      if (some.length < compareRows) break;
    }
    for (const ids of slices(different, pageRows))
      for (const some of slices(await readStations(db, ids), turnRows)) {
        apply(some);
        await nextTurn();
      }
    const gone = [...found.keys()].filter((one) => found[one] === 0 && (seqs[one] ?? 0) !== 0);
    if (gone.length > 0) apply(gone.map((station) => lostRow(stations.id(station), safe)));
    if (highest < lastSeq && token !== null) await doubt("its highest number is lower");
    // The rows' own numbers would be too high: other stations may have got lower ones while these rows were read.
    lastSeq = lastGiven;
    if (different.length + gone.length > 0)
      log.info({ different: different.length, gone: gone.length }, "compared with the database");
  };

  const guarded = async (): Promise<void> => {
    try {
      await read();
      if (away) log.info("follows the database again");
      away = false;
    } catch (error) {
      compare = true;
      if (!away)
        log.warn(
          { err: (error as Error).message },
          "cannot follow the database, serving what is in memory",
        );
      away = true;
      throw error;
    }
  };

  const reads = createNextRun(guarded);
  const wake = (): void => {
    if (!stopped) reads.run().catch(() => {});
  };

  return {
    /** Resolves when `onRows` has got the whole database; rejects when it cannot be read. */
    async start() {
      await reads.run();
      if (stopped) return;
      let connected = false;
      listener = listen(config, log, "changes", (why) => {
        // A new connection may lead to a database that lost its last changes.
        if (why === "connected" && connected) compare = true;
        connected = true;
        wake();
      });
      timer = setInterval(wake, config.pollMs);
    },
    async stop() {
      stopped = true;
      clearInterval(timer);
      await listener?.stop();
      await reads.idle();
    },
    /** Continues from rows that were read elsewhere earlier; the first read of the database compares. */
    resume(from: { rows: FeedRow[]; seq: number; asOfMs: number }) {
      if (loaded) return;
      for (const some of slices(from.rows, loadRows)) apply(some);
      lastSeq = from.seq;
      appliedSeq = from.seq;
      safe = from.asOfMs + asOfLagMs;
      loaded = true;
      compare = true;
    },
    /** True when the stations can be served, after a read of all or a `resume`. */
    loaded: () => loaded,
    /** Reads all changes until now; rejects when the database is away. */
    refresh: reads.run,
    /** Every change up to this number is applied. */
    seq: () => appliedSeq,
    /** True when exactly the changes up to `seq` are applied; false while more are being applied. */
    isSettled: () => loaded && !compare && appliedSeq === lastSeq,
    /** The cursor of decisions 7 in ms, a whole second, for a reader that has applied time up to `now`. */
    asOf: (now: number) => asOfBefore(Math.min(safe, now)),
    /** Reads these stations again, as if nothing were known of them. */
    forget(ids: readonly string[]): void {
      if (ids.length === 0) return;
      // Negative, because the database knows the station, so its absence must still be noticed.
      for (const station of ids.map((id) => stations.find(id)))
        seqs[station] = -Math.abs(seqs[station] ?? 0);
      compare = true;
      wake();
    },
    /** Time of the last successful read of the feed, ms; 0 before the first. */
    readAt: () => readAt,
  };
}

/** `as_of` stays this far behind, because partners compare it by whole seconds. */
const asOfLagMs = 1000;

/** The cursor of decisions 7 in ms, a whole second, for a reader that has every change before `ms`. */
export const asOfBefore = (ms: number): number => Math.floor(ms / 1000) * 1000 - asOfLagMs;
