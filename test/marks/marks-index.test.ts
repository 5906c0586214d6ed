import { expect } from "chai";
import { rows, type Db } from "#src/infrastructure/db.ts";
import { useInstance } from "#test/harness/use.ts";

const file = new URL("../../migrations/0008_index_marks_by_key.ts", import.meta.url);

describe("the index of marks by key", () => {
  const instance = useInstance();
  let db: Db;

  before(() => void ({ db } = instance));

  const up = async (): Promise<void> => {
    const migration = (await import(file.href)) as { up(knex: Db): Promise<void> };
    await migration.up(db);
  };
  const partitions = () =>
    rows<{ part: string }>(
      db,
      "select inhrelid::regclass::text as part from pg_inherits where inhparent = 'marks'::regclass order by 1",
    );
  /** Whether the whole is good to use, and the partitions that have their part of it. */
  const state = async () => {
    const [whole] = await rows<{ valid: boolean }>(
      db,
      "select indisvalid as valid from pg_index where indexrelid = 'marks_key'::regclass",
    );
    const parts = await rows<{ part: string }>(
      db,
      `select x.indrelid::regclass::text as part from pg_inherits i join pg_index x on x.indexrelid = i.inhrelid
       where i.inhparent = 'marks_key'::regclass and x.indisvalid order by 1`,
    );
    return { valid: whole!.valid, parts };
  };

  it("is built where marks are already, goes on where it broke off, and can be made again", async () => {
    await rows(
      db,
      `insert into marks (id, station_id, reporter_id, key_id, source, status, received_at, effective_at, remote, needed, rule)
       select next_mark_id(now()), 'n1', n, n % 3, 'partner', 'yes', now(), now(), false, 1, 'geolocated' from generate_series(1, 500) n`,
    );
    await rows(db, "drop index marks_key");
    const { part } = (await partitions())[1]!;
    const broken = `${part}_key_id_received_at_idx`;
    await rows(db, `create index ${broken} on ${part} (key_id, received_at)`);
    // As a build leaves it that was killed.
    await rows(
      db,
      `update pg_index set indisvalid = false where indexrelid = '${broken}'::regclass`,
    );
    await up();
    const whole = { valid: true, parts: await partitions() };
    expect(await state()).to.deep.equal(whole);
    await up();
    expect(await state()).to.deep.equal(whole);
  });

  it("comes with every partition that is made later", async () => {
    const before = await partitions();
    await rows(db, "select ensure_mark_partitions(current_date + 40, 1)");
    const now = await partitions();
    expect(now).to.have.length(before.length + 1);
    expect(await state()).to.deep.equal({ valid: true, parts: now });
  });
});
