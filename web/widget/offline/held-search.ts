import { foldText } from "#src/contract/fold-text.ts";
import { distanceM, type Point } from "#src/domain/geo.ts";

interface NamedCity {
  name: string;
  population: number;
}

interface NamedStation extends Point {
  name: string;
  brand: string;
  addr: string;
}

/** Cities whose name holds `text`, those that begin with it first, then the largest. */
export function searchCities<City extends NamedCity>(
  cities: readonly City[],
  text: string,
): City[] {
  const wanted = foldText(text);
  const starts = ({ name }: City): number => (foldText(name).startsWith(wanted) ? 0 : 1);
  return cities
    .filter(({ name }) => foldText(name).includes(wanted))
    .sort((a, b) => starts(a) - starts(b) || b.population - a.population);
}

/** Stations in whose name, brand or address every word of `text` occurs, the nearest to `from` first. */
export function searchStations<Station extends NamedStation>(
  stations: Iterable<Station>,
  text: string,
  from: Point,
): Station[] {
  const wanted = foldText(text).split(" ");
  return [...stations]
    .filter(({ name, brand, addr }) => {
      const said = foldText(`${name} ${brand} ${addr}`);
      return wanted.every((word) => said.includes(word));
    })
    .sort((a, b) => distanceM(from, a) - distanceM(from, b));
}
