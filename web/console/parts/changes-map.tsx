import { useEffect, useMemo, useState } from "preact/hooks";
import { useWidth } from "#web/kit/bars.tsx";
import type { ConsoleRollbackChange } from "#src/contract/console-review.ts";
import type { ServedStatus } from "#src/domain/vocabulary.ts";
import type { Land } from "#web/console/parts/land.ts";
import { fitView, type MapView, metresPerPx, placeIn } from "#web/kit/map-view.ts";
import { metres, niceBelow } from "#web/console/parts/mini-map.tsx";
import { statusWord } from "#web/console/parts/status.tsx";
import { say } from "#web/console/words.ts";
import { number } from "#web/kit/numbers.ts";
import { theme } from "#web/kit/theme.ts";
import { mapColours } from "#web/widget/colours.ts";
import { signs } from "#web/widget/signs.ts";

interface Placed extends ConsoleRollbackChange {
  lat: number;
  lon: number;
}

/** Stations that change alike. */
interface Kind {
  change: "status" | "details" | "none";
  before: ServedStatus;
  after: ServedStatus;
  stations: number;
}

const heightOf = (width: number): number => Math.min(420, Math.max(220, Math.round(width * 0.55)));

/**
 * Stations of a decision on the bundled land, with their status before and after it by shape and colour
 * (decisions 13.23). It is a picture: the list of the same stations is beside it.
 */
export function ChangesMap({ changes }: { changes: readonly ConsoleRollbackChange[] }) {
  const [width, box] = useWidth();
  const placed = useMemo(() => changes.filter(isPlaced), [changes]);
  const view = useMemo(
    () => (width === 0 ? null : fitView(placed, width, heightOf(width))),
    [placed, width],
  );
  const land = useLand(view);
  if (placed.length === 0) return null;
  const kinds = kindsOf(placed);
  const { sea, land: ground, coast } = mapColours[theme.value];
  return (
    <figure class="changes-map">
      <div ref={box}>
        {view !== null && (
          <svg
            viewBox={`0 0 ${view.width} ${view.height}`}
            width={view.width}
            height={view.height}
            role="img"
            aria-label={say("Map. {figures}", { figures: figures(kinds, placed.length) })}
          >
            {/* No station stands in the sea while the land is being read, or when it cannot be. */}
            <rect
              width={view.width}
              height={view.height}
              fill={land.areas.length === 0 ? ground : sea}
            />
            {land.areas.map((area, n) => (
              <path key={n} class="land" d={area} fill={ground} fill-rule="evenodd" />
            ))}
            <path d={land.coast} fill="none" stroke={coast} />
            {/* Changed stations lie above the others. */}
            {placed.toReversed().map((one) => (
              <Station key={one.station_id} change={one} at={placeIn(view, one)} />
            ))}
            <ScaleBar view={view} />
          </svg>
        )}
      </div>
      <figcaption>
        <ul>
          {kinds.map((kind) => (
            <li key={`${kind.change} ${kind.before} ${kind.after}`}>
              <svg viewBox="-21 -11 42 22" width={42} height={22} aria-hidden="true">
                <Signs {...kind} />
              </svg>
              {kindWords(kind)}: {number(kind.stations)}
            </li>
          ))}
        </ul>
      </figcaption>
    </figure>
  );
}

const noLand: Land = { areas: [], coast: "" };

/** The land of a view. Empty until it is loaded: the stations do not wait for it. */
export function useLand(view: MapView | null): Land {
  const [read, setRead] = useState<{ of: MapView; land: Land } | null>(null);
  useEffect(() => {
    if (view === null) return;
    // Loads the reader of tiles, which no other page of the console needs.
    void import("#web/console/parts/land.ts")
      .then(({ landIn }) => landIn(view))
      .then((land) => setRead({ of: view, land }))
      .catch(() => setRead(null));
  }, [view]);
  return read !== null && read.of === view ? read.land : noLand;
}

const isPlaced = (change: ConsoleRollbackChange): change is Placed =>
  change.lat !== null && change.lon !== null;

function Station({ change, at: [x, y] }: { change: Placed; at: [x: number, y: number] }) {
  const { station, station_id: id } = change;
  const kind = kindOf(change);
  return (
    <g transform={`translate(${x.toFixed(1)} ${y.toFixed(1)})`} data-station={id}>
      <title>{`${station || id}: ${kindWords(kind)}`}</title>
      <Signs {...kind} />
    </g>
  );
}

/** Before and after in one frame; a status that stays is one sign, ringed where other details change. */
function Signs({ change, before, after }: Omit<Kind, "stations">) {
  if (change === "status")
    return (
      <>
        <rect class="frame" x={-20} y={-10} width={40} height={20} rx={10} />
        <Sign status={before} x={-10} size={13} />
        <path class="arrow" d="M-1.5 -3.5L2 0L-1.5 3.5" />
        <Sign status={after} x={10.5} size={15} />
      </>
    );
  return (
    <>
      {change === "details" && <circle class="frame" r={10} />}
      <Sign status={after} x={0} size={13} />
    </>
  );
}

/** The sign of the public map. */
function Sign({ status, x, size }: { status: ServedStatus; x: number; size: number }) {
  const { outline, mark, colour } = signs[status];
  return (
    <g transform={`translate(${x - size / 2} ${-size / 2}) scale(${size / 24})`}>
      <path class="outline" d={outline} style={{ fill: `var(${colour})` }} />
      <path class="mark" d={mark} />
    </g>
  );
}

export function ScaleBar({ view }: { view: MapView }) {
  const perPx = metresPerPx(view);
  const bar = niceBelow(90 * perPx);
  // Over a continent the scale is another one at each edge.
  if (bar > 1_000_000) return null;
  const [x, y] = [10, view.height - 10];
  return (
    <g class="scale">
      <path d={`M${x} ${y - 5}v5h${bar / perPx}v-5`} />
      <text x={x + 4} y={y - 5}>
        {metres(bar)}
      </text>
    </g>
  );
}

function kindOf({ before, after }: Placed): Omit<Kind, "stations"> {
  const isSame = JSON.stringify(before) === JSON.stringify(after);
  const change = before.status !== after.status ? "status" : isSame ? "none" : "details";
  return { change, before: before.status, after: after.status };
}

/** The changes of a status first, the most frequent in front. */
function kindsOf(placed: readonly Placed[]): Kind[] {
  const found = new Map<string, Kind>();
  for (const one of placed) {
    const kind = kindOf(one);
    const name = Object.values(kind).join(" ");
    found.set(name, { ...kind, stations: (found.get(name)?.stations ?? 0) + 1 });
  }
  const order = ["status", "details", "none"];
  return [...found.values()].sort(
    (a, b) => order.indexOf(a.change) - order.indexOf(b.change) || b.stations - a.stations,
  );
}

const kindWords = ({ change, before, after }: Omit<Kind, "stations">): string =>
  change === "status"
    ? `${statusWord(before)} → ${statusWord(after)}`
    : change === "details"
      ? say("{status}, only details change", { status: statusWord(after) })
      : say("{status}, stays as it is", { status: statusWord(after) });

const figures = (kinds: readonly Kind[], stations: number): string =>
  `${say("{n} {n|station|stations}", { n: stations })}. ${kinds
    .map((kind) => `${kindWords(kind)}: ${number(kind.stations)}`)
    .join("; ")}.`;
