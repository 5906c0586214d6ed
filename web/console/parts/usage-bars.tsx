import type { ConsoleUsageDay } from "#src/contract/console.ts";
import { say } from "#web/console/words.ts";

const [width, height, gap] = [280, 72, 3];

/** Requests of a partner's servers by day, today right, with its daily quota as a line. */
export function UsageBars({ days, daily }: { days: readonly ConsoleUsageDay[]; daily: number }) {
  const shown = days.toReversed();
  const most = Math.max(0, ...shown.map((day) => day.requests));
  const top = Math.max(1, most) * 1.1;
  const each = width / Math.max(1, shown.length);
  const y = (requests: number): number => height - (requests / top) * height;
  const words = say("Requests per day, {n} days, maximum {peak} of {daily} allowed", {
    n: shown.length,
    peak: most,
    daily,
  });
  return (
    <figure class="bars">
      <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-label={words}>
        {shown.map((day, n) => (
          <rect
            key={day.date}
            class={day.requests >= daily ? "full" : ""}
            x={n * each}
            y={y(day.requests)}
            width={each - gap}
            height={Math.max(day.requests > 0 ? 2 : 0, height - y(day.requests))}
            rx={2}
          >
            <title>
              {say("{date}: {requests} requests, {errors} errors", {
                date: day.date,
                requests: day.requests,
                errors: day.errors,
              })}
            </title>
          </rect>
        ))}
        {daily <= top && <line x1={0} x2={width} y1={y(daily)} y2={y(daily)} />}
      </svg>
      <figcaption class="soft">
        {say("busiest day {peak}, quota {daily}", { peak: most, daily })}
      </figcaption>
    </figure>
  );
}
