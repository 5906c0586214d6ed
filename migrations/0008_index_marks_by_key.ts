import type { Knex } from "knex";

/** Building an index beside writers cannot be done inside a transaction. */
export const config = { transaction: false };

/**
 * The dashboard counts what became of a key's marks, and the operator looks at a source's newest. Locks the parent
 * for a moment; each partition's index is built while marks are being written. Can be run again where it broke off.
 */
export async function up(knex: Knex): Promise<void> {
  // One connection, so that its settings hold for every statement.
  const connection = (await knex.client.acquireConnection()) as Connection;
  const run = (sql: string) => connection.query(sql);
  try {
    await run("set statement_timeout = 0");
    await run("create index if not exists marks_key on only marks (key_id, received_at)");
    const { rows } = await run(
      "select inhrelid::regclass::text as part from pg_inherits where inhparent = 'marks'::regclass order by 1",
    );
    for (const { part } of rows) {
      const index = `${part}_key_id_received_at_idx`;
      const broken = await run(
        `select 1 from pg_index where indexrelid = to_regclass('${index}') and not indisvalid`,
      );
      if (broken.rows.length > 0) await run(`drop index concurrently ${index}`);
      await run(
        `create index concurrently if not exists ${index} on ${part} (key_id, received_at)`,
      );
      await run(`alter index marks_key attach partition ${index}`);
    }
  } finally {
    await run("reset statement_timeout");
    await knex.client.releaseConnection(connection);
  }
}

interface Connection {
  query(sql: string): Promise<{ rows: { part: string }[] }>;
}

export async function down(): Promise<void> {
  throw new Error("migrations go forward only: restore a backup instead");
}
