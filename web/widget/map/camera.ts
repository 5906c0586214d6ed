import type { Map as MapLibre } from "maplibre-gl";
import type { Point } from "#src/domain/geo.ts";
import { wrapLon } from "#web/widget/rectangles.ts";

/** The zoom from which on streets can be told apart. */
const nearZoom = 14;
/** A station nearer to an edge than this is not in sight, pixels. */
const margin = 40;

/** The part of the map that the search and the open panel leave free, in its pixels. */
function freePart(map: MapLibre): Record<"left" | "top" | "right" | "bottom", number> {
  const { width, height } = map.getContainer().getBoundingClientRect();
  const panel = document.querySelector(".panel")?.getBoundingClientRect();
  const isSheet = panel !== undefined && panel.width > width * 0.7;
  const above = [
    ...document.querySelectorAll(
      ".top-bar, .over > .grade-choice, .notice, .outboxes, .over > .waiting-mark",
    ),
  ].map((one) => one.getBoundingClientRect().bottom);
  return {
    left: panel === undefined || isSheet ? 0 : panel.right,
    top: isSheet || panel === undefined ? Math.max(0, ...above) : 0,
    right: width,
    bottom: isSheet ? panel.top : height,
  };
}

/**
 * Brings a point into the free part if it is not there already; `near` also so near that streets can be told apart.
 */
export function reveal(map: MapLibre, { lat, lon }: Point, near: boolean): void {
  const { left, top, right, bottom } = freePart(map);
  const turns = Math.round((map.getCenter().lng - lon) / 360);
  const { x, y } = map.project([lon + turns * 360, lat]);
  const { width, height } = map.getContainer().getBoundingClientRect();
  const edge = edgeOf(bottom - top);
  const isFree = x > left + margin && x < right - margin && y > top + edge && y < bottom - edge;
  const zoom = near ? Math.max(map.getZoom(), nearZoom) : map.getZoom();
  if (isFree && zoom === map.getZoom()) return;
  const offset: [number, number] = [(left + right - width) / 2, (top + bottom - height) / 2];
  if (near) map.flyTo({ center: [lon, lat], zoom, offset, speed: 2.2 });
  else map.easeTo({ center: [lon, lat], offset });
}

/** What the viewer sees as the middle of the map. */
export function middle(map: MapLibre): Point {
  const { left, top, right, bottom } = freePart(map);
  const { lat, lng } = map.unproject([(left + right) / 2, (top + bottom) / 2]).wrap();
  return { lat, lon: lng };
}

/** Shows all of these points in the free part. */
export function fit(map: MapLibre, points: readonly Point[]): void {
  const [first] = points;
  if (first === undefined) return;
  // The shorter way around the globe.
  const lons = points.map(({ lon }) => first.lon + wrapLon(lon - first.lon));
  const lats = points.map(({ lat }) => lat);
  const { width, height } = map.getContainer().getBoundingClientRect();
  const { left, top, right, bottom } = freePart(map);
  map.fitBounds(
    [
      [Math.min(...lons), Math.min(...lats)],
      [Math.max(...lons), Math.max(...lats)],
    ],
    {
      padding: {
        left: left + margin,
        top: top + edgeOf(bottom - top),
        right: width - right + margin,
        bottom: height - bottom + edgeOf(bottom - top),
      },
      maxZoom: nearZoom,
      speed: 2.2,
    },
  );
}

/** Less of a margin where there is little room. */
const edgeOf = (px: number): number => Math.min(margin, px / 4);
