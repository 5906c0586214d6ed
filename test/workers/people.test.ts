import { expect } from "chai";
import { dayMs, hourMs } from "#src/domain/units.ts";
import { rows } from "#src/infrastructure/db.ts";
import { lockIntake } from "#src/infrastructure/locks.ts";
import { createLog } from "#src/infrastructure/log.ts";
import { firstIdOfDay } from "#src/marks/marks.ts";
import { placeOf } from "#test/flow/country.ts";
import { until } from "#test/flow/client.ts";
import { isIntakeAwaited } from "#test/harness/intake-lock.ts";
import { clearOldMarks, pruneTable } from "#workers/upkeep/people.ts";
import { useStage } from "#test/flow/stage.ts";

describe("worker: people's data in time", () => {
  const { instance, country } = useStage(3, []);
  let deps: Parameters<typeof clearOldMarks>[0];
  const noon = Math.floor(Date.now() / dayMs) * dayMs + 12 * hourMs;
  const dateOf = (daysAgo: number): string =>
    new Date(noon - daysAgo * dayMs).toISOString().slice(0, 10);
  const day = Math.floor(noon / dayMs) * dayMs - 60 * dayMs;
  const table = `marks_${dateOf(60).slice(0, 7).replace("-", "")}`;
  const below = firstIdOfDay(day + dayMs);
  let made = 0;

  before(async () => {
    const { db } = country;
    const { config } = instance;
    const log = createLog({ logLevel: "silent" }, "test");
    deps = { db, config, clock: () => noon, log };
    for (const ago of [60, 31, 30])
      await rows(db, "select ensure_mark_partitions(?::date, 1)", [dateOf(ago)]);
  });

  const meet = async (name: string): Promise<number> => {
    const sql =
      "insert into reporters (hash, first_seen) values (sha256(?::bytea), now()) returning id";
    return (await rows<{ id: number }>(country.db, sql, [name]))[0]!.id;
  };
  /** A mark received at noon `daysAgo`, made `lateH` hours before. */
  const say = async (
    reporter: number,
    daysAgo: number,
    { network = null as string | null, place = 0, lateH = 0, processed = true } = {},
  ): Promise<number> => {
    const received = noon - daysAgo * dayMs;
    const id = firstIdOfDay(received) + (made += 1);
    await rows(
      country.db,
      `insert into marks (id, station_id, reporter_id, source, viewer, status, received_at, effective_at, lat, lon, acc_m,
         comment, remote, needed, rule, processed_at)
       values (?, ?, ?, 'widget', decode(?, 'hex'), 'yes', ?, ?, 55, 37, 5, 'words', false, 1, 'geolocated', ?)`,
      [
        ...[id, placeOf(place).id, reporter, network, new Date(received)],
        ...[new Date(received - lateH * hourMs), processed ? new Date(received) : null],
      ],
    );
    return id;
  };
  /** Of each mark what of position, comment and network is left. */
  const left = async (ids: readonly number[]): Promise<string[]> => {
    const found = await rows<{ id: number; left: string }>(
      country.db,
      `select id, concat_ws(' ', lat, lon, acc_m, comment, encode(viewer, 'hex')) as left from marks
       where id = any(?::bigint[])`,
      [ids],
    );
    return ids.map((id) => found.find((row) => row.id === id)!.left);
  };

  it("clears marks of days older than 30, and keeps a network only where it makes two people one device", async () => {
    const [ann, bob, cat] = [await meet("ann"), await meet("bob"), await meet("cat")];
    const old = [
      await say(ann, 31, { network: "aa" }),
      await say(bob, 31, { network: "aa" }),
      // The same person again, another network, another station: nobody to be one device with.
      await say(ann, 31, { network: "aa", place: 1 }),
      await say(ann, 31, { network: "aa", place: 1 }),
      await say(cat, 31, { network: "cc" }),
      await say(cat, 31, { network: "aa", place: 2 }),
      await say(cat, 31, { network: "ee", processed: false }),
      await say(bob, 31),
    ];
    const young = await say(bob, 30, { network: "dd" });
    const late = await say(ann, 30, { network: "cc", lateH: 20 });
    await clearOldMarks(deps, 3);
    expect(await left(old)).to.deep.equal(["aa", "aa", "", "", "cc", "", "ee", ""]);
    expect(await left([young, late])).to.deep.equal(["55 37 5 words dd", "55 37 5 words cc"]);
  });

  it("does not look again at a day that is done", async () => {
    const again = await say(await meet("dan"), 31);
    await clearOldMarks(deps);
    expect(await left([again])).to.deep.equal(["55 37 5 words"]);
    const days = await rows<{ day: string }>(country.db, "select day from cleared_days order by 1");
    expect(days.map(({ day }) => day)).to.deep.equal([dateOf(31)]);
  });

  it("forgets whose last mark goes, and nobody else", async () => {
    const people = ["eve", "fay", "gus", "hal"];
    const [eve, fay, gus, hal] = (await Promise.all(people.map(meet))) as [
      number,
      number,
      number,
      number,
    ];
    for (const one of [eve, fay, gus, eve]) await say(one, 60);
    await say(fay, 31);
    await say(hal, 30);
    await say(gus, 0);
    expect(await pruneTable(deps, table, below, 2)).to.equal(1);
    const kept = await rows<{ id: number }>(
      country.db,
      "select id from reporters where id = any(?::bigint[]) order by id",
      [[eve, fay, gus, hal]],
    );
    expect(kept.map(({ id }) => id)).to.deep.equal([fay, gus, hal].sort((a, b) => a - b));
    expect(await pruneTable(deps, table, below, 2)).to.equal(0);
  });

  it("keeps a person who comes back at this moment", async () => {
    const ida = await meet("ida");
    await say(ida, 60);
    const mark = await say(ida, 0);
    const intake = await country.db.transaction();
    await lockIntake(intake, [0]);
    // Seen by nobody yet, as a mark that is being taken in.
    await rows(country.db, "update marks set reporter_id = 0 where id = ?", [mark]);
    await rows(intake, "update marks set reporter_id = ? where id = ?", [ida, mark]);
    let pruned: number | null = null;
    const pruning = pruneTable(deps, table, below).then((count) => (pruned = count));
    await until(
      () => isIntakeAwaited(country.db),
      (waiting) => waiting || pruned !== null,
    );
    await intake.commit();
    expect(await pruning).to.equal(0);
    const kept = await rows(country.db, "select from reporters where id = ?", [ida]);
    expect(kept).to.have.length(1);
  });
});
