import { computed, effect } from "@preact/signals";
import { Map as MapLibre, type MapMouseEvent, ScaleControl, setWorkerUrl } from "maplibre-gl";
import workerUrl from "virtual:map-worker-url";
import "#web/widget/map/map.css";
import { minuteMs } from "#src/domain/units.ts";
import { theme } from "#web/kit/theme.ts";
import type { Station } from "#web/widget/api.ts";
import { look, resume, stations } from "#web/widget/loader.ts";
import { openBasemap } from "#web/widget/map/basemap.ts";
import { fit, middle, reveal } from "#web/widget/map/camera.ts";
import { addCities, paintCities, showCities } from "#web/widget/map/city-layers.ts";
import { addPosition, paintPosition, showPosition } from "#web/widget/map/position-layer.ts";
import { drawSprite } from "#web/widget/map/sprites.ts";
import {
  addStations,
  ageZoom,
  clusterLayer,
  paintStations,
  ringStation,
  showStations,
  stationLayer,
  zoomOfCluster,
} from "#web/widget/map/station-layers.ts";
import { type MapHandle, minZoom, type Target } from "#web/widget/map-handle.ts";
import { page } from "#web/widget/page.ts";
import { position } from "#web/widget/position.ts";
import { grade } from "#web/widget/grade.ts";
import { openCard, selected } from "#web/widget/panels.ts";
import { boxesOf } from "#web/widget/rectangles.ts";
import { endSketch, moveSketch, sketch } from "#web/widget/sketch.ts";
import { baseCredit, cities, now, shown, view, type WidgetConfig } from "#web/widget/state.ts";
import { words } from "#web/widget/words.ts";

setWorkerUrl(workerUrl);

const reach = 8;
const coarseMs = 15 * minuteMs;

/** The time that signs are drawn for: that of the cards where signs say their age, else as often as they fade. */
const drawnAt = computed(() =>
  (view.value?.zoom ?? 0) >= ageZoom ? now.value : Math.floor(now.value / coarseMs) * coarseMs,
);

/**
 * Draws the map into `container`, opened on the result of `startOf` at that moment, and keeps it in step with the
 * page's state.
 */
export async function openMap(
  container: HTMLElement,
  { basemap }: Pick<WidgetConfig, "basemap">,
  startOf: () => Target,
): Promise<MapHandle> {
  const opened = { theme: theme.peek(), root: page.root, start: startOf() };
  const base = await openBasemap(basemap, opened);
  baseCredit.value = base.attribution;
  // The viewer may have moved the sketch meanwhile.
  const start = startOf();
  const map = new MapLibre({
    container,
    style: base.style,
    center: [start.lon, start.lat],
    zoom: start.zoom,
    minZoom,
    attributionControl: false,
    cooperativeGestures: page.gestures === "cooperative",
    dragRotate: false,
    pitchWithRotate: false,
    touchPitch: false,
    rollEnabled: false,
    fadeDuration: 0,
    locale: {
      "Map.Title": words.map,
      "ScaleControl.Meters": words.scale.metres,
      "ScaleControl.Kilometers": words.scale.kilometres,
      "CooperativeGesturesHandler.WindowsHelpText": words.gestures.windows,
      "CooperativeGesturesHandler.MacHelpText": words.gestures.mac,
      "CooperativeGesturesHandler.MobileHelpText": words.gestures.touch,
    },
  });
  map.touchZoomRotate.disableRotation();
  map.keyboard.disableRotation();
  map.addControl(new ScaleControl({ maxWidth: 90 }), "bottom-left");
  map.setMissingStyleImageResolver((name) => {
    const sprite = drawSprite(name);
    if (sprite !== null && !map.hasImage(name))
      map.addImage(name, sprite.image, { pixelRatio: sprite.pixelRatio });
  });
  const noteView = (): void => {
    // What is not drawn yet is seen in the sketch.
    const { lat, lng: lon } = map.getCenter().wrap();
    if (sketch.peek() === null) tellView(map);
    else moveSketch({ lat, lon, zoom: map.getZoom() });
  };
  map.on("moveend", noteView);
  map.on("resize", noteView);
  // Who moves the map themselves wants to see what is there.
  map.on("movestart", ({ originalEvent }) => {
    if (originalEvent === undefined) return;
    resume();
    // It does not follow a finger.
    endSketch();
  });
  noteView();
  map.once("idle", () => {
    endSketch();
    // The sketch knows its view less exactly.
    tellView(map);
  });
  map.once("style.load", () => {
    // A style names its towns itself.
    if (base.kind !== "style") addCities(map, theme.peek(), base.kind === "bundled");
    addStations(map, theme.peek(), grade.peek());
    addPosition(map, theme.peek());
    follow(map, base.paint);
  });
  listenToPointer(map);
  return {
    go: ({ lat, lon, zoom }) => map.flyTo({ center: [lon, lat], zoom, speed: 2.2 }),
    jump: ({ lat, lon, zoom }) => map.jumpTo({ center: [lon, lat], zoom }),
    fit: (points) => fit(map, points),
    middle: () => middle(map),
    zoomBy: (levels) => void map.easeTo({ zoom: map.getZoom() + levels }),
    reveal: (at, near) => {
      // Whoever has closed the card meanwhile has gone back to another view.
      const wanted = (): void => {
        if (selected.peek() !== null) reveal(map, at, near);
      };
      if (map.isMoving()) map.once("moveend", wanted);
      else wanted();
    },
  };
}

function tellView(map: MapLibre): void {
  const bounds = map.getBounds();
  const { lat, lng: lon } = map.getCenter().wrap();
  const boxes = boxesOf({
    south: bounds.getSouth(),
    west: bounds.getWest(),
    north: bounds.getNorth(),
    east: bounds.getEast(),
  });
  view.value = { boxes, zoom: map.getZoom(), lat, lon };
  look(boxes, map.getZoom());
}

/** Draws the page's state on the map whenever it changes. */
function follow(map: MapLibre, paintBase: (map: MapLibre, to: "light" | "dark") => void): void {
  let drawn: readonly Station[] = [];
  let painted = theme.peek();
  let counted = grade.peek();
  let aged = drawnAt.peek();
  effect(() => {
    const next = shown.value;
    const asked = { grade: grade.value, now: drawnAt.value };
    // The passing of time alone need not change anything.
    const same = next.length === drawn.length && next.every((one, at) => one === drawn[at]);
    if (same && asked.grade === counted && asked.now === aged) return;
    if (asked.grade !== counted) paintStations(map, theme.peek(), asked.grade);
    counted = asked.grade;
    aged = asked.now;
    // Measurements read it: the time until stations are drawn.
    if (drawn.length === 0) map.once("idle", () => performance.mark("stations drawn"));
    drawn = next;
    showStations(map, next, asked);
  });
  effect(() => showCities(map, cities.value));
  effect(() => showPosition(map, position.value));
  effect(() => ringStation(map, selected.value, { grade: grade.value, now: drawnAt.value }));
  effect(() => {
    const next = theme.value;
    if (next === painted) return;
    painted = next;
    paintBase(map, next);
    paintCities(map, next);
    paintPosition(map, next);
    paintStations(map, next, grade.peek());
  });
}

function listenToPointer(map: MapLibre): void {
  const under = ({ point: { x, y } }: MapMouseEvent) => {
    const layers = [stationLayer, clusterLayer].filter((id) => map.getLayer(id) !== undefined);
    if (layers.length === 0) return undefined;
    const exact = map.queryRenderedFeatures([x, y], { layers })[0];
    const around: [[number, number], [number, number]] = [
      [x - reach, y - reach],
      [x + reach, y + reach],
    ];
    return exact ?? map.queryRenderedFeatures(around, { layers })[0];
  };
  map.on("mousemove", (event) => {
    map.getCanvas().style.cursor = under(event) === undefined ? "" : "pointer";
  });
  map.on("click", (event) => {
    const found = under(event);
    if (found === undefined || found.geometry.type !== "Point") return;
    const { id, cluster_id: cluster } = found.properties as { id?: string; cluster_id?: number };
    const [lon = 0, lat = 0] = found.geometry.coordinates;
    const station = stations.peek().get(String(id));
    if (cluster === undefined) {
      if (station !== undefined) openCard(station);
    } else
      void zoomOfCluster(map, cluster).then((zoom) =>
        map.easeTo({ center: [lon, lat], zoom: Math.min(zoom + 0.2, 16) }),
      );
  });
}
