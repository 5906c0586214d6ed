import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { expect } from "chai";
import { somePort } from "#demo/servers/port.ts";
import { createDb, type Db, isUnavailable, rows } from "#src/infrastructure/db.ts";
import { ConnectionFault } from "#src/infrastructure/faults.ts";
import { pipelinedTransaction } from "#src/infrastructure/pipelined-transaction.ts";
import { Connection, Pool } from "#src/infrastructure/pool.ts";
import { standStill } from "#test/flow/client.ts";
import { createTestInstance, type TestInstance } from "#test/harness/instance.ts";
import { type OwnServer, startPrivatePostgres } from "#test/harness/servers.ts";
import { startTcpProxy } from "#test/harness/tcp-proxy.ts";

const faultOf = (work: PromiseLike<unknown>): Promise<Error & { code?: string }> =>
  Promise.resolve(work).then(
    () => {
      throw new Error("nothing failed");
    },
    (error: Error & { code?: string }) => error,
  );

/** What the driver says of a fault, which must count as Postgres being away. */
const told = async (work: PromiseLike<unknown>): Promise<string> => {
  const fault = await faultOf(work);
  expect(isUnavailable(fault), `${fault.name}: ${fault.message}`).to.equal(true);
  return fault.code ?? fault.message;
};

describe("a fault of Postgres", function () {
  this.timeout(60_000);
  let instance: TestInstance;
  let db: Db;
  before(async () => {
    instance = await createTestInstance();
    db = createDb(instance.config, "test", 2);
    await db.raw("create table noted (n integer primary key)");
  });
  after(async () => {
    await db.destroy();
    await instance.drop();
  });

  /** Ends the connections of `name`, once they are there, in this state, and at or after a `select`, not at their start. */
  const terminate = async (name: string, state: string): Promise<void> => {
    const sql = `select pg_terminate_backend(pid) as ended from pg_stat_activity
      where datname = current_database() and application_name = ? and state = ? and query like 'select %'`;
    while ((await rows(db, sql, [`fuelmark ${name}`, state])).length === 0)
      await new Promise((resolve) => setTimeout(resolve, 20));
  };

  /** Waits until the server has given up the connections of `name`. */
  const gone = async (name: string): Promise<void> => {
    const sql =
      "select from pg_stat_activity where datname = current_database() and application_name = ?";
    while ((await rows(db, sql, [`fuelmark ${name}`])).length > 0)
      await new Promise((resolve) => setTimeout(resolve, 20));
  };

  const withDb = async <T>(
    settings: Partial<TestInstance["config"]>,
    name: string,
    work: (other: Db) => Promise<T>,
  ): Promise<T> => {
    const other = createDb({ ...instance.config, ...settings }, name, 1);
    try {
      return await work(other);
    } finally {
      await other.destroy();
    }
  };

  it("is told from a fault of our own, even one in the driver's words", () => {
    class Own extends Error {}
    for (const words of ["Query read timeout", "Connection terminated", "Redis is away"])
      for (const Class of [Error, TypeError, RangeError, SyntaxError, ReferenceError, Own])
        expect(isUnavailable(new Class(words)), Class.name).to.equal(false);
    const nameless = (() => {
      try {
        return (undefined as unknown as { connection: string }).connection;
      } catch (error) {
        return error;
      }
    })();
    expect((nameless as Error).message).to.contain("connection");
    expect(isUnavailable(nameless)).to.equal(false);
    expect(isUnavailable("Query read timeout")).to.equal(false);
  });

  it("is told by class, SQLSTATE or Node's code, in any language", () => {
    expect(isUnavailable(new ConnectionFault("соединение потеряно"))).to.equal(true);
    for (const code of [
      "57P01",
      "08006",
      "53300",
      "55P03",
      "25P03",
      "40001",
      "26000",
      "42P05",
      "08P01",
      "25006",
      "ECONNRESET",
      "EPIPE",
    ])
      expect(isUnavailable(Object.assign(new Error("x"), { code })), code).to.equal(true);
    for (const code of ["23505", "42P01", "ENOENT", "ERR_INVALID_ARG_TYPE", "57P011"])
      expect(isUnavailable(Object.assign(new Error("x"), { code })), code).to.equal(false);
  });

  it("is not a statement that was wrong", async () => {
    for (const sql of ["select connection", "select 1 / 0", "select 'timeout'::integer"])
      expect(isUnavailable(await faultOf(db.raw(sql))), sql).to.equal(false);
  });

  it("may be a statement that takes too long, or a lock that is not to be had", async () => {
    await withDb({ queryTimeoutMs: 1000, lockTimeoutMs: 50 }, "hasty", async (hasty) => {
      expect(await told(hasty.raw("select pg_sleep(5)"))).to.equal("57014");
      await db.transaction(async (tx) => {
        await tx.raw("lock table noted");
        expect(await told(hasty.raw("select from noted"))).to.equal("55P03");
      });
      const idle = hasty.transaction(async (tx) => {
        await tx.raw("select 1");
        await gone("hasty");
        await tx.raw("select 1");
      });
      await told(idle);
    });
  });

  it("may be a connection that is ended while it is asked, and whoever uses it afterwards", async () => {
    await withDb({}, "ended", async (ended) => {
      const asking = told(ended.raw("select pg_sleep(30)"));
      await terminate("ended", "active");
      expect(await asking).to.equal("57P01");
      const working = pipelinedTransaction(ended, async (tx) => {
        await rows(tx, "select 1");
        await terminate("ended", "idle in transaction");
        // What follows is sent until the connection is known to be gone, and refused from then on.
        const said = new Set<string>();
        for (;;) {
          const last = await told(rows(tx, "select 1"));
          said.add(last);
          if (last.includes("not queryable")) break;
        }
        expect([...said].at(-1)).to.equal(
          "Client has encountered a connection error and is not queryable",
        );
        return rows(tx, "select 1");
      });
      await told(working);
    });
  });

  it("may be a pool that has no connection left, or that is closed", async () => {
    const pool = createDb({ ...instance.config, acquireTimeoutMs: 1000 }, "small", 1);
    await pool.transaction(async (tx) => {
      await tx.raw("select 1");
      expect(await told(pool.raw("select 1"))).to.equal("timeout exceeded when trying to connect");
    });
    await pool.destroy();
    expect(await told(pool.raw("select 1"))).to.contain("after calling end on the pool");
    const patient = createDb({ ...instance.config, acquireTimeoutMs: 1000 }, "patient", 1);
    const waiting = await patient.transaction(async (tx) => {
      await tx.raw("select 1");
      const one = told(patient.raw("select 1"));
      while (patient.pool.waitingCount === 0) await new Promise(setImmediate);
      void patient.destroy();
      return [one];
    });
    expect(await waiting[0]).to.equal("timeout exceeded when trying to connect");
  });

  it("is not a process that was too busy to read an answer", async () => {
    const acquireTimeoutMs = 2000;
    const db = createDb({ ...instance.config, acquireTimeoutMs }, "busy");
    const asking = rows<{ one: number }>(db, "select 1 as one");
    await new Promise(setImmediate);
    standStill(acquireTimeoutMs + 500);
    expect(await asking).to.deep.equal([{ one: 1 }]);
    await db.destroy();
  });

  it("is not for ever where a connection takes longer to make than anybody waits for one", async () => {
    const far = await startTcpProxy(Number(new URL(instance.databaseUrl).port || 5432));
    far.set("slow");
    const url = new URL(instance.databaseUrl);
    Object.assign(url, { hostname: "127.0.0.1", port: far.port });
    const db = createDb(
      { ...instance.config, databaseUrl: url.href, acquireTimeoutMs: 500 },
      "far",
    );
    try {
      expect(await told(db.raw("select 1"))).to.equal("timeout exceeded when trying to connect");
      await answering(db);
    } finally {
      await db.destroy();
      await far.close();
    }
  });

  it("may be a client that was ended here", async () => {
    const client = new Connection({ connectionString: instance.databaseUrl });
    await client.connect();
    const asking = told(client.query("select pg_sleep(30)"));
    const ending = client.end();
    expect(await told(client.query("select 1"))).to.equal("Client was closed and is not queryable");
    await terminateAll(db);
    expect(await asking).to.be.a("string");
    await ending;
  });

  it("may be that nobody listens at its address", async () => {
    const closed = await somePort();
    const at = (databaseUrl: string) =>
      withDb({ databaseUrl, acquireTimeoutMs: 2000 }, "nobody", (other) =>
        told(other.raw("select 1")),
      );
    expect(await at(`postgres://nobody@127.0.0.1:${closed}/none`)).to.equal("ECONNREFUSED");
    expect(await at("postgres://nobody@name.invalid/none")).to.match(/^(ENOTFOUND|EAI_AGAIN)$/);
    expect(await at("postgres:///none?host=/nowhere/at/all&user=nobody")).to.equal("ENOENT");
  });

  it("may be that something else is at its address", async () => {
    const mute = await listening((socket) => socket.resume());
    const at = async (server: Server, more: object) => {
      const pool = new Pool({ host: "127.0.0.1", port: portOf(server), user: "nobody", ...more });
      const fault = await told(pool.connect());
      await pool.end();
      return fault;
    };
    expect(await at(mute, { connectionTimeoutMillis: 100 })).to.match(/timeout/);
    const plain = await listening((socket) => socket.once("data", () => socket.end("N")));
    expect(await at(plain, { ssl: true })).to.equal("The server does not support SSL connections");
    const odd = await listening((socket) => socket.once("data", () => socket.end("X")));
    expect(await at(odd, { ssl: true })).to.equal(
      "There was an error establishing an SSL connection",
    );
    const hasty = await listening((socket) => socket.once("data", () => socket.end()));
    expect(await at(hasty, {})).to.equal("Connection terminated unexpectedly");
    for (const server of [mute, plain, odd, hasty]) server.close();
  });
});

describe("a Postgres that dies or stands still", function () {
  this.timeout(60_000);
  let server: OwnServer;
  let instance: TestInstance;
  beforeEach(async () => {
    server = await startPrivatePostgres();
    instance = await createTestInstance();
  });
  afterEach(async () => {
    await instance.drop();
    await server.drop();
  });

  it("is away, for those who asked it before and for those who ask it now", async () => {
    const db = createDb(
      { ...instance.config, databaseUrl: server.url, queryTimeoutMs: 1000, acquireTimeoutMs: 2000 },
      "test",
      2,
    );
    try {
      await db.raw("select 1");
      server.freeze();
      expect(await told(db.raw("select 1"))).to.equal("select 1 - Query read timeout");
      await told(Promise.all([db.raw("select 1"), db.raw("select 1"), db.raw("select 1")]));
      server.thaw();
      await answering(db);
      const asking = told(pipelinedTransaction(db, (tx) => rows(tx, "select pg_sleep(30)")));
      await server.kill9();
      await asking;
      await told(db.raw("select 1"));
    } finally {
      await db.destroy();
    }
  });
});

/** Waits until the database answers again. */
async function answering(db: Db): Promise<void> {
  for (;;) {
    const fault = await db.raw("select 1").then(
      () => null,
      (error: unknown) => error,
    );
    if (fault === null) return;
    if (!isUnavailable(fault)) throw fault as Error;
  }
}

const terminateAll = (db: Db): Promise<unknown> =>
  rows(
    db,
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid()`,
  );

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

const listening = (onSocket: (socket: Socket) => void): Promise<Server> =>
  new Promise((resolve) => {
    const server = createServer((socket) => {
      socket.on("error", () => undefined);
      onSocket(socket);
    });
    server.listen(0, "127.0.0.1", () => resolve(server));
  });
