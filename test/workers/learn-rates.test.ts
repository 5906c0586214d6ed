import { expect } from "chai";
import { createRandom } from "#demo/country/random.ts";
import { namedRates } from "#src/domain/chance/learning.ts";
import { shippedNumbers } from "#src/domain/chance/numbers.ts";
import { createClock } from "#src/infrastructure/clock.ts";
import { rows } from "#src/infrastructure/db.ts";
import { readLearning, setLearning } from "#src/marks/chance-learning.ts";
import { by } from "#test/harness/by.ts";
import { useStage } from "#test/flow/stage.ts";
import { learnInstanceRates } from "#workers/upkeep/learn-rates.ts";

describe("worker: learning the rates of change of a night", function () {
  this.timeout(180_000);
  const { country, instance } = useStage(30, [], { CHANCE: "true" });
  const night = () => {
    const { config } = instance;
    return learnInstanceRates({ db: country.db, config, clock: createClock(config) });
  };
  /** As if the last night were yesterday's. */
  const nextDay = () =>
    rows(country.db, "update chance_learning set looked_at = looked_at - interval '1 day'");

  /** Counted marks of three days at stations whose fuel comes and goes each so many hours. */
  const fill = async (hours: number, stations: readonly string[]) => {
    const random = createRandom(1);
    const said = stations.flatMap((id) => {
      const list: [string, string, number, number][] = [];
      let fuel = random.chance(0.5);
      for (let ago = 70; ago > 0; ago -= hours * (0.5 + random.next()), fuel = !fuel)
        for (const after of [0.1, 0.5])
          list.push([id, fuel ? "yes" : "no", ago - after, 1 + random.int(0, 300)]);
      return list.filter(([, , at]) => at > 0.1);
    });
    await rows(
      country.db,
      `insert into reporters (hash, first_seen)
       select sha256(n::text::bytea), server_now() - interval '9 days' - n * interval '7 min' from generate_series(1, 301) n
       on conflict do nothing`,
    );
    await rows(
      country.db,
      `insert into marks (id, station_id, reporter_id, source, status, received_at, effective_at, remote, needed, rule,
         processed_at, outcome)
       select next_mark_id(at), station, (select min(id) from reporters) + who, 'partner', status, at, at, false, 1,
         'geolocated', at, 'published'
       from (select station, status, who, server_now() - ago * interval '1 hour' as at
         from unnest(?::text[], ?::text[], ?::float8[], ?::int[]) as u(station, status, ago, who)) said order by at`,
      [
        said.map(([station]) => station),
        said.map(([, status]) => status),
        said.map(([, , ago]) => ago),
        said.map(([, , , who]) => who),
      ],
    );
    await rows(
      country.db,
      `insert into station_status (station_id, updated_at) select unnest(?::text[]), server_now()
       on conflict (station_id) do update set updated_at = excluded.updated_at`,
      [stations],
    );
  };

  it("does nothing before an operator switches it on", async () => {
    expect(await night()).to.equal(undefined);
    expect(await readLearning(country.db)).to.include({ learns: false, result: "none" });
    await setLearning(by(country.db, "olga"), { learning: "on" }, undefined);
  });

  it("learns nothing of a country without marks, and looks once a day", async () => {
    expect(await night()).to.equal("few");
    expect(await night()).to.equal(undefined);
    expect(await readLearning(country.db)).to.include({ rates: null, result: "few", marks: 0 });
    await nextDay();
  });

  it("goes a step from the shipped rates, also when two processes look at once", async () => {
    await rows(country.db, "select ensure_mark_partitions((now() - interval '4 days')::date, 6)");
    await fill(3, country.stationIds);
    const results = await Promise.all([night(), night()]);
    expect(results).to.include("learnt");
    const { rates, marks, stations, result } = await readLearning(country.db);
    expect({ stations, result }).to.deep.equal({ stations: 30, result: "learnt" });
    expect(marks).to.be.greaterThan(500);
    const [now, shipped] = [namedRates(rates!), namedRates(shippedNumbers)];
    for (const [name, value] of Object.entries(now).filter(([one]) => !one.endsWith("share")))
      expect(value / shipped[name]!, name).to.be.within(1 / 1.151, 1.151);
    // Nothing lasts longer than hours there.
    expect(now["refills-12"]).to.be.above(shipped["refills-12"]!);
    expect(await night()).to.equal(undefined);
  });

  it("goes back to the shipped rates by an operator's act, and learns again only when it is switched on", async () => {
    await setLearning(by(country.db, "olga"), { learning: "off" }, undefined);
    expect((await readLearning(country.db)).rates).not.to.equal(null);
    await nextDay();
    expect(await night()).to.equal(undefined);
    await setLearning(by(country.db, "olga"), { learning: "shipped" }, undefined);
    expect(await readLearning(country.db)).to.include({ learns: false, rates: null });
    const log = await rows<{ details: { before: object; after: object } }>(
      country.db,
      "select details from operator_log where action = 'chance.learning' order by id desc limit 1",
    );
    expect(log[0]!.details.after).to.deep.equal({ rates: null });
    await setLearning(by(country.db, "olga"), { learning: "on" }, undefined);
    expect(await night()).to.equal("learnt");
  });

  it("does not learn while chances are switched off", async () => {
    await nextDay();
    const config = { ...instance.config, chance: false };
    const look = learnInstanceRates({ db: country.db, config, clock: createClock(config) });
    expect(await look).to.equal(undefined);
  });
});
