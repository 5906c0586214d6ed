import { randomBytes } from "node:crypto";
import { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { hold } from "#test/harness/leaks.ts";
import { noteSetUp } from "#test/harness/pause.ts";
import { provided } from "#test/harness/provided.ts";

export interface TestDatabase {
  databaseUrl: string;
  /** Drops it. Throws when a test has left connections to it open. */
  drop(): Promise<void>;
}

/** A migrated, empty database for one test file. Drop it in `after`. */
export const createTestDatabase = (): Promise<TestDatabase> =>
  // The strategy for few large changes: half the time of the other, as nothing waits for a disk here.
  createDatabase(`template ${provided("TEST_TEMPLATE")} strategy file_copy`);

/** A database with what another one, to which nobody is connected, holds now: a backup of it that was restored. */
export const copyTestDatabase = (databaseUrl: string): Promise<TestDatabase> =>
  createDatabase(`template ${new URL(databaseUrl).pathname.slice(1)}`);

/** A database without tables, for the schema of an earlier version. */
export const createBareDatabase = (): Promise<TestDatabase> => createDatabase("");

async function createDatabase(how: string): Promise<TestDatabase> {
  const name = `fuelmark_test_${randomBytes(6).toString("hex")}`;
  await withAdmin((admin) => admin.query(`create database ${name} ${how}`));
  noteSetUp();
  const dropForced = `drop database if exists ${name} with (force)`;
  const letGo = hold(`database ${name}`, async () => {
    await withAdmin((admin) => admin.query(dropForced));
  });
  return {
    databaseUrl: urlOf(name),
    drop: () =>
      withAdmin(async (admin) => {
        const open = await openConnections(admin, name);
        letGo();
        await admin.query(dropForced);
        if (open.length > 0)
          throw new Error(`connections left open to the test database:\n  ${open.join("\n  ")}`);
      }),
  };
}

/** What is still connected after a moment's grace: the server notices a closed socket a little later. */
async function openConnections(admin: pg.Client, name: string): Promise<string[]> {
  const sql = `select application_name || ': ' || left(query, 100) as what
    from pg_stat_activity where datname = $1 and backend_type = 'client backend'`;
  for (const until = Date.now() + 2000; ; await sleep(20)) {
    const open = (await admin.query<{ what: string }>(sql, [name])).rows.map(({ what }) => what);
    if (open.length === 0 || Date.now() >= until) return open;
  }
}

let admin: Promise<pg.Client> | undefined;
let last: Promise<unknown> = Promise.resolve();

/**
 * Runs `work` on the server itself, as who may make databases, one after the other. The connection stays for the next
 * one, and keeps no process alive: making one takes some 8 ms of a processor.
 */
export function withAdmin<T>(work: (admin: pg.Client) => Promise<T>): Promise<T> {
  const result = last.then(async () => work(await (admin ??= connectAdmin())));
  last = result.catch(() => undefined);
  return result;
}

async function connectAdmin(): Promise<pg.Client> {
  const socket = new Socket();
  const connectionString = provided("TEST_DATABASE_URL");
  const client = new pg.Client({ connectionString, stream: () => socket });
  client.on("error", () => undefined);
  client.once("end", () => (admin = undefined));
  await client.connect();
  socket.unref();
  return client;
}

/** The address of the database `name` on the run's server. */
function urlOf(name: string): string {
  const url = new URL(provided("TEST_DATABASE_URL"));
  url.pathname = `/${name}`;
  return url.href;
}
