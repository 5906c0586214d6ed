import { expect } from "chai";
import { type Db, inTransaction, rows } from "#src/infrastructure/db.ts";
import { askRefold } from "#src/infrastructure/locks.ts";
import { msOf } from "#src/marks/marks.ts";
import { placeOf } from "#test/flow/country.ts";
import { useStage } from "#test/flow/stage.ts";

describe("asking for a refold", () => {
  const { country } = useStage(2, []);
  let db: Db;
  const ids = [0, 1].map((n) => placeOf(n).id) as [string, string];

  before(() => void ({ db } = country));
  beforeEach(async () => {
    await rows(db, "delete from station_status");
    await rows(db, "insert into station_status (station_id) select unnest(?::text[])", [ids]);
  });

  const ask = (...changed: [station: number, at: number][]): Promise<void> =>
    inTransaction(db, (tx) =>
      askRefold(
        tx,
        changed.map(([n, at]) => ({ station_id: ids[n]!, at })),
      ),
    );
  const asked = async (): Promise<[boolean, number | null][]> => {
    const found = await rows<{ refold: boolean; from: number | null }>(
      db,
      `select refold, ${msOf("refold_from")} as from from station_status order by station_id`,
    );
    return found.map(({ refold, from }) => [refold, from]);
  };
  /** What processes of version 0.1.0 before migration 0031 write. */
  const askAsBefore = () =>
    rows(db, "update station_status set refold = true where station_id = ?", [ids[0]]);
  const endAsBefore = () =>
    rows(db, "update station_status set refold = false where station_id = ?", [ids[0]]);

  it("keeps the earliest time of each station", async () => {
    await ask([0, 5000], [0, 3000], [1, 4000]);
    expect(await asked()).to.deep.equal([
      [true, 3000],
      [true, 4000],
    ]);
    await ask([0, 4000], [1, 2000]);
    await ask([1, 2000]);
    expect(await asked()).to.deep.equal([
      [true, 3000],
      [true, 2000],
    ]);
    await ask();
  });

  it("has everything folded where a process of the version before asked too, or alone", async () => {
    await ask([0, 3000]);
    await askAsBefore();
    expect((await asked())[0]).to.deep.equal([true, null]);
    await ask([0, 2000]);
    expect((await asked())[0]).to.deep.equal([true, null]);
  });

  it("keeps no time when a process of the version before has ended it", async () => {
    await ask([0, 3000]);
    await endAsBefore();
    expect((await asked())[0]).to.deep.equal([false, null]);
    await askAsBefore();
    expect((await asked())[0]).to.deep.equal([true, null]);
    await endAsBefore();
    await ask([0, 6000]);
    expect((await asked())[0]).to.deep.equal([true, 6000]);
  });
});
