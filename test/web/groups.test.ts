import { Supercluster } from "@maplibre/geojson-vt";
import { expect } from "chai";
import fc from "fast-check";
import { clusterMaxZoom, clusterRadius, groupsOf, zoomApart } from "#web/widget/groups.ts";

const point = fc.record({
  lat: fc.double({ min: -0.4, max: 0.4, noNaN: true }),
  lon: fc.double({ min: -0.4, max: 0.4, noNaN: true }),
});
/** A town anywhere. */
const town = fc
  .tuple(
    fc.double({ min: -80, max: 80, noNaN: true }),
    fc.double({ min: -179, max: 179, noNaN: true }),
    fc.array(point, { minLength: 1, maxLength: 80 }),
  )
  .map(([lat, lon, around]) =>
    around.map((one, id) => ({ id, lat: lat + one.lat, lon: lon + one.lon })),
  );

/** What the map library makes of them, each group by its members. */
function byLibrary(stations: readonly { id: number; lat: number; lon: number }[], zoom: number) {
  const index = new Supercluster({ radius: clusterRadius, extent: 512, maxZoom: clusterMaxZoom });
  index.load(
    stations.map(({ id, lat, lon }) => ({
      type: "Feature",
      properties: { id },
      geometry: { type: "Point", coordinates: [lon, lat] },
    })),
  );
  const idOf = (feature: { properties: object | null }): number =>
    (feature.properties as { id: number }).id;
  const found = index.getClusters([-180, -85, 180, 85], zoom) as { properties: object | null }[];
  return found.map((feature) => {
    const { cluster_id: cluster } = feature.properties as { cluster_id?: number };
    if (cluster === undefined) return [idOf(feature)];
    return (index.getLeaves(cluster, 1000) as { properties: object | null }[]).map(idOf);
  });
}

const sorted = (groups: number[][]): string[] =>
  groups.map((ids) => ids.toSorted((a, b) => a - b).join(" ")).sort();

/** decisions 15.42 */
describe("web: stations that are drawn as one", () => {
  it("are those that the map library groups", () => {
    fc.assert(
      fc.property(town, fc.double({ min: 2.5, max: 14, noNaN: true }), (stations, zoom) => {
        const own = groupsOf(stations, zoom).map((group) => group.stations.map(({ id }) => id));
        expect(sorted(own)).to.deep.equal(sorted(byLibrary(stations, zoom)));
      }),
    );
  });

  it("fall apart at the zoom that is told", () => {
    fc.assert(
      fc.property(town, fc.integer({ min: 2, max: 11 }), (stations, zoom) => {
        for (const group of groupsOf(stations, zoom).filter((one) => one.stations.length > 1)) {
          const apart = zoomApart(group, zoom);
          expect(apart).to.be.greaterThan(zoom);
          expect(groupsOf(group.stations, apart).length).to.be.greaterThan(1);
        }
      }),
    );
  });
});
