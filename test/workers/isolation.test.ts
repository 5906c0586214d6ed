import { expect } from "chai";
import { createClock } from "#src/infrastructure/clock.ts";
import { rows } from "#src/infrastructure/db.ts";
import { createLog } from "#src/infrastructure/log.ts";
import { processStations } from "#workers/marks/process.ts";
import { useStage } from "#test/flow/stage.ts";

const failure = "Cannot read properties of undefined (reading 'connection')";

describe("worker: a mark that cannot be processed", function () {
  this.timeout(30_000);
  const { instance, country } = useStage(2, []);

  it("is set aside alone when the fault is our own, though its message speaks of a connection", async () => {
    const { db, stationIds } = country;
    const { config } = instance;
    const [first, second] = stationIds as [string, string];
    const stations = [first, first, first, second];
    for (let n = 0; n < stations.length; n += 1) await country.meet(`user ${n}`, 60 * (n + 1));
    await rows(
      db,
      `insert into marks (id, station_id, reporter_id, source, status, received_at, effective_at, remote, needed, rule)
       select next_mark_id(server_now()), station, r.id, 'partner', 'yes', server_now(), server_now(), false, 1, 'geolocated'
       from unnest(?::text[]) with ordinality as s(station, n)
       join (select id, row_number() over (order by id) as n from reporters) r using (n) order by n`,
      [stations],
    );
    // Called once a try: both stations, the first alone, its first mark; the rest goes well.
    let tries = 0;
    const now = createClock(config);
    const clock = () => {
      tries += 1;
      if (tries <= 3) throw new TypeError(failure);
      return now();
    };
    const log = createLog({ logLevel: "silent" }, "test");
    const { processed } = await processStations({ db, config, clock, log }, stationIds);
    expect(processed).to.equal(3);
    const marks = await rows<{ failure: string | null; done: boolean }>(
      db,
      "select failure, processed_at is not null as done from marks order by id",
    );
    const well = { failure: null, done: true };
    expect(marks).to.deep.equal([{ failure, done: false }, well, well, well]);
    const alarms = await rows(db, "select kind, subject, count from alarms");
    expect(alarms).to.deep.equal([{ kind: "mark-failed", subject: `station ${first}`, count: 1 }]);
  });
});
