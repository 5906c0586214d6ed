import pg from "pg";
import type { Db, Statements } from "#src/infrastructure/db.ts";
import type { Connection } from "#src/infrastructure/pool.ts";

/** Statements on one connection, sent without waiting for each other's answers. */
export interface PipelinedTransaction extends Statements {
  /**
   * Sent behind the statements that are under way, so that the last of them and the commit share a round trip. When a
   * statement fails, the transaction is rolled back, and this rejects after it.
   */
  commit(): Promise<void>;
}

/**
 * Runs `work` in one transaction of few round trips: statements that need no earlier answer are sent together, the
 * beginning with the first one, `commit()` with the last. Each statement sees all commits before its own beginning.
 * Commits when `work` resolves without having done so, rolls back when it throws. A transaction that only `reads` also
 * runs while the database's clock is off.
 */
export async function pipelinedTransaction<T>(
  db: Db,
  work: (tx: PipelinedTransaction) => Promise<T>,
  { reads = false } = {},
): Promise<T> {
  if (!reads) db.pool.refuseWhileShut();
  const connection: Connection & pg.PoolClient = await db.pool.connect();
  let committing: Promise<void> | undefined;
  // Statements behind a failed one also fail, and a caller that awaits several may get their faults first.
  let firstFault: Error | undefined;
  let lost: Error | undefined;
  // The reason if Postgres ends the session between two statements: the next one would only find it gone.
  let ended: Error | undefined;
  const noteEnd = (fault: Error): void => void (ended ??= fault);
  connection.on("error", noteEnd);
  const send = (query: pg.QueryConfig): Promise<pg.QueryResult> => {
    connection.corkTurn();
    const answer: Promise<pg.QueryResult> = connection.query(query);
    answer.catch((fault: Error) => (firstFault ??= fault));
    return answer;
  };
  // Plans are kept, so they must not depend on tables being empty when they are made.
  void send({
    text: `begin${reads ? " read only" : ""}; set local plan_cache_mode = force_generic_plan; set local enable_seqscan = off; set local jit = off`,
  });
  const tx: PipelinedTransaction = {
    raw: (sql, bindings, keptAs) => {
      const isKept = keptAs !== undefined && !connection.isShared;
      const query = isKept ? keptQuery(connection, keptAs, sql) : { text: numbered(sql) };
      return send({ ...query, values: [...bindings] });
    },
    commit: () =>
      (committing ??= send({ text: "commit" }).then(({ command }) => {
        if (command !== "COMMIT") throw new Error("the transaction was rolled back");
      })),
  };
  try {
    const result = await work(tx);
    await tx.commit();
    return result;
  } catch (error) {
    // Its answer comes after all others: the connection is given back idle, or not at all.
    await send({ text: "rollback" }).catch((fault: Error) => (lost = fault));
    throw (ended instanceof pg.DatabaseError ? ended : undefined) ?? firstFault ?? error;
  } finally {
    connection.off("error", noteEnd);
    forgetOld(connection);
    connection.release(lost);
  }
}

/** Replaces each `?` with `$1`, `$2` and so on. */
function numbered(sql: string): string {
  let n = 0;
  return sql.replaceAll("?", () => `$${++n}`);
}

interface Kept {
  sql: string;
  query: { text: string; name: string };
}

const kept = new WeakMap<Connection, { plans: Map<string, Kept>; old: string[]; made: number }>();

/** The statement under the name by which a connection keeps its plan: another text under the same key replaces it. */
function keptQuery(connection: Connection, keptAs: string, sql: string): Kept["query"] {
  const of = kept.get(connection) ?? { plans: new Map<string, Kept>(), old: [], made: 0 };
  kept.set(connection, of);
  const known = of.plans.get(keptAs);
  if (known?.sql === sql) return known.query;
  if (known !== undefined) of.old.push(known.query.name);
  const query = { text: numbered(sql), name: `${keptAs}_${++of.made}` };
  of.plans.set(keptAs, { sql, query });
  return query;
}

/** Drops replaced plans: texts name the day's partitions, so each new day replaces them. */
function forgetOld(connection: Connection): void {
  for (const name of kept.get(connection)?.old.splice(0) ?? [])
    connection.query(`deallocate ${name}`).catch(() => undefined);
}
