import { useEffect } from "preact/hooks";
import { placeIn } from "#web/kit/map-view.ts";
import { theme } from "#web/kit/theme.ts";
import { mapColours, streetColours } from "#web/widget/colours.ts";
import { zoomApart } from "#web/widget/groups.ts";
import { townPxPerRoot } from "#web/widget/looks.ts";
import { openCard, selected } from "#web/widget/panels.ts";
import { SketchedRing, SketchedSign, widthOf } from "#web/widget/parts/sketch-signs.tsx";
import { askLand, landIn, tileUnits } from "#web/widget/sketch-land.ts";
import { moveSketch, sketch, type Sketched, sketched, targetOf } from "#web/widget/sketch.ts";
import { goTo } from "#web/widget/start.ts";
import { cities, config } from "#web/widget/state.ts";

/** Distance beside a sign at which a finger still means it, pixels. */
const reachPx = 8;

/**
 * The map as it will be, without its library: land, towns, stations (decisions 15.42). It is hidden from
 * screen readers, because the list says the same.
 */
export const Sketch = () => {
  const view = sketch.value;
  useEffect(() => {
    if (view !== null) askLand(view);
  }, [view]);
  useEffect(() => {
    const fit = (): void => {
      if (sketch.peek() !== null) moveSketch(sketch.peek()!);
    };
    window.addEventListener("resize", fit);
    return () => window.removeEventListener("resize", fit);
  }, []);
  if (view === null) return null;
  const kind = config.value?.basemap.kind;
  const colours = {
    ...mapColours[theme.value],
    ...(kind === "pmtiles" ? streetColours[theme.value] : {}),
  };
  const land = landIn(view);
  const groups = sketched.value;
  const chosen = selected.value;
  const choose = (event: MouseEvent): void => {
    const named = (event.target as Element).closest<SVGElement>("[data-at]");
    const group = groups[Number(named?.dataset["at"] ?? -1)];
    const [station, ...others] = group?.stations ?? [];
    if (group === undefined || station === undefined) return;
    if (others.length === 0) openCard(station);
    else goTo(targetOf(group, Math.min(zoomApart(group, view.zoom) + 0.2, 16)));
  };
  return (
    <svg
      class="sketch"
      aria-hidden="true"
      style={{ background: land === null ? colours.land : colours.sea }}
      onClick={choose}
    >
      {kind === "bundled" ? (
        <g class="coast" stroke={colours.coast} stroke-width={Math.min(8, view.zoom) * 0.6}>
          {/* Beyond a tile's edge runs the line along which it was cut out. */}
          <clipPath id="tile">
            <rect width={tileUnits} height={tileUnits} />
          </clipPath>
          {land?.map((tile) => (
            <path
              key={tile.transform}
              d={tile.path}
              transform={tile.transform}
              clip-path="url(#tile)"
            />
          ))}
        </g>
      ) : null}
      <g class="land" fill={colours.land}>
        {land?.map((tile) => (
          <path key={tile.transform} d={tile.path} transform={tile.transform} />
        ))}
      </g>
      {kind === "bundled" && land !== null ? <Towns colour={colours.town} /> : null}
      {groups.map((group, at) => (
        <circle
          key={keyOf(group)}
          class="reach"
          data-at={at}
          cx={group.left}
          cy={group.top}
          r={widthOf(group, view.zoom) / 2 + reachPx}
        />
      ))}
      {groups.map((group, at) => {
        const [station] = group.stations;
        const Shape = group.stations.length === 1 ? SketchedSign : SketchedRing;
        return (
          <g
            key={keyOf(group)}
            class={group.stations.length === 1 ? "pin" : "ring"}
            data-at={at}
            transform={`translate(${group.left} ${group.top})`}
          >
            {station !== undefined && station.id === chosen?.id ? (
              <circle class="chosen" r="22" />
            ) : null}
            <Shape group={group} zoom={view.zoom} />
          </g>
        );
      })}
    </svg>
  );
};

const keyOf = ({ stations }: Sketched): string => `${stations[0]?.id} ${stations.length}`;

/** Soft patches where towns are. */
const Towns = ({ colour }: { colour: string }) => {
  const view = sketch.value;
  if (view === null) return null;
  return (
    <>
      <radialGradient id="town">
        <stop offset="20%" stop-color={colour} stop-opacity="0.9" />
        <stop offset="100%" stop-color={colour} stop-opacity="0" />
      </radialGradient>
      {cities.value.map((city) => {
        const [x, y] = placeIn(view, city);
        const r = Math.sqrt(city.population) * townPxPerRoot * 2 ** view.zoom;
        const isSeen = x > -r && x < view.width + r && y > -r && y < view.height + r;
        return isSeen ? (
          <circle key={`${city.name} ${city.region}`} cx={x} cy={y} r={r} fill="url(#town)" />
        ) : null;
      })}
    </>
  );
};
