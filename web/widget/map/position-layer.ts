import type { GeoJSONSource, Map as MapLibre } from "maplibre-gl";
import { tokenOf } from "#web/widget/colours.ts";
import type { Position } from "#web/widget/position.ts";

const source = "position";

/** Adds the viewer's own place, once it is known. */
export function addPosition(map: MapLibre): void {
  map.addSource(source, { type: "geojson", data: { type: "FeatureCollection", features: [] } });
  map.addLayer({
    id: "position",
    type: "circle",
    source,
    paint: {
      "circle-radius": 8,
      "circle-color": tokenOf("--accent"),
      "circle-stroke-color": tokenOf("--surface"),
      "circle-stroke-width": 3,
    },
  });
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

export function paintPosition(map: MapLibre): void {
  map.setPaintProperty("position", "circle-color", tokenOf("--accent"));
  map.setPaintProperty("position", "circle-stroke-color", tokenOf("--surface"));
}
