import type { Overview, ShownDay } from "#src/contract/dashboard.ts";
import { dayWords } from "#web/dashboard/days.ts";
import { Section } from "#web/dashboard/section.tsx";
import { audience, overview, period } from "#web/dashboard/state.ts";
import { Bars } from "#web/kit/bars.tsx";
import { number, share } from "#web/kit/numbers.ts";
import { Loaded } from "#web/kit/resource.tsx";
import { type Column, counted, Table } from "#web/kit/table.tsx";
import { say } from "#web/dashboard/words.ts";

const periods = [7, 14, 30, 90];
const partsMax = 5;

/** Requests per day by method, as bars, as a table and as a file. */
export const Requests = () => (
  <Section
    id="requests"
    title={say("Requests per day")}
    tools={
      <div class="tools">
        <select
          aria-label={say("Period")}
          value={period.value}
          onChange={({ currentTarget }) => (period.value = Number(currentTarget.value))}
        >
          {periods.map((days) => (
            <option key={days} value={days}>
              {say("{n} days", { n: days })}
            </option>
          ))}
        </select>
        <a class="button" href={`api/usage.csv?days=${period.value}`} download>
          {say("Download CSV")}
        </a>
      </div>
    }
  >
    <Loaded of={overview} quiet>
      {(value) => <Days days={daysOf(value)} />}
    </Loaded>
  </Section>
);

const daysOf = ({ days, widget }: Overview): ShownDay[] =>
  audience.value === "partner" ? days : widget;

function Days({ days }: { days: readonly ShownDay[] }) {
  const total = days.reduce((sum, { requests, refused }) => sum + requests + refused, 0);
  if (total === 0) {
    return (
      <p class="empty">
        {audience.value === "partner"
          ? say("No requests with your secret keys in this period.")
          : say("No requests with your publishable keys in this period.")}
      </p>
    );
  }
  const { names, parts, own } = partsOf(days);
  const bars = days.map((day) => ({ name: dayWords(day.date), parts: parts(day) })).reverse();
  return (
    <>
      <Bars
        label={say("Requests per day by method")}
        unit={say("requests")}
        names={names}
        bars={bars}
        own={own}
      />
      <details>
        <summary>{say("Show as a table")}</summary>
        <Table
          caption={say("Requests per day by method")}
          columns={columnsOf(names, parts)}
          rows={days}
          id={({ date }) => date}
          empty=""
          perPage={14}
        />
      </details>
    </>
  );
}

/** The methods with the most requests by name, the others together, and what was refused before it was counted. */
function partsOf(days: readonly ShownDay[]) {
  const sums = new Map<string, number>();
  for (const { methods } of days) {
    for (const [name, n] of Object.entries(methods)) sums.set(name, (sums.get(name) ?? 0) + n);
  }
  const sorted = [...sums].sort(([, a], [, b]) => b - a).map(([name]) => name);
  const own = sorted.length <= partsMax + 1 ? sorted : sorted.slice(0, partsMax);
  const hasRest = own.length < sorted.length;
  const parts = ({ methods, requests }: ShownDay): number[] => {
    const counts = own.map((name) => methods[name] ?? 0);
    const rest = requests - counts.reduce((sum, n) => sum + n, 0);
    return hasRest ? [...counts, rest] : counts;
  };
  const names = hasRest ? [...own, say("Others")] : own;
  if (days.every(({ refused }) => refused === 0)) return { names, parts, own: [] };
  return {
    names: [...names, say("Refused, not counted")],
    parts: (day: ShownDay) => [...parts(day), day.refused],
    own: ["var(--refused)"],
  };
}

const columnsOf = (
  names: readonly string[],
  parts: (day: ShownDay) => number[],
): Column<ShownDay>[] => [
  {
    name: say("Day (UTC)"),
    of: "date",
    cell: (date) => <span class="whole">{dayWords(date)}</span>,
  },
  counted(say("Requests"), "requests"),
  ...names.map((name, part): Column<ShownDay> => ({
    name,
    cell: (day) => number(parts(day)[part] ?? 0),
    by: (day) => parts(day)[part] ?? 0,
    numeric: true,
  })),
  {
    name: say("Unchanged (304)"),
    cell: ({ not_modified, requests }) => share(not_modified, requests),
    by: ({ not_modified, requests }) => (requests === 0 ? 0 : not_modified / requests),
    numeric: true,
  },
  counted(say("Errors"), "errors"),
];
