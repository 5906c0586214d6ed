import { expect } from "chai";
import {
  createDb,
  type Db,
  isBrokenOff,
  isUnavailable,
  rows,
  type Statements,
} from "#src/infrastructure/db.ts";
import { pipelinedTransaction } from "#src/infrastructure/pipelined-transaction.ts";
import { until } from "#test/flow/client.ts";
import { useInstance } from "#test/harness/use.ts";

describe("a transaction of few round trips", function () {
  const instance = useInstance();
  let db: Db;
  /** Gives a lock up soon. */
  let hasty: Db;
  before(async () => {
    db = createDb({ ...instance.config, lockTimeoutMs: 20_000 }, "trips", 3);
    hasty = createDb({ ...instance.config, lockTimeoutMs: 100 }, "hasty", 2);
    await db.raw("create table noted (n integer primary key)");
  });
  beforeEach(() => db.raw("truncate noted"));
  after(() => Promise.all([db.destroy(), hasty.destroy()]));

  const note = (one: Statements, n: number) =>
    rows(one, "insert into noted values (?)", [n], "note");
  const notes = async () =>
    (await rows<{ n: number }>(db, "select n from noted order by n")).map(({ n }) => n);

  it("stores what was sent together with its commit", async () => {
    await pipelinedTransaction(db, (tx) => Promise.all([note(tx, 1), note(tx, 2), tx.commit()]));
    expect(await notes()).to.deep.equal([1, 2]);
  });

  it("says that Postgres ended its session, where it was idle for too long", async () => {
    const fault = await pipelinedTransaction(hasty, async (tx) => {
      await note(tx, 1);
      const sql = `select count(*) from pg_stat_activity
        where datname = current_database() and application_name = 'fuelmark hasty'`;
      await until(
        () => rows<{ count: number }>(db, sql),
        ([found]) => found!.count === 0,
      );
      await note(tx, 2);
    }).catch((error: unknown) => error);
    expect(fault).to.have.property("code", "25P03");
    expect(isBrokenOff(fault)).to.equal(true);
    expect(await notes()).to.deep.equal([]);
  });

  it("commits by itself, and undoes everything when the work throws", async () => {
    await pipelinedTransaction(db, (tx) => note(tx, 1));
    const thrown = await pipelinedTransaction(db, async (tx) => {
      await note(tx, 2);
      throw new Error("changed my mind");
    }).catch((error: Error) => error.message);
    expect(thrown).to.equal("changed my mind");
    expect(await notes()).to.deep.equal([1]);
  });

  it("undoes everything when a statement fails, though its commit has been sent", async () => {
    await note(db, 2);
    const fault = await pipelinedTransaction(db, (tx) =>
      Promise.all([note(tx, 1), note(tx, 2), note(tx, 3), tx.commit()]),
    ).catch((error: { code: string }) => error.code);
    expect(fault).to.equal("23505");
    expect(await notes()).to.deep.equal([2]);
    await pipelinedTransaction(db, (tx) => note(tx, 4));
    expect(await notes()).to.deep.equal([2, 4]);
  });

  it("tells of the statement that failed, whichever of those behind it is heard of first", async () => {
    await note(db, 1);
    // Its failure takes more turns to arrive than those of the statements behind it.
    const slowly = async (tx: Statements): Promise<void> => {
      const [failing] = await Promise.allSettled([note(tx, 1)]);
      if (failing.status === "rejected") throw failing.reason;
    };
    const fault = await pipelinedTransaction(db, (tx) =>
      Promise.all([slowly(tx), note(tx, 2), tx.commit()]),
    ).catch((error: { code: string }) => error.code);
    expect(fault).to.equal("23505");
  });

  it("tells that a lock was not to be had, so that it is tried again", async () => {
    await note(db, 1);
    await db.transaction(async (other) => {
      await other.raw("select from noted where n = 1 for update");
      const fault = await pipelinedTransaction(hasty, async (tx) => {
        const lock = async () => rows(tx, "select from noted where n = 1 for update");
        await Promise.all([lock(), note(tx, 2)]);
      }).catch((error: unknown) => error);
      expect((fault as { code: string }).code).to.equal("55P03");
      expect(isUnavailable(fault)).to.equal(true);
    });
    expect(await notes()).to.deep.equal([1]);
  });

  it("sees in a later statement what another committed while an earlier one waited for its lock", async () => {
    await note(db, 1);
    let reading: Promise<{ n: number }[]> = Promise.resolve([]);
    await db.transaction(async (other) => {
      await other.raw("select from noted where n = 1 for update");
      reading = pipelinedTransaction(db, async (tx) => {
        const [, found] = await Promise.all([
          rows(tx, "select from noted where n = 1 for update"),
          rows<{ n: number }>(tx, "select n from noted order by n"),
        ]);
        return found;
      });
      await waiting();
      await note(other, 2);
    });
    expect(await reading).to.deep.equal([{ n: 1 }, { n: 2 }]);
  });

  it("takes another text under a name whose plan is kept", async () => {
    for (const word of ["one", "two", "one"])
      expect(
        await pipelinedTransaction(db, (tx) => rows(tx, `select '${word}' as word`, [], "word")),
      ).to.deep.equal([{ word }]);
  });

  it("takes prepared statements that are gone for a fault of the connection, and makes a new one", async () => {
    const one = createDb(instance.config, "one", 1);
    const word = () =>
      pipelinedTransaction(one, (tx) => rows(tx, "select 'one' as word", [], "word"));
    await word();
    // As when a pooler gives this connection the session of another client.
    await one.raw("deallocate all");
    const fault = await word().catch((error: unknown) => error);
    expect(fault).to.have.property("code", "26000");
    expect(isUnavailable(fault)).to.equal(true);
    expect(await word()).to.deep.equal([{ word: "one" }]);
    await one.destroy();
  });

  const waiting = async (): Promise<void> => {
    for (;;) {
      const found = await rows(
        db,
        "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      );
      if (found.length > 0) return;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
});
