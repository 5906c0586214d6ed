import { Button } from "#web/kit/button.tsx";
import { useRef, useState } from "preact/hooks";
import type { ConsoleMark } from "#src/contract/console.ts";
import { distanceM, type Point } from "#src/domain/geo.ts";
import { useWidth } from "#web/kit/bars.tsx";
import { ScaleBar, useLand } from "#web/console/parts/changes-map.tsx";
import { say } from "#web/console/words.ts";
import { fitView, type MapView, placeIn, pointAt, viewAround } from "#web/kit/map-view.ts";
import { theme } from "#web/kit/theme.ts";
import { mapColours } from "#web/widget/colours.ts";

interface Props {
  /** Where the station is served. */
  station: Point;
  pin: Point;
  marks: readonly Pick<ConsoleMark, "lat" | "lon">[];
  /** Takes the pin's new place; null if the viewer may not move it. */
  move: ((to: Point) => void) | null;
  /** What the dots are, if they are no marks. */
  dots?: string;
}

const height = 300;
const [firstZoom, leastZoom, mostZoom] = [14, 8, 18];
/** Within this, metres, the first view holds the station and the pin. */
const closeM = 700;

/**
 * The station, the places of its latest marks, and a pin to drag to another place. The two fields of degrees do the same
 * as the pin.
 */
export function PinMap({ station, pin, marks, move, dots }: Props) {
  const [width, box] = useWidth();
  const size = { width, height };
  const [zoom, setZoom] = useState<number | null>(null);
  /** The view stands still while the pin is dragged. */
  const [held, setHeld] = useState<MapView | null>(null);
  const isClose = distanceM(station, pin) < closeM;
  const wide = fitView([station, pin], width, height);
  const around =
    zoom !== null
      ? viewAround({ ...pin, zoom }, size)
      : isClose
        ? viewAround({ ...station, zoom: firstZoom }, size)
        : wide;
  const view = held ?? around;
  const land = useLand(
    useStill(width > 0 && zoom === null && !isClose && held === null ? wide : null),
  );
  const { sea, land: ground, coast } = mapColours[theme.value];
  const drag = (event: PointerEvent): void => {
    const frame = box.current?.getBoundingClientRect();
    if (frame === undefined || held === null || move === null) return;
    const [x, y] = [event.clientX - frame.left, event.clientY - frame.top];
    const { lat, lon } = pointAt(held.left + x / held.scale, held.top + y / held.scale);
    move({ lat: rounded(lat), lon: rounded(lon) });
  };
  const [x, y] = placeIn(view, pin);
  const [fromX, fromY] = placeIn(view, station);
  const zoomed = (by: number): void =>
    setZoom(Math.min(mostZoom, Math.max(leastZoom, (zoom ?? firstZoom) + by)));
  return (
    <figure class="pin-map">
      <div ref={box}>
        {width > 0 && (
          <svg
            {...size}
            viewBox={`0 0 ${width} ${height}`}
            role="img"
            aria-label={say("The station’s place, its latest marks, and the pin")}
          >
            <rect {...size} fill={land.areas.length === 0 ? ground : sea} />
            {land.areas.map((area, n) => (
              <path key={n} d={area} fill={ground} fill-rule="evenodd" />
            ))}
            <path d={land.coast} fill="none" stroke={coast} />
            <line x1={fromX} y1={fromY} x2={x} y2={y} />
            <rect class="station" x={fromX - 7} y={fromY - 7} width={14} height={14} rx={3} />
            {marks.map(
              ({ lat, lon }, n) =>
                lat !== null &&
                lon !== null && (
                  <circle
                    key={n}
                    class="other"
                    r={4}
                    cx={placeIn(view, { lat, lon })[0]}
                    cy={placeIn(view, { lat, lon })[1]}
                  />
                ),
            )}
            <g
              class={move === null ? "pin" : "pin movable"}
              transform={`translate(${x.toFixed(1)} ${y.toFixed(1)})`}
              onPointerDown={(event) => {
                if (move === null) return;
                event.currentTarget.setPointerCapture(event.pointerId);
                setHeld(view);
              }}
              onPointerMove={drag}
              onPointerUp={() => setHeld(null)}
              onPointerCancel={() => setHeld(null)}
            >
              <circle class="touch" cy={-16} r={24} />
              <path d="M0 0C-4 -9 -12 -14 -12 -22a12 12 0 0 1 24 0C12 -14 4 -9 0 0z" />
              <circle class="eye" cy={-22} r={4.5} />
            </g>
            <ScaleBar view={view} />
          </svg>
        )}
      </div>
      <figcaption>
        <span class="soft">
          {move !== null && `${say("Drag the pin to the station’s place.")} `}
          {dots ?? say("Dots: the latest marks.")}
        </span>
        <Button aria-label={say("Closer")} onClick={() => zoomed(1)}>
          +
        </Button>
        <Button aria-label={say("Further")} onClick={() => zoomed(-1)}>
          −
        </Button>
      </figcaption>
    </figure>
  );
}

/** The same object as long as the view is the same, so that its land is read once. */
function useStill(view: MapView | null): MapView | null {
  const last = useRef(view);
  if (JSON.stringify(last.current) !== JSON.stringify(view)) last.current = view;
  return last.current;
}

/** A metre at most. */
const rounded = (degrees: number): number => Math.round(degrees * 100_000) / 100_000;
