import { shortNumber } from "#web/kit/numbers.ts";
import { language } from "#web/kit/words.ts";

export interface Bar {
  /** `Sat 21 Nov` */
  name: string;
  /** The lowest part of the bar first. */
  parts: readonly number[];
}

export const sumOf = ({ parts }: Bar): number => parts.reduce((all, one) => all + one, 0);

const height = 220;
// Russian writes `100 тыс.` where English has `100K`.
const left = language === "ru" ? 66 : 44;
const [right, top, bottom] = [4, 10, 26];
const nameWidth = 112;

/** The picture of stacked bars, `width` pixels wide; `choose` gets the number of the bar that is pointed at. */
export function BarChart({
  bars,
  colours,
  width,
  chosen,
  choose,
}: {
  bars: readonly Bar[];
  /** The colours of each bar's parts. */
  colours: readonly string[];
  width: number;
  chosen: number;
  choose: (n: number) => void;
}) {
  const ticks = ticksOf(Math.max(...bars.map(sumOf), 1));
  // At the first layout the chart may be narrower than its axis.
  const step = Math.max(1, (width - left - right) / bars.length);
  const y = (value: number): number =>
    top + (height - top - bottom) * (1 - value / (ticks.at(-1) ?? 1));
  const last = bars.length - 1;

  const point = ({ clientX, currentTarget }: PointerEvent): void => {
    const { x } = (currentTarget as Element).getBoundingClientRect();
    choose(Math.floor((clientX - x - left) / step));
  };

  return (
    <svg
      class="chart"
      width={width}
      height={height}
      aria-hidden="true"
      onPointerMove={point}
      onPointerDown={point}
    >
      {ticks.map((tick) => (
        <g key={tick}>
          <line class="grid" x1={left} x2={width - right} y1={y(tick)} y2={y(tick)} />
          <text class="axis" x={left - 8} y={y(tick) + 4} text-anchor="end">
            {shortNumber(tick)}
          </text>
        </g>
      ))}
      <rect
        class="chosen"
        x={left + chosen * step}
        y={top}
        width={step}
        height={height - top - bottom}
      />
      {bars.map((bar, n) => (
        <Stack
          key={bar.name}
          parts={bar.parts}
          colours={colours}
          x={left + (n + 0.14) * step}
          width={Math.max(step * 0.72, 1)}
          y={y}
        />
      ))}
      {named(bars.length, step).map((n) => (
        <text
          key={n}
          class="axis"
          x={n === last ? width - right : left + (n + 0.5) * step}
          y={height - 8}
          text-anchor={n === last ? "end" : "middle"}
        >
          {bars[n]!.name}
        </text>
      ))}
    </svg>
  );
}

function Stack({
  parts,
  colours,
  x,
  width,
  y,
}: {
  parts: readonly number[];
  colours: readonly string[];
  x: number;
  width: number;
  y: (value: number) => number;
}) {
  let below = 0;
  return (
    <g>
      {parts.map((value, part) => {
        const [from, to] = [y(below), y(below + value)];
        below += value;
        // A line of ground between the parts tells them apart where colours do not.
        const gap = part > 0 && from - to > 3 ? 1 : 0;
        return value === 0 ? null : (
          <rect
            key={part}
            fill={colours[part]}
            x={x}
            y={to}
            width={width}
            height={Math.max(from - to - gap, 0.5)}
            rx={Math.min(2, width / 4)}
          />
        );
      })}
    </g>
  );
}

/** Zero to a round number at or above `max`, in at most five round steps. */
function ticksOf(max: number): number[] {
  const power = 10 ** Math.floor(Math.log10(max));
  const step = Math.max(
    1,
    [0.2, 0.5, 1, 2, 5].map((n) => n * power).find((one) => max / one <= 5) ?? power,
  );
  const count = Math.ceil(max / step);
  return Array.from({ length: count + 1 }, (_, n) => n * step);
}

/** The bars with a name below: the last one, and others at a distance that leaves room for the names. */
function named(count: number, step: number): number[] {
  const every = Math.max(1, Math.ceil(nameWidth / step));
  const marks = Array.from({ length: Math.ceil(count / every) }, (_, n) => count - 1 - n * every);
  // The first one's name would stand out on the left.
  return marks.filter((n) => (n + 0.5) * step + left > nameWidth / 2);
}
