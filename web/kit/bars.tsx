import { useEffect, useRef, useState } from "preact/hooks";
import { number, shortNumber } from "#web/kit/numbers.ts";

export interface Bar {
  /** `Sat 21 Nov` */
  name: string;
  /** One for each of `names`, the lowest part of the bar first. */
  parts: readonly number[];
}

const height = 220;
const [left, right, top, bottom] = [44, 4, 10, 26];

/**
 * Stacked bars. One of them is chosen, by pointer or arrow keys, and the legend below shows its values; to those who
 * do not see it the whole is a slider that speaks them.
 *
 * @param names of the parts, at most six
 * @param unit what is counted, in the plural
 */
export function Bars({
  label,
  names,
  bars,
  unit,
}: {
  label: string;
  names: readonly string[];
  bars: readonly Bar[];
  unit: string;
}) {
  const [width, box] = useWidth();
  const [wanted, choose] = useState<number | null>(null);
  const chosen = Math.min(wanted ?? bars.length - 1, bars.length - 1);
  const ticks = ticksOf(Math.max(...bars.map(sum), 1));
  const step = (width - left - right) / bars.length;
  const y = (value: number): number =>
    top + (height - top - bottom) * (1 - value / (ticks.at(-1) ?? 1));
  const bar = bars[chosen]!;

  const point = ({ offsetX }: PointerEvent): void =>
    choose(Math.max(0, Math.min(bars.length - 1, Math.floor((offsetX - left) / step))));
  const press = (event: KeyboardEvent): void => {
    const to = moves[event.key]?.(chosen, bars.length - 1);
    if (to === undefined) return;
    event.preventDefault();
    choose(Math.max(0, Math.min(bars.length - 1, to)));
  };

  return (
    <div class="bars">
      <div
        ref={box}
        role="slider"
        tabIndex={0}
        aria-label={label}
        aria-valuemin={1}
        aria-valuemax={bars.length}
        aria-valuenow={chosen + 1}
        aria-valuetext={spoken(bar, names, unit)}
        onKeyDown={press}
      >
        <svg
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
          {bars.map((one, n) => (
            <Stack
              key={one.name}
              parts={one.parts}
              x={left + n * step + step * 0.14}
              width={Math.max(step * 0.72, 1)}
              y={y}
            />
          ))}
          {marksOf(bars.length, step).map((n) => (
            <text
              key={n}
              class="axis"
              x={n === bars.length - 1 ? width - right : left + (n + 0.5) * step}
              y={height - 8}
              text-anchor={n === bars.length - 1 ? "end" : "middle"}
            >
              {bars[n]!.name}
            </text>
          ))}
        </svg>
      </div>
      <p class="day">
        <strong>{bar.name}</strong> {number(sum(bar))} {unit}
      </p>
      <ul class="legend">
        {names.map((name, part) => (
          <li key={name}>
            <svg width="12" height="12" aria-hidden="true">
              <rect class={`part${part}`} width="12" height="12" rx="3" />
            </svg>
            <span>{name}</span>
            <span class="numeric">{number(bar.parts[part] ?? 0)}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

const moves: Record<string, (chosen: number, last: number) => number> = {
  ArrowLeft: (chosen) => chosen - 1,
  ArrowDown: (chosen) => chosen - 1,
  ArrowRight: (chosen) => chosen + 1,
  ArrowUp: (chosen) => chosen + 1,
  Home: () => 0,
  End: (_, last) => last,
};

function Stack({
  parts,
  x,
  width,
  y,
}: {
  parts: readonly number[];
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
            class={`part${part}`}
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

const sum = ({ parts }: Bar): number => parts.reduce((all, one) => all + one, 0);

const spoken = (bar: Bar, names: readonly string[], unit: string): string =>
  [
    `${bar.name}: ${number(sum(bar))} ${unit}`,
    ...names.flatMap((name, part) => {
      const value = bar.parts[part] ?? 0;
      return value === 0 ? [] : [`${name} ${number(value)}`];
    }),
  ].join(", ");

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

/** Which bars are named below: the last, and each so far from the next that their names have room. */
function marksOf(count: number, step: number): number[] {
  const every = Math.max(1, Math.ceil(96 / step));
  return Array.from(
    { length: Math.ceil(count / every) },
    (_, n) => count - 1 - n * every,
  ).reverse();
}

/** The width of the element that `box` is put on, followed as it changes. */
function useWidth() {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(320);
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(entry!.contentRect.width));
    observer.observe(box.current!);
    return () => observer.disconnect();
  }, []);
  return [width, box] as const;
}
