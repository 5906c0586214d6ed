import { rows, type Statements, inTransaction, type Db } from "#src/infrastructure/db.ts";
import type { Redis } from "#src/infrastructure/redis.ts";
import { slices } from "#src/infrastructure/lists.ts";
import { dayMs } from "#src/domain/units.ts";
import { sequenceMax } from "#src/marks/marks.ts";

/** The timeline of the log of a primary, eight hexadecimal digits; null at a standby. */
export const timelineSql = `case when pg_is_in_recovery() then null
  else left(pg_walfile_name(pg_current_wal_lsn()), 8) end`;

/**
 * A random name of the database's state, made while it is written to. A database that went back to an earlier state
 * does not know later tokens (decisions 21.22).
 */
export interface Token {
  number: number;
  token: string;
}

/** Binds a token's number and text, or nulls, by `tokenBindings`; `d` is the row of database_identity. */
export const knowsTokenSql = `(?::bigint is null or d.followed_to > ?::bigint
  or exists (select from database_tokens t where t.number = ?::bigint and t.token = ?::uuid))`;
export const tokenBindings = (last: Token | null): (number | string | null)[] => {
  const { number, token } = last ?? { number: null, token: null };
  return [number, number, number, token];
};

export const newestTokenSql =
  "select number, token from database_tokens order by number desc limit 1";

/** The reason why the database is another one; null when it is the same. */
type Strangeness = "other-server" | "other-timeline" | "earlier-state";
const strangenessSql = `case
  when d.system_identifier <> (select system_identifier::text from pg_control_system()) then 'other-server'
  when d.timeline <> ${timelineSql} then 'other-timeline'
  when d.is_doubted or not ${knowsTokenSql} then 'earlier-state' end`;

/**
 * The difference of the database from the one that the service last used, whose latest numbers may be lost. Null when
 * it is the same. `last` is the newest token that anybody remembers.
 */
export async function strangenessOf(
  db: Statements,
  last: Token | null,
): Promise<Strangeness | "unknown" | null> {
  const sql = `select ${strangenessSql} as found from database_identity d`;
  const [row] = await rows<{ found: Strangeness | null }>(db, sql, tokenBindings(last));
  return row === undefined ? "unknown" : row.found;
}

/** The same, but locks the noted identity until the end of the transaction. Null also when another process has it. */
export async function claimStrangeness(
  tx: Statements,
  last: Token | null,
): Promise<Strangeness | null> {
  const sql = `select ${strangenessSql} as found from database_identity d for update skip locked`;
  const [row] = await rows<{ found: Strangeness | null }>(tx, sql, tokenBindings(last));
  return row?.found ?? null;
}

/** Notes for `upkeep` that a process remembers a token of this number, or changes, that the database does not know. */
export async function doubtDatabase(db: Statements, number: number): Promise<void> {
  const sql = `update database_identity set is_doubted = true where only_row in (
      select only_row from database_identity where followed_to <= ? and not is_doubted for update skip locked)`;
  await rows(db, sql, [number]);
}

/** SQL for a number of the present time, 10,000 each second. */
const timeNumber = "(extract(epoch from server_now()) * 10000)::bigint";
/**
 * SQL for a number beyond those that a database has given out and lost. That of the time is beyond them also when the
 * same backup was restored before: it knows nothing of the numbers after that (decisions 21.45).
 */
const beyond = (last: string, ahead: number): string =>
  `greatest(${timeNumber}, case when ${last} >= ${timeNumber} then ${last} + ${ahead} end)`;

/** More than all tokens that were made in a time that the database has lost. */
const tokensAhead = 1_000_000_000;
/** More than a day's tokens. A process that remembers only an older one causes one needless marking. */
const tokensKept = 20_000;

/** Notes that everything has followed the current database. */
export async function noteDatabase(tx: Statements): Promise<void> {
  // Two at once, of operators or of one and upkeep, would give out the same number.
  await rows(tx, "select from database_identity for update", []);
  const sql = `with followed as (
      insert into database_tokens (number, change_seq, mark_seq)
        select ${beyond("max(number)", tokensAhead)}, 0, 0 from database_tokens returning number)
    update database_identity d set system_identifier = s.system_identifier::text, is_doubted = false,
      followed_to = followed.number, timeline = coalesce(${timelineSql}, d.timeline), known_since = server_now()
    from pg_control_system() s, followed`;
  await rows(tx, sql, []);
}

/** The newest token; a new one if numbers were given out since the last. May run twice. */
export async function renewToken(db: Statements): Promise<Token> {
  const sql = `with last as (select * from database_tokens order by number desc limit 1),
      old as (delete from database_tokens where number <= (select number from last) - ${tokensKept})
    insert into database_tokens (number, change_seq, mark_seq)
      select last.number + 1, c.last_value, m.last_value from last, change_seq c, mark_seq m
      where (last.change_seq, last.mark_seq) <> (c.last_value, m.last_value)
      on conflict (number) do nothing`;
  await rows(db, sql, []);
  return (await rows<Token>(db, newestTokenSql, []))[0]!;
}

const keyOf = (prefix: string): string => `${prefix}:database`;

/** The newest token in Redis, which also remembers it while no process runs. Null without Redis or a token. */
export async function recallToken(redis: Redis, prefix: string): Promise<Token | null> {
  const [number, token] = (await redis.get(keyOf(prefix)).catch(() => null))?.split(" ") ?? [];
  return token === undefined ? null : { number: Number(number), token };
}

export const rememberToken = (redis: Redis, prefix: string, { number, token }: Token) =>
  redis.set(keyOf(prefix), `${number} ${token}`);

const atOnce = 1000;
/** More numbers than any service uses between two backups. */
const changesAhead = 1_000_000_000;
/** Marks have numbers of their day; its milliseconds are added for the same reason. */
const marksAhead = 100_000_000;

/**
 * Makes a database that was restored from a backup the newest again. Numbers given out after the backup are not used
 * again, and every station counts as changed now, so that processes, caches and partners' copies that are newer than
 * the backup follow it. May run while everything runs, and again. Gives the change feed's highest number now.
 */
export async function markAllChanged(
  db: Db,
  progress: (done: number, total: number) => void,
): Promise<{ stations: number; seq: number }> {
  const sql = `select setval('change_seq', ${beyond("next", changesAhead)}),
       setval('mark_seq', (nextval('mark_seq') + ${marksAhead} + ${timeNumber} / 10 % ${dayMs}) % ${sequenceMax} + 1)
     from nextval('change_seq') as next`;
  await rows(db, sql);
  const allSql = "select station_id as id, removed from changes order by station_id";
  const all = await rows<{ id: string; removed: boolean }>(db, allSql);
  let seq = 0;
  let done = 0;
  for (const some of slices(all, atOnce)) {
    // Short transactions, because other commits wait for their number meanwhile.
    seq = await inTransaction(db, async (tx) => {
      const stamp = async (gone: boolean): Promise<number | null> => {
        const ids = some.filter(({ removed }) => removed === gone).map(({ id }) => id);
        const sql = "select feed_stamp(?::text[], ?::boolean) as seq";
        return (await rows<{ seq: number | null }>(tx, sql, [ids, gone]))[0]?.seq ?? null;
      };
      const removed = await stamp(true);
      return (await stamp(false)) ?? removed ?? seq;
    });
    progress((done += some.length), all.length);
  }
  return { stations: all.length, seq };
}
