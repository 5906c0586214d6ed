import { computed, signal } from "@preact/signals";
import { stationAnswer } from "#src/domain/grade-answer.ts";
import { type MapView, pointAt, viewAround, worldX, worldY } from "#web/kit/map-view.ts";
import type { Station } from "#web/widget/api.ts";
import { grade } from "#web/widget/grade.ts";
import { type Group, groupsOf } from "#web/widget/groups.ts";
import { look } from "#web/widget/loader.ts";
import { minZoom, type Target } from "#web/widget/map-handle.ts";
import { boxesAround } from "#web/widget/rectangles.ts";
import { shown, view } from "#web/widget/state.ts";

/** Time after the page's request, ms. If the map's code is there by then, nothing is sketched. */
const soonMs = 600;
/** Signs whose middle lies so far outside reach into the view, pixels. */
const margin = 36;

/** The view that is sketched until the map library has drawn it (decisions 15.42); null: none. */
export const sketch = signal<(MapView & Target) | null>(null);
let container: HTMLElement | null = null;

/** Sketches the map's first view, `startOf` at that moment, while its code is late, until `endSketch`. */
export function sketchUntilDrawn(
  code: Promise<unknown>,
  startOf: () => Target,
  place: HTMLElement,
): void {
  const begin = (): void => {
    container = place;
    moveSketch(startOf());
  };
  const timer = setTimeout(begin, Math.max(0, soonMs - performance.now()));
  const stop = (): void => clearTimeout(timer);
  code.then(stop, stop);
}

/** Shows another view, without a flight. */
export function moveSketch({ lat, lon, zoom }: Target): void {
  if (container === null) return;
  const { width, height } = container.getBoundingClientRect();
  const at = { lat, lon, zoom: Math.max(minZoom, zoom) };
  sketch.value = { ...viewAround(at, { width, height }), ...at };
  const boxes = boxesAround(at, { width, height });
  view.value = { boxes, ...at };
  look(boxes, at.zoom);
}

/** The target so far aside that it lies in the middle of what the first panel leaves free. */
export function besidePanel(
  at: Target,
  { width, height }: { width: number; height: number },
): Target {
  const px = 512 * 2 ** Math.max(minZoom, at.zoom);
  const isSheet = matchMedia("(max-width: 719.98px)").matches;
  const [aside, down] = isSheet ? [0, height / 4] : [Math.min(200, width / 4), 0];
  const moved = pointAt(worldX(at.lon) - aside / px, worldY(at.lat) + down / px);
  return { ...moved, zoom: at.zoom };
}

/** The map is drawn, or never will be. */
export function endSketch(): void {
  container = null;
  sketch.value = null;
}

/** A station or a cluster in the sketch, in pixels. */
export interface Sketched extends Group<Station> {
  left: number;
  top: number;
}

/** The stations of `shown` in the sketched view, in groups. */
export const sketched = computed<readonly Sketched[]>(() => {
  const at = sketch.value;
  if (at === null) return [];
  const { width, height, scale } = at;
  return groupsOf(shown.value, at.zoom)
    .map((group) => {
      // The group's copy around the world that is nearest to the middle.
      const turns = Math.round(at.left + width / scale / 2 - group.x);
      const left = (group.x + turns - at.left) * scale;
      return { ...group, left, top: (group.y - at.top) * scale };
    })
    .filter(
      ({ left, top }) =>
        left > -margin && left < width + margin && top > -margin && top < height + margin,
    )
    .sort((a, b) => rankOf(a) - rankOf(b));
});

/** Clusters lie above stations, and known answers above `nodata`. */
function rankOf({ stations: [first, ...others] }: Sketched): number {
  if (first === undefined || others.length > 0) return 3;
  const answer = stationAnswer(first, grade.value);
  return answer === "nodata" ? 0 : answer === "no" ? 1 : 2;
}

/** The place of a group as a target. */
export const targetOf = ({ x, y }: Group<Station>, zoom: number): Target => ({
  ...pointAt(x, y),
  zoom,
});
