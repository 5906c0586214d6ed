import { expect } from "chai";
import { demoCities } from "#demo/country/cities.ts";
import { createRandom } from "#demo/country/random.ts";
import { makeReporters } from "#demo/country/reporters.ts";
import { makeStations } from "#demo/country/stations.ts";
import { distanceM } from "#src/domain/geo.ts";

describe("the demo country", () => {
  it("is the same at each making", () => {
    const made = makeStations(createRandom(1));
    expect(made).to.deep.equal(makeStations(createRandom(1)));
    expect(made).not.to.deep.equal(makeStations(createRandom(2)));
    expect(new Set(made.map(({ id }) => id)).size).to.equal(10_000);
  });

  it("has at least 60 different cities, each with stations near by", () => {
    expect(new Set(demoCities.map(({ name }) => name)).size).to.equal(demoCities.length);
    expect(demoCities.length).to.be.at.least(60);
    const stations = makeStations(createRandom(1));
    demoCities.forEach((city, index) => {
      const near = stations.filter((one) => one.city === index && distanceM(one, city) < 25_000);
      expect(near.length, city.name).to.be.at.least(10);
    });
  });

  it("has some independent reporters in each city", () => {
    const reporters = makeReporters(createRandom(1), Date.now());
    demoCities.forEach(({ name }, index) => {
      const apart = reporters
        .filter(({ city, grouped }) => city === index && !grouped)
        .map(({ firstSeen }) => firstSeen)
        .sort((a, b) => a - b);
      expect(apart.length, name).to.be.at.least(4);
      apart
        .slice(1)
        .forEach((at, next) => expect(at - (apart[next] ?? 0), name).to.be.greaterThan(600_000));
    });
  });
});
