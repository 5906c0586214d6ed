import { randomBytes } from "node:crypto";
import pg from "pg";
import { release } from "#demo/release.ts";

/**
 * A database with the newest schema that nobody can connect to any more: one open connection would make every
 * `create database … template` wait and fail. Throws when a migration fails.
 */
export async function createTemplate(
  adminUrl: string,
  redisUrl: string,
): Promise<{ name: string; drop(): Promise<void> }> {
  const name = `fuelmark_template_${randomBytes(6).toString("hex")}`;
  await execute(adminUrl, `create database ${name}`);
  const url = new URL(adminUrl);
  url.pathname = `/${name}`;
  // The usual 1.5 s are for a server that is away; on a busy machine it is only late.
  const patience = { ACQUIRE_TIMEOUT_MS: "60000" };
  await release({ DATABASE_URL: url.href, REDIS_URL: redisUrl, ...patience });
  await execute(adminUrl, `alter database ${name} allow_connections false`);
  return { name, drop: () => execute(adminUrl, `drop database ${name}`) };
}

async function execute(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
