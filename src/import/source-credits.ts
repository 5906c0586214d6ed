import { type Db, rows } from "#src/infrastructure/db.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { createPolled } from "#src/infrastructure/polled.ts";
import type { Resources } from "#src/infrastructure/resources.ts";

/** Stores whom the description of a source names; nobody if it names none. */
export const saveCredit = (db: Db, source: string, credit: string | undefined): Promise<unknown> =>
  credit === undefined
    ? rows(db, "delete from source_credits where source = ?", [source])
    : rows(
        db,
        `insert into source_credits (source, credit) values (?, ?)
         on conflict (source) do update set credit = excluded.credit`,
        [source, credit],
      );

type Deps = Pick<Resources, "db" | "log"> & { config: Pick<Config, "pollMs"> };

/** Who must be named for the stations that are shown (decisions 14.41). Without the database the last answer stays. */
export function createCredits({ db, config, log }: Deps) {
  let credits: readonly string[] = [];
  const polled = createPolled({
    everyMs: 10 * config.pollMs,
    look: async () => {
      credits = await creditsOf(db);
    },
    onError: (err) => log.debug({ err }, "no look at the credits of sources"),
  });
  return { ...polled, list: (): readonly string[] => credits };
}

/** Of the sources that have stations in service, or parts of such. */
async function creditsOf(db: Db): Promise<string[]> {
  const sql = `select distinct credit from source_credits c where exists (
       select from stations s where s.source = c.source and (s.removed_at is null or exists (
         select from station_pairs p where p.station_id = s.id and p.verdict = 'joined' and not p.gone))) order by credit`;
  const found = await rows<{ credit: string }>(db, sql);
  return found.map(({ credit }) => credit);
}
