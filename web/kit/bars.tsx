import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { type Bar, BarChart, sumOf } from "#web/kit/bar-chart.tsx";
import { number } from "#web/kit/numbers.ts";

/**
 * Stacked bars. One of them is chosen, by pointer or arrow keys, and the legend below shows its values; to those who
 * do not see it the whole is a slider that speaks them.
 *
 * @param names of the parts of each bar, at most six besides those that have a colour of their own
 * @param own colours of the last parts, for what is not like the others
 * @param unit the unit of the counts, in the plural
 */
export function Bars({
  label,
  names,
  bars,
  unit,
  own = [],
}: {
  label: string;
  names: readonly string[];
  bars: readonly Bar[];
  unit: string;
  own?: readonly string[];
}) {
  const usual = names.length - own.length;
  const colours = names.map((_, part) => own[part - usual] ?? `var(--part${part})`);
  const [width, box] = useWidth();
  const [wanted, setWanted] = useState<number | null>(null);
  const last = bars.length - 1;
  const chosen = Math.min(wanted ?? last, last);
  const choose = (n: number): void => setWanted(Math.max(0, Math.min(last, n)));
  const bar = bars[chosen]!;

  const press = (event: KeyboardEvent): void => {
    const to = moves[event.key]?.(chosen, last);
    if (to === undefined) return;
    event.preventDefault();
    choose(to);
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
        {width > 0 && (
          <BarChart bars={bars} colours={colours} width={width} chosen={chosen} choose={choose} />
        )}
      </div>
      <p class="day">
        <strong>{bar.name}</strong> {number(sumOf(bar))} {unit}
      </p>
      <ul class="legend">
        {names.map((name, part) => (
          <li key={name}>
            <svg width="12" height="12" aria-hidden="true">
              <rect fill={colours[part]} width="12" height="12" rx="3" />
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

const spoken = (bar: Bar, names: readonly string[], unit: string): string =>
  [
    `${bar.name}: ${number(sumOf(bar))} ${unit}`,
    ...names.flatMap((name, part) => {
      const value = bar.parts[part] ?? 0;
      return value === 0 ? [] : [`${name} ${number(value)}`];
    }),
  ].join(", ");

/** The width of the element that `box` is put on, followed as it changes; 0 before it is known. */
export function useWidth() {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    setWidth(box.current!.clientWidth);
    const observer = new ResizeObserver(([entry]) => setWidth(entry!.contentRect.width));
    observer.observe(box.current!);
    return () => observer.disconnect();
  }, []);
  return [width, box] as const;
}
