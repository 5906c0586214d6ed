import { expect } from "chai";
import { type Db, rows } from "#src/infrastructure/db.ts";
import { parseTime } from "#src/domain/time.ts";

/** An answer of /stations/all or /stations/delta, as far as its promise needs it. */
interface Given {
  sinceMs: number | null;
  asOfMs: number;
  from: string;
  /** Version of each station in it, by `versionOf`; -1 for a removed one. */
  versions: Map<string, number>;
}

/** Imports write a rising number into the names, so that an answer shows how new its stations are. */
export const nameOf = (version: number): string => `Станция v${version}`;
const versionOf = (name: string): number => Number(/v(\d+)$/.exec(name)?.[1] ?? 0);

/** Makes the database write down every stamp of the feed: the feed itself keeps each station's last one only. */
export const logFeed = (db: Db): Promise<unknown> =>
  db.raw(`
    create table feed_log (seq bigint, station_id text, at timestamptz, name text, removed boolean);
    create function log_stamp() returns trigger language plpgsql as $$
    begin
      -- A mark at a station that is out of service stamps it as well.
      insert into feed_log select new.seq, new.station_id, new.at, s.name, new.removed or s.removed_at is not null
        from stations s where s.id = new.station_id;
      return null;
    end $$;
    create trigger log_stamp after insert or update on changes for each row execute function log_stamp();
  `);

export interface AnswerRecord {
  /** Notes what a process answered. */
  note(from: string, url: string, body: string): void;
  /**
   * `as_of` of every answer noted: no stamp before it may be one that the process had not applied. A delta must
   * hold every station stamped from `updated_since` up to then, and whatever it holds must be as new as that.
   */
  check(db: Db): Promise<number>;
}

export function createRecord(): AnswerRecord {
  const given: Given[] = [];
  return {
    note(from, url, body) {
      const { pathname, searchParams } = new URL(url);
      const {
        stations,
        removed = [],
        as_of: asOf,
      } = JSON.parse(body) as {
        stations: { id: string; name: string }[];
        removed?: string[];
        as_of: string;
      };
      const isDelta = pathname.endsWith("/delta");
      // A part of the country proves nothing about what is not in it.
      if (!isDelta && searchParams.get("cursor") !== null) return;
      const versions = new Map(stations.map(({ id, name }) => [id, versionOf(name)]));
      for (const id of removed) versions.set(id, -1);
      const sinceMs = isDelta ? parseTime(searchParams.get("updated_since") ?? "") : null;
      given.push({ from, sinceMs, asOfMs: parseTime(asOf) as number, versions });
    },
    async check(db) {
      const log = await rows<{ id: string; at: string; name: string; removed: boolean }>(
        db,
        `select station_id as id, extract(epoch from at) * 1000 as at, name, removed from feed_log order by seq`,
      );
      const stamps = log.map((row) => ({
        ...row,
        at: Number(row.at),
        version: versionOf(row.name),
      }));
      for (const { from, sinceMs, asOfMs, versions } of given) {
        const newest = new Map<string, (typeof stamps)[number]>();
        for (const stamp of stamps) if (stamp.at < asOfMs) newest.set(stamp.id, stamp);
        for (const { id, at, version, removed } of newest.values()) {
          const had = versions.get(id);
          const asked = sinceMs === null ? "all" : `delta since ${new Date(sinceMs).toISOString()}`;
          const what = `${id} stamped ${new Date(at).toISOString()}, ${asked}, as_of ${new Date(asOfMs).toISOString()} of ${from}, ${stamps
            .filter((stamp) => stamp.id === id)
            .map(
              (stamp) => `${new Date(stamp.at).toISOString()} v${stamp.version} ${stamp.removed}`,
            )
            .join("; ")}`;
          if (had === undefined) {
            // An answer may be newer than its time: what was taken out of service after that may be gone already.
            const goneLater = stamps.some(
              (stamp) => stamp.id === id && stamp.at >= asOfMs && stamp.removed,
            );
            // The whole country leaves out what is out of service; a delta, what changed before it.
            if (sinceMs === null ? !removed && !goneLater : at >= sinceMs)
              expect.fail(`missing: ${what}`);
          } else if (had >= 0) expect(had, `older: ${what}`).to.be.at.least(version);
        }
      }
      return given.length;
    },
  };
}
