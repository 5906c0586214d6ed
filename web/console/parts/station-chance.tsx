import type { ConsoleChance } from "#src/contract/console-review.ts";
import { hourMs } from "#src/domain/units.ts";
import { statusWord } from "#web/console/parts/status.tsx";
import { say } from "#web/console/words.ts";
import { useWidth } from "#web/kit/bars.tsx";
import { Loaded, type Resource } from "#web/kit/resource.tsx";
import { locale } from "#web/kit/words.ts";

const height = 190;
const [left, right, top, bottom] = [48, 8, 10, 44];
const [stripY, stripHeight] = [height - bottom + 8, 10];
/** No line over a time in which nothing was known. */
const gapMs = hourMs;

/** A station's chance over two days, with the marks on it and what was served below. */
export function StationChance({ of }: { of: Resource<ConsoleChance> }) {
  return (
    <div class="card">
      <h2>{say("Chance of fuel, 48 hours")}</h2>
      <Loaded of={of}>
        {(chance) =>
          chance.points.length === 0 ? (
            <p class="empty">{say("No mark of the last days counts here.")}</p>
          ) : (
            <>
              <Chart chance={chance} />
              <p class="soft">
                {say(
                  "The line is worked out anew from the marks, with what is known of lies by now: it may differ a little from what was served. Round: a mark that says fuel; square: one that says none. Below: the status that was served.",
                )}
              </p>
            </>
          )
        }
      </Loaded>
    </div>
  );
}

function Chart({ chance: { from, until, points, marks, runs } }: { chance: ConsoleChance }) {
  const [width, box] = useWidth();
  const x = (at: number): number =>
    left + ((Math.max(at, from) - from) / (until - from)) * Math.max(0, width - left - right);
  const y = (percent: number): number => top + (1 - percent / 100) * (height - top - bottom);
  const path = points
    .map(({ at, chance }, n) => {
      const isGap = n === 0 || at - points[n - 1]!.at > gapMs;
      return `${isGap ? "M" : "L"}${x(at).toFixed(1)} ${y(chance).toFixed(1)}`;
    })
    .join("");
  const all = points.map(({ chance }) => chance);
  const words = say(
    "Now {now} %; in 48 hours between {low} and {high} %, with {n} {n|mark|marks}.",
    { now: all.at(-1)!, low: Math.min(...all), high: Math.max(...all), n: marks.length },
  );
  return (
    <>
      <div class="chance-chart" ref={box}>
        <svg class="chart" width={width} height={height} role="img" aria-label={words}>
          {[0, 50, 100].map((percent) => (
            <g key={percent}>
              <line
                class="grid-line"
                x1={left}
                x2={width - right}
                y1={y(percent)}
                y2={y(percent)}
              />
              <text class="axis" x={left - 6} y={y(percent) + 4} text-anchor="end">
                {percent} %
              </text>
            </g>
          ))}
          {runs.map((run) => (
            <rect
              key={run.from}
              x={x(run.from)}
              y={stripY}
              width={Math.max(0, x(run.to ?? until) - x(run.from))}
              height={stripHeight}
              fill={`var(--${run.status})`}
            >
              <title>{statusWord(run.status)}</title>
            </rect>
          ))}
          <path class="line" d={path} />
          {marks.map(({ id, at, fuel, after }) =>
            fuel ? (
              <circle key={id} cx={x(at)} cy={y(after)} r="4.5" fill="var(--yes)" />
            ) : (
              <rect key={id} x={x(at) - 4} y={y(after) - 4} width="8" height="8" fill="var(--no)" />
            ),
          )}
          {[0, 12, 24, 36].map((hours) => (
            <text key={hours} class="axis" x={x(from + hours * hourMs)} y={height - 6}>
              {hour.format(from + hours * hourMs)}
            </text>
          ))}
        </svg>
      </div>
      <p>{words}</p>
    </>
  );
}

const hour = new Intl.DateTimeFormat(locale, {
  ...{ weekday: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23" },
});
