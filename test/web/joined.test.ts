import { expect } from "chai";
import type { Box } from "#src/domain/geo.ts";
import { emptyState } from "#src/domain/state.ts";
import { hourMs } from "#src/domain/units.ts";
import { view, withChance } from "#src/domain/view.ts";
import { joinParts, withoutOldChances } from "#web/widget/joined.ts";

const town: Box = { south: 50, west: 30, north: 51, east: 31 };
const country: Box = { south: 45, west: 25, north: 55, east: 35 };
const east: Box = { south: 50, west: 30.5, north: 51, east: 32 };

const station = (id: string, lon: number, status = "yes") => ({ id, lat: 50.5, lon, status });
type Station = ReturnType<typeof station>;
const part = (at: number, box: Box, stations: Station[], split = false) => ({
  at,
  box,
  stations,
  split,
});
const namesOf = (parts: ReturnType<typeof part>[]): string[] =>
  [...joinParts(parts).values()].map(({ id, status }) => `${id} ${status}`).sort();

describe("web: what several answers say together", () => {
  it("is the newest word about each station, in whatever order they came", () => {
    const older = part(1, town, [station("a", 30.2), station("b", 30.4)]);
    const newer = part(2, country, [station("a", 30.2, "no"), station("b", 30.4)]);
    expect(namesOf([older, newer])).to.deep.equal(["a no", "b yes"]);
    expect(namesOf([newer, older])).to.deep.equal(["a no", "b yes"]);
  });

  it("leaves out a station that a newer whole answer about its place does not name", () => {
    const older = part(1, town, [station("west", 30.2), station("gone", 30.7)]);
    expect(namesOf([older, part(2, east, [])])).to.deep.equal(["west yes"]);
  });

  it("keeps what a newer answer could not hold", () => {
    const older = part(1, town, [station("a", 30.2), station("b", 30.7)]);
    expect(namesOf([older, part(2, east, [], true)])).to.deep.equal(["a yes", "b yes"]);
  });

  it("keeps the chances of an answer for an hour", () => {
    const fuel = withChance(view(emptyState, 0, hourMs), 85);
    const told = { at: 0, box: town, stations: [{ ...station("a", 30.2), fuel }], split: false };
    expect(withoutOldChances(told, hourMs)).to.equal(told);
    const [old] = withoutOldChances(told, hourMs + 1).stations;
    expect(old).to.deep.equal({ ...station("a", 30.2), fuel: view(emptyState, 0, hourMs) });
  });
});
