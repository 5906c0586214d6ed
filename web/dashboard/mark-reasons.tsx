import {
  type CallError,
  type CallErrors,
  type HeldReason,
  heldReasons,
  type SentDay,
} from "#src/contract/dashboard.ts";
import { Call, Problem } from "#web/dashboard/cells.tsx";
import { errors } from "#web/dashboard/state.ts";
import { number } from "#web/kit/numbers.ts";
import { Loaded } from "#web/kit/resource.tsx";
import { Table } from "#web/kit/table.tsx";
import { say, type Text } from "#web/dashboard/words.ts";

const meanings: Record<HeldReason, Text> = {
  "mass-no": "many newcomers said “no” within an hour",
  source: "your marks changed more to the worse than usual",
  city: "marks of the city changed more to the worse than usual",
  block: "the operator blocked the author or the network",
};

/** Marks that wait for the operator's review, by the reason. */
export function Held({ days }: { days: readonly SentDay[] }) {
  const lines = heldReasons
    .map((reason) => ({
      reason,
      marks: days.reduce((sum, { held }) => sum + (held[reason] ?? 0), 0),
      today: days[0]?.held[reason] ?? 0,
    }))
    .filter(({ marks }) => marks > 0);
  if (lines.length === 0) return null;
  return (
    <>
      <h3>{say("Held marks by reason")}</h3>
      <Table
        caption={say("Held marks by reason")}
        rows={lines}
        id={({ reason }) => reason}
        empty=""
        columns={[
          {
            name: say("Reason"),
            cell: ({ reason }) => (
              <span>
                <strong>{say(reason)}</strong>{" "}
                <span class="soft small">{say(meanings[reason])}</span>
              </span>
            ),
            by: ({ reason }) => reason,
          },
          {
            name: say("Marks"),
            cell: ({ marks }) => number(marks),
            by: ({ marks }) => marks,
            numeric: true,
          },
          {
            name: say("Today"),
            cell: ({ today }) => number(today),
            by: ({ today }) => today,
            numeric: true,
          },
        ]}
      />
    </>
  );
}

const takesMarks = /^POST \/(reports$|(widget\/)?stations\/\{station_id\}\/(report|confirm)$)/;

/** Marks that were not taken, by the problem that their call was answered with (decisions 12.13). */
export const Refused = () => (
  <Loaded of={errors} quiet>
    {(value) => <RefusedMarks found={value} />}
  </Loaded>
);

function RefusedMarks({ found: { days, partner, widget } }: { found: CallErrors }) {
  const rows: CallError[] = [...partner, ...widget].filter(
    ({ method, code }) => code !== "" && takesMarks.test(method),
  );
  if (rows.length === 0) return null;
  return (
    <>
      <h3>{say("Refused marks by reason")}</h3>
      <Table
        caption={say("Refused marks by reason")}
        rows={rows}
        id={({ method, code }) => `${method} ${code}`}
        empty=""
        perPage={10}
        columns={[
          { name: say("Reason"), cell: Problem, by: ({ code }) => code },
          {
            name: say("Call"),
            cell: Call,
            by: ({ method }) => method,
          },
          {
            name: say("Calls in {n} days", { n: days }),
            cell: ({ total }) => number(total),
            by: ({ total }) => total,
            numeric: true,
          },
          {
            name: say("Marks in batches"),
            cell: ({ marks }) => number(marks),
            by: ({ marks }) => marks,
            numeric: true,
          },
        ]}
      />
    </>
  );
}
