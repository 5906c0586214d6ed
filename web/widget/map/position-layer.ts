import type { GeoJSONSource, Map as MapLibre } from "maplibre-gl";
import type { Theme } from "#web/kit/theme.ts";
import { clusterLayer } from "#web/widget/map/station-layers.ts";
import type { Position } from "#web/widget/position.ts";

const source = "position";

/** Adds the viewer's own place, above signs and words, which give way to it; the numbers of clusters do not. */
export function addPosition(map: MapLibre, theme: Theme): void {
  map.addSource(source, { type: "geojson", data: { type: "FeatureCollection", features: [] } });
  map.addLayer(
    { id: "position", type: "symbol", source, layout: { "icon-allow-overlap": true } },
    clusterLayer,
  );
  paintPosition(map, theme);
}

export function showPosition(map: MapLibre, at: Position | null): void {
  void map.getSource<GeoJSONSource>(source)?.setData({
    type: "FeatureCollection",
    features:
      at === null
        ? []
        : [
            {
              type: "Feature",
              geometry: { type: "Point", coordinates: [at.lon, at.lat] },
              properties: {},
            },
          ],
  });
}

export function paintPosition(map: MapLibre, theme: Theme): void {
  map.setLayoutProperty("position", "icon-image", `p:${theme}`);
}
