import type { ConsoleHeldMark } from "#src/contract/console-review.ts";
import { say } from "#web/console/words.ts";
import { tenths } from "#web/kit/numbers.ts";

const half = 100;
const nearM = 500;
const leastM = 700;

/**
 * A map of a held mark: the station in the middle with the distance within which a mark counts as made there, the
 * reporter's position with its accuracy, and the stations of the other held marks around. North is up.
 */
export function MiniMap({
  mark,
  others,
}: {
  mark: ConsoleHeldMark;
  others: readonly ConsoleHeldMark[];
}) {
  const at = (lat: number, lon: number): [x: number, y: number] => [
    (lon - mark.station_lon) * Math.cos((mark.station_lat * Math.PI) / 180) * 111_320,
    (mark.station_lat - lat) * 111_320,
  ];
  const own = mark.lat === null || mark.lon === null ? null : at(mark.lat, mark.lon);
  const away = own === null ? 0 : Math.hypot(...own);
  const reach = Math.max(leastM, away * 1.25);
  const scale = half / reach;
  const bar = niceBelow(reach * 0.6);
  const around = [...new Map(others.map((one) => [one.station_id, one])).values()]
    .filter((one) => one.station_id !== mark.station_id)
    .map((one) => ({ id: one.station_id, place: at(one.station_lat, one.station_lon) }))
    .filter(({ place: [x, y] }) => Math.hypot(x, y) < reach);
  return (
    <figure class="mini-map">
      <svg viewBox="-100 -100 200 200" role="img" aria-label={words(own === null ? null : away)}>
        <circle class="near" r={nearM * scale} />
        {around.map(({ id, place: [x, y] }) => (
          <circle key={id} class="other" cx={x * scale} cy={y * scale} r={4}>
            <title>{say("Another held mark at {id}", { id })}</title>
          </circle>
        ))}
        {own !== null && (
          <>
            {mark.acc_m !== null && (
              <circle
                class="accuracy"
                cx={own[0] * scale}
                cy={own[1] * scale}
                r={Math.min(mark.acc_m * scale, 2 * half)}
              />
            )}
            <line x1={0} y1={0} x2={own[0] * scale} y2={own[1] * scale} />
            <circle class="reporter" cx={own[0] * scale} cy={own[1] * scale} r={6} />
          </>
        )}
        <rect class="station" x={-7} y={-7} width={14} height={14} rx={3} />
        <path class="scale" d={`M-92 88v4h${bar * scale}v-4`} />
        <text x={-92} y={82}>
          {metres(bar)}
        </text>
      </svg>
      <figcaption class="soft">{words(own === null ? null : away)}</figcaption>
    </figure>
  );
}

const words = (away: number | null): string =>
  away === null
    ? say("sent without a position")
    : say("sent {distance} from the station", { distance: metres(away) });

export const metres = (m: number): string =>
  m < 1000
    ? say("{n} m", { n: String(Math.round(m)) })
    : say("{n} km", { n: m < 10_000 ? tenths(m / 1000) : String(Math.round(m / 1000)) });

export function niceBelow(m: number): number {
  const power = 10 ** Math.floor(Math.log10(m));
  const digit = m / power;
  return (digit >= 5 ? 5 : digit >= 2 ? 2 : 1) * power;
}
