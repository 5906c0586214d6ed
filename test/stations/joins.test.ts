import { expect } from "chai";
import { joinSources } from "#src/import/join-sources.ts";
import { inTransaction, rows } from "#src/infrastructure/db.ts";
import { lockStations } from "#src/infrastructure/locks.ts";
import { createLog } from "#src/infrastructure/log.ts";
import { firstIdOfDay } from "#src/marks/marks.ts";
import { mergeStation, splitStation } from "#src/stations/join-stations.ts";
import { by } from "#test/harness/by.ts";
import { useInstance } from "#test/harness/use.ts";
import { processStations } from "#workers/marks/process.ts";

describe("joins of stations", () => {
  const instance = useInstance();
  const olga = () => by(instance.db, "olga");
  beforeEach(() => instance.db.raw("truncate changes, stations, marks cascade"));

  const place = { lon: 7.6812345, brand: "Q8", name: "", addr: "via Roma 5, Torino" };
  /** Stations of a source each, some metres from each other. */
  const add = (...stations: [id: string, source: string, metres: number][]) =>
    instance.db("stations").insert(
      stations.map(([id, source, metres]) => {
        return { id, source, lat: 45.0712345 + metres / 111_195, ...place };
      }),
    );
  let marks = 0;
  const mark = async (station: string): Promise<void> => {
    marks += 1;
    await rows(
      instance.db,
      `with who as (insert into reporters (hash) values (decode(md5(?), 'hex')) returning id)
       insert into marks (id, station_id, reporter_id, source, status, received_at, effective_at, remote, needed, rule)
       select ?::bigint, ?, id, 'partner', 'yes', server_now(), server_now(), false, 1, 'key-threshold' from who`,
      [String(marks), firstIdOfDay(Date.now()) + marks, station],
    );
  };
  const process = (...ids: string[]) =>
    processStations(
      {
        ...{ db: instance.db, config: instance.config, clock: Date.now },
        log: createLog({ logLevel: "silent" }, "test"),
      },
      ids,
    );
  const placesOfMarks = async () =>
    (
      await rows<{ at: string }>(
        instance.db,
        "select concat_ws(' ', station_id, case when processed_at is null then 'waits' end) as at from marks order by id",
      )
    ).map(({ at }) => at);

  it("wait for a worker that takes the first mark of the part, whose mark comes too", async () => {
    await add(["p", "a", 0], ["w", "b", 10]);
    await mark("p");
    let isMerged = false;
    const merging: Promise<unknown>[] = [];
    await inTransaction(instance.db, async (tx) => {
      // As a worker does, whose row of a station without marks nobody else sees yet.
      await lockStations(tx, ["p"], "wait");
      merging.push(mergeStation(olga(), { other: "w" }, "p").then(() => (isMerged = true)));
      await new Promise((wait) => setTimeout(wait, 300));
      await rows(tx, "update station_status set refold = true where station_id = 'p'");
      await rows(tx, "update marks set processed_at = server_now()");
      expect(isMerged).to.equal(false);
    });
    await Promise.all(merging);
    await process("p", "w");
    expect(await placesOfMarks()).to.deep.equal(["w"]);
  });

  it("bring a part's marks to the station that it has been joined with since a split", async () => {
    await add(["p", "a", 0], ["w", "b", 10], ["c", "c", 20]);
    await mark("p");
    await process("p");
    await mergeStation(olga(), { other: "w" }, "p");
    await process("p");
    expect(await placesOfMarks()).to.deep.equal(["w"]);
    await splitStation(olga(), {}, "p");
    await mergeStation(olga(), { other: "c" }, "p");
    for (const ids of [["p"], ["w"], ["p", "w", "c"]]) await process(...ids);
    expect(await placesOfMarks()).to.deep.equal(["c"]);
  });

  it("are not made by a third source where a person has split two", async () => {
    await add(["p", "a", 0], ["w", "b", 6]);
    await mergeStation(olga(), { other: "w" }, "p");
    await splitStation(olga(), {}, "p");
    await add(["c", "c", 3]);
    await joinSources(instance.db, "c", { found: [], refs: new Map(), away: [] }, false);
    const pairs = await rows<{ pair: string }>(
      instance.db,
      "select concat_ws(' ', station_id, into_id, verdict) as pair from station_pairs order by 1",
    );
    expect(pairs.map(({ pair }) => pair)).to.include("p w apart");
    expect(pairs.filter(({ pair }) => pair.endsWith("joined"))).to.have.length(1);
  });

  it("tell no driver that fuel has come where a part had it", async () => {
    await add(["p", "a", 0], ["w", "b", 10]);
    await instance.db("station_grades").insert([
      { station_id: "p", grades: ["95", "98"] },
      { station_id: "w", grades: ["92"] },
    ]);
    await mergeStation(olga(), { other: "w" }, "p");
    const [known] = await rows<{ grades: string[] }>(
      instance.db,
      "select grades from station_grades where station_id = 'w'",
    );
    expect(known!.grades).to.have.members(["92", "95", "98"]);
  });
});
