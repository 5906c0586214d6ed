import pg from "pg";

/** Keeps a station's row locked, so that whoever works on it stands still in the middle of its transaction. */
export interface StationHold {
  /** Backends that wait for it now. */
  waiting(): Promise<number>;
  release(): Promise<void>;
}

export async function holdStation(databaseUrl: string, stationId: string): Promise<StationHold> {
  const client = new pg.Client({ connectionString: databaseUrl, application_name: "holds" });
  await client.connect();
  await client.query("insert into station_status (station_id) values ($1) on conflict do nothing", [
    stationId,
  ]);
  await client.query("begin");
  await client.query("select from station_status where station_id = $1 for update", [stationId]);
  const pid = (await client.query<{ pid: number }>("select pg_backend_pid() as pid")).rows[0]!.pid;
  return {
    waiting: async () => {
      const found = await client.query<{ count: number }>(
        "select count(*)::int as count from pg_stat_activity where $1 = any(pg_blocking_pids(pid))",
        [pid],
      );
      return found.rows[0]!.count;
    },
    release: async () => {
      await client.query("commit");
      await client.end();
    },
  };
}
