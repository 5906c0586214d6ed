import { randomUUID } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { type ChanceNumbers, shippedNumbers } from "#src/domain/chance/numbers.ts";
import { order } from "#src/domain/state.ts";
import { minuteMs } from "#src/domain/units.ts";
import {
  claimChances,
  noteFollowed,
  releaseChances,
  writeLevels,
} from "#src/feed/chance-levels.ts";
import { createIdTable, type IdTable } from "#src/feed/id-table.ts";
import { rows } from "#src/infrastructure/db.ts";
import { slices } from "#src/infrastructure/lists.ts";
import { createPolled } from "#src/infrastructure/polled.ts";
import { heardMs, marksOfStations, marksReceived } from "#src/marks/chance-marks.ts";
import { fromMs } from "#src/marks/marks.ts";
import { createChanceStore } from "#snapshots/dumps/chance-snapshot.ts";
import type { RoleDeps } from "#workers/role.ts";
import {
  type ChanceMemory,
  createChanceMemory,
  type FollowedRow,
  type Known,
} from "#workers/snapshots/chance-memory.ts";

const lookMs = 3000;
/** So often all stations are looked at: their chances change by time alone. */
const allMs = 5 * minuteMs;
/** Commits that began before a look may come after it, by so much at most. */
const overlapMs = 2 * minuteMs;
const marksAtOnce = 2000;
const rowsAtOnce = 5000;
const stationsAtOnce = 500;
/** Stations or marks in one turn of the event loop. */
const turn = 250;
const progressMs = 5000;

/** What is followed here, and how far, ms. */
interface Following {
  memory: ChanceMemory;
  lookedAt: number;
  /** When all stations were last looked at. */
  allAt: number;
  /** Stations whose levels may be wrong. */
  open: Set<string>;
  /** Marks have come or gone since the memory was stored. */
  unsaved: boolean;
}

export type ChanceFollower = ReturnType<typeof createChanceFollower>;

/**
 * Follows the processed marks and writes the levels of the chances (decisions 23.10 to 23.15). Of all processes one does
 * so at a time, by a claim in Postgres; it begins with the memory that the one before has left in Redis, else with the
 * marks of the last three days.
 */
export function createChanceFollower(
  deps: Pick<RoleDeps, "config" | "db" | "log" | "redis" | "time">,
  numbers: ChanceNumbers = shippedNumbers,
  /** The numbers of the stations, shared with a read model. */
  ids: IdTable = createIdTable(),
) {
  const { config, db, log, redis, time } = deps;
  const holder = randomUUID();
  const store = createChanceStore<Known>(redis, config.redisPrefix);
  let following: Following | null = null;
  let stopped = false;

  const claim = async () => {
    const now = await claimChances(db, holder);
    if (now === null && following !== null) log.warn("chances are followed elsewhere");
    if (now === null) following = null;
    return now;
  };

  /** Stations that were folded after `since`, ms, some at a time: a large country has many. */
  async function* rowsSince(since: number): AsyncGenerator<FollowedRow[]> {
    for (let after = "", some: FollowedRow[]; ; after = some.at(-1)!.id) {
      some = await rows<FollowedRow>(
        db,
        `select station_id as id, (extract(epoch from st.updated_at) * 1000000)::bigint as "updatedAt",
           chance as level, lat, lon
         from station_status st join stations s on s.id = station_id
         where st.updated_at > ${fromMs} and station_id > ? and s.removed_at is null
         order by station_id limit ${rowsAtOnce}`,
        [since, after],
      );
      yield some;
      if (some.length < rowsAtOnce) return;
    }
  }

  const begin = async (now: number): Promise<Following> => {
    const stored = await store.load(numbers).catch(() => null);
    if (stored !== null && stored.lookedAt > now - heardMs && stored.lookedAt < now + minuteMs) {
      const memory = createChanceMemory(numbers, ids, stored);
      log.info({ stations: memory.size() }, "chances followed from where they were left");
      const { lookedAt } = stored;
      return { memory, lookedAt, allAt: -Infinity, open: new Set(), unsaved: false };
    }
    return rebuild(now);
  };

  /** Takes the marks in the order in which they were received, a page at a time: no station's marks are sought. */
  const rebuild = async (now: number): Promise<Following> => {
    const memory = createChanceMemory(numbers, ids);
    memory.setNow(now);
    const since = now - heardMs;
    for await (const some of rowsSince(since))
      for (const row of some) {
        memory.note(row);
        memory.followed(row);
      }
    const late = new Set<string>();
    let [marks, after, toldAt] = [0, 0, performance.now()];
    for (;;) {
      const page = await marksReceived(db, { since, now }, after, marksAtOnce);
      for (const some of slices(page, turn)) {
        for (const id of memory.hear(some)) late.add(id);
        await nextTurn();
      }
      marks += page.length;
      if (page.length < marksAtOnce) break;
      after = page.at(-1)!.id;
      if (stopped) throw new Error("stopped");
      if (performance.now() - toldAt < progressMs) continue;
      toldAt = performance.now();
      log.info({ marks }, "chances: marks read");
      if ((await claim()) === null) throw new Error("another process follows");
    }
    const seeded = await rows<{ id: string }>(
      db,
      `select distinct station_id as id from seeds where imported_at > ${fromMs}`,
      [since],
    );
    // The look that follows reads all their marks.
    for (const { id } of seeded) memory.doubt(id);
    for (const id of late) memory.doubt(id);
    log.info({ marks, stations: memory.size() }, "chances made from the marks");
    const open = new Set(memory.ids());
    return { memory, lookedAt: now, allAt: -Infinity, open, unsaved: true };
  };

  const look = async (): Promise<void> => {
    // By a wrong time marks would be too old, or chances too far ahead.
    if (!time.isTrusted()) return;
    const now = await claim();
    if (now === null) return;
    following ??= await begin(now);
    const { memory, open } = following;
    memory.setNow(now);
    // After a pause others may have taken the levels away.
    const isAll = now - following.allAt >= allMs || Math.abs(now - following.lookedAt) > minuteMs;
    const since = isAll ? now - heardMs : Math.min(following.lookedAt, now) - overlapMs;
    const changed: FollowedRow[] = [];
    for await (const some of rowsSince(since))
      changed.push(...some.filter((row) => memory.note(row)));
    if (changed.length > 0) following.unsaved = true;
    let marks = 0;
    for (const some of slices(changed, stationsAtOnce)) {
      marks += await follow(memory, some, now);
      for (const { id } of some) open.add(id);
    }
    if (isAll) for (const id of memory.ids()) open.add(id);
    const levels = await writeOpen(following);
    following.lookedAt = now;
    if (isAll) {
      memory.forgetSilent();
      following.allAt = now;
    }
    await noteFollowed(db, holder, now, { marks, levels });
    if (isAll && following.unsaved) await save(following);
  };

  /** Hears what is new at the stations of these rows. Gives the number of marks. */
  const follow = async (
    memory: ChanceMemory,
    changed: readonly FollowedRow[],
    now: number,
  ): Promise<number> => {
    const since = new Map(changed.map(({ id }) => [id, memory.sinceOf(id)]));
    const found = await marksOfStations(db, since, now);
    const fresh = changed.flatMap(({ id }) => memory.follow(id, found.get(id) ?? []));
    for (const some of slices(fresh.toSorted(order), turn)) {
      memory.hear(some);
      await nextTurn();
    }
    for (const row of changed) memory.followed(row);
    return fresh.length;
  };

  const writeOpen = async ({ memory, open }: Following): Promise<number> => {
    const levels = new Map<string, number | null>();
    for (const some of slices([...open], turn)) {
      for (const id of some) {
        const level = memory.levelToWrite(id);
        if (level === undefined) open.delete(id);
        else levels.set(id, level);
      }
      await nextTurn();
    }
    const written = await writeLevels(db, holder, levels);
    for (const id of written) {
      memory.wrote(id, levels.get(id)!);
      open.delete(id);
    }
    return written.length;
  };

  const save = async (of: Following): Promise<void> => {
    try {
      of.unsaved = !(await store.save(of.memory.stored(of.lookedAt), numbers));
    } catch (error) {
      log.warn({ err: (error as Error).message }, "chances not stored");
    }
  };

  const looks = createPolled({
    ...{ everyMs: lookMs, look },
    onError: (err) => log.warn({ err }, "chances not followed, will try again"),
  });

  return {
    look,
    start: looks.start,
    async stop(): Promise<void> {
      stopped = true;
      await looks.stop();
      if (following === null) return;
      await save(following);
      following = null;
      await releaseChances(db, holder).catch(() => undefined);
    },
    chanceAt: (id: string, at: number): number | null => following?.memory.chanceAt(id, at) ?? null,
  };
}
