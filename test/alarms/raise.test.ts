import { expect } from "chai";
import pg from "pg";
import { countHarmful, readHarmful } from "#src/alarms/harmful-counts.ts";
import { type Alarm, raiseAlarms } from "#src/alarms/raise.ts";
import { hourMs } from "#src/domain/units.ts";
import { servedStatuses } from "#src/domain/vocabulary.ts";
import { inTransaction, rows } from "#src/infrastructure/db.ts";
import { pipelinedTransaction } from "#src/infrastructure/pipelined-transaction.ts";
import { until } from "#test/flow/client.ts";
import { useInstance } from "#test/harness/use.ts";

const at = Date.UTC(2026, 10, 22, 12, 5);
const held = (more: Partial<Alarm> = {}): Alarm => ({
  ...{ kind: "marks-held", subject: "partner 7", city: "Тестоград", at },
  ...more,
});

describe("alarms: raising them", () => {
  const instance = useInstance();

  beforeEach(() => rows(instance.db, "truncate alarms, harmful_changes restart identity"));

  const stored = () =>
    rows<{ subject: string; city: string; hour: Date; count: number; details: object }>(
      instance.db,
      "select subject, city, hour, count, details from alarms order by id",
    );

  it("makes one alarm of a kind, subject, city and hour, and counts the repeats", async () => {
    for (const alarm of [
      held({ details: { limit: 20, changes: 21 } }),
      held({ at: at + 54 * 60_000, count: 4, details: { changes: 25 } }),
      held({ at: at + hourMs }),
      held({ city: "Другой" }),
      held({ subject: "partner 8" }),
    ])
      await inTransaction(instance.db, (tx) => raiseAlarms(tx, [alarm]));
    const all = await stored();
    expect(all.map(({ subject, city, count }) => [subject, city, count])).to.deep.equal([
      ["partner 7", "Тестоград", 5],
      ["partner 7", "Тестоград", 1],
      ["partner 7", "Другой", 1],
      ["partner 8", "Тестоград", 1],
    ]);
    expect(all[0]).to.deep.include({
      hour: new Date(Date.UTC(2026, 10, 22, 12)),
      details: { limit: 20, changes: 25 },
    });
  });

  it("takes the same alarm twice in one call", async () => {
    await pipelinedTransaction(instance.db, (tx) =>
      raiseAlarms(tx, [held(), held({ count: 2 }), held()]),
    );
    expect(await stored()).to.have.length(1);
    expect((await stored())[0]).to.include({ count: 4 });
  });

  it("leaves nothing of a transaction that is rolled back", async () => {
    const failing = pipelinedTransaction(instance.db, async (tx) => {
      await raiseAlarms(tx, [held()]);
      await countHarmful(tx, [{ from: "yes", to: "no", sourceKind: "partner" }]);
      throw new Error("no");
    });
    expect(await failing.catch((error: Error) => error.message)).to.equal("no");
    expect([await stored(), await readHarmful(instance.db)]).to.deep.equal([[], []]);
  });

  it("does not deadlock when transactions raise the same alarms in different orders", async () => {
    // So many that the statements meet in the middle.
    const alarms = Array.from({ length: 3000 }, (_, n) => held({ city: `city ${n}` }));
    await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        inTransaction(instance.db, (tx) =>
          raiseAlarms(tx, n % 2 === 0 ? alarms : alarms.toReversed()),
        ),
      ),
    );
    const counts = (await stored()).map(({ count }) => count);
    expect(counts).to.have.length(3000);
    expect(new Set(counts)).to.deep.equal(new Set([8]));
  });

  it("does not deadlock when transactions count the same changes", async () => {
    const changes = servedStatuses.flatMap((from) =>
      servedStatuses.flatMap((to) =>
        (["partner", "network"] as const).map((sourceKind) => ({ from, to, sourceKind })),
      ),
    );
    await Promise.all(
      Array.from({ length: 300 }, () =>
        pipelinedTransaction(instance.db, async (tx) => {
          await Promise.all([countHarmful(tx, changes), tx.commit()]);
        }),
      ),
    );
    const counts = (await readHarmful(instance.db)).map(({ count }) => count);
    expect(counts).to.deep.equal(changes.map(() => 300));
  });

  it("counts harmful changes by what they changed and whose they are", async () => {
    const change = { from: "yes", to: "no", sourceKind: "partner" } as const;
    await inTransaction(instance.db, (tx) =>
      countHarmful(tx, [change, { ...change, sourceKind: "network" }, change]),
    );
    await inTransaction(instance.db, (tx) => countHarmful(tx, [change]));
    await inTransaction(instance.db, (tx) => countHarmful(tx, []));
    expect(await readHarmful(instance.db)).to.deep.equal([
      { from: "yes", to: "no", source_kind: "network", count: 1 },
      { from: "yes", to: "no", source_kind: "partner", count: 3 },
    ]);
  });

  it("wakes who sends with the commit of a new alarm, and not for a repeat", async () => {
    const client = new pg.Client({ connectionString: instance.databaseUrl });
    await client.connect();
    try {
      const heard: string[] = [];
      client.on("notification", ({ channel }) => heard.push(channel));
      await client.query("listen alarms");
      await client.query("listen the_end");
      for (const alarm of [held(), held(), held({ city: "Другой" })])
        await inTransaction(instance.db, (tx) => raiseAlarms(tx, [alarm]));
      await rows(instance.db, "notify the_end");
      await until(
        async () => heard,
        (all) => all.includes("the_end"),
      );
      expect(heard).to.deep.equal(["alarms", "alarms", "the_end"]);
    } finally {
      await client.end();
    }
  });
});
