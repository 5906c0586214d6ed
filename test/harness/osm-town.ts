import type { OsmObjects } from "#test/harness/osm-extract.ts";

/** The middle of the town, in degrees. */
export interface Town {
  lon: number;
  lat: number;
}

/**
 * A town of `streets` × `streets` streets, 150 m apart: a motorway past it, a trunk road through it, a lake of two ways
 * with an island, a pond, a river, the town's point, a coast, a border beside it, and a lake whose outline is broken.
 */
export function osmTown({ lon, lat }: Town, streets = 20): OsmObjects {
  const nodes: OsmObjects["nodes"] = [];
  const ways: NonNullable<OsmObjects["ways"]> = [];
  const [stepLat, stepLon] = [150 / 111_000, 150 / (111_000 * Math.cos((lat * Math.PI) / 180))];
  /** Both in streets from the middle. */
  const node = (x: number, y: number, tags?: Record<string, string>): number => {
    const id = 1000 + nodes.length;
    const place = { lon: lon + x * stepLon, lat: lat + y * stepLat };
    nodes.push({ id, ...place, ...(tags === undefined ? {} : { tags }) });
    return id;
  };
  const way = (points: [number, number][], tags: Record<string, string> = {}): number => {
    const id = 100 + ways.length;
    ways.push({ id, refs: points.map(([x, y]) => node(x, y)), tags });
    return id;
  };
  const circle = (x: number, y: number, radius: number, from = 0, to = 360): [number, number][] =>
    Array.from({ length: 25 }, (_, n) => {
      const angle = ((from + ((to - from) * n) / 24) / 180) * Math.PI;
      return [x + radius * Math.cos(angle), y + radius * Math.sin(angle)];
    });
  const half = streets / 2;
  for (let n = -half; n <= half; n++) {
    const highway = n === 0 ? "trunk" : n % 5 === 0 ? "secondary" : "residential";
    const name = `${Math.abs(n) + 1}-я ${n < 0 ? "Западная" : "Восточная"} улица`;
    way(
      [
        [n, -half],
        [n + 0.3, 0],
        [n, half],
      ],
      { highway, name, ...(n === 0 ? { ref: "М-10" } : {}) },
    );
    way(
      [
        [-half, n],
        [0, n + 0.3],
        [half, n],
      ],
      { highway: "residential", name: `Садовая ${n}` },
    );
  }
  way(
    [
      [-8 * half, -2 * half],
      [0, -1.4 * half],
      [8 * half, -2 * half],
    ],
    { highway: "motorway", ref: "М-11" },
  );
  way(
    [
      [-6 * half, 1.3 * half],
      [0, 1.1 * half],
      [6 * half, 1.6 * half],
    ],
    { waterway: "river", name: "Тихая" },
  );
  // Two halves of a shore, the second against the first's direction, that share their ends.
  const upper = circle(1.9 * half, 0, 0.6 * half, 0, 180);
  const shore = way(upper);
  const [first, last] = [ways.at(-1)!.refs[0]!, ways.at(-1)!.refs.at(-1)!];
  const lower = circle(1.9 * half, 0, 0.6 * half, 360, 180).slice(1, -1);
  ways.push({ id: 100 + ways.length, refs: [first, ...lower.map(([x, y]) => node(x, y)), last] });
  const other = ways.at(-1)!.id;
  const closed = (points: [number, number][], tags: Record<string, string> = {}): number => {
    const id = way(points.slice(0, -1), tags);
    const { refs } = ways.at(-1)!;
    refs.push(refs[0]!);
    return id;
  };
  const island = closed(circle(1.9 * half, 0, 0.2 * half));
  closed(circle(-1.5 * half, 0.5 * half, 0.2 * half), { natural: "water", name: "Пруд" });
  const broken = way(circle(-1.5 * half, -0.5 * half, 0.2 * half, 0, 200));
  way(
    [
      [-8 * half, -3 * half],
      [8 * half, -3 * half],
    ],
    { natural: "coastline" },
  );
  const border = way([
    [-8 * half, 2 * half],
    [0, 2.2 * half],
    [8 * half, 2 * half],
  ]);
  node(0, 0, { place: "city", name: "Бензинск", "name:en": "Benzinsk", population: "612 000" });
  const outer = (id: number) => ({ type: "way" as const, id, role: "outer" });
  const water = { type: "multipolygon", natural: "water" };
  const administrative = { type: "boundary", boundary: "administrative" };
  return {
    nodes,
    ways,
    relations: [
      {
        id: 1,
        tags: { ...water, name: "Озеро" },
        members: [outer(shore), outer(other), { type: "way", id: island, role: "inner" }],
      },
      { id: 2, tags: water, members: [outer(broken)] },
      { id: 3, tags: { ...administrative, admin_level: "4" }, members: [outer(border)] },
      { id: 4, tags: { ...administrative, admin_level: "2" }, members: [outer(border)] },
    ],
  };
}
