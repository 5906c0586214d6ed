import {
  type CallError,
  type CallErrors,
  type HeldReason,
  heldReasons,
  type SentDay,
} from "#src/contract/dashboard.ts";
import { Call, Problem } from "#web/dashboard/cells.tsx";
import { errors } from "#web/dashboard/state.ts";
import { number, share } from "#web/kit/numbers.ts";
import { Loaded } from "#web/kit/resource.tsx";
import { counted, Table } from "#web/kit/table.tsx";
import { say, type Text } from "#web/dashboard/words.ts";

const meanings: Record<HeldReason, Text> = {
  "mass-no": "many newcomers said “no” within an hour",
  source: "your marks changed more to the worse than usual",
  city: "marks of the city changed more to the worse than usual",
  block: "the operator blocked the author or the network",
};

const advice: Record<HeldReason, Text> = {
  "mass-no":
    "Send one lasting user_ref for each user: the “no” of users who are known for a week is not held.",
  source:
    "Look whether one sender or a fault of yours sends “no”. If it is true, tell the operator what happens there.",
  city: "Nothing needs to be done: they count as soon as the operator has looked at the city.",
  block: "Ask the operator why; a blocked user's further marks wait as well.",
};

const heldLines = (days: readonly SentDay[]) =>
  heldReasons
    .map((reason) => ({
      reason,
      marks: days.reduce((sum, { held }) => sum + (held[reason] ?? 0), 0),
      today: days[0]?.held[reason] ?? 0,
    }))
    .filter(({ marks }) => marks > 0);

/** How many of the marks do not count until the operator has looked at them, and what the partner can do. */
export function HeldNotice({ days, total }: { days: readonly SentDay[]; total: number }) {
  const lines = heldLines(days);
  const held = lines.reduce((sum, { marks }) => sum + marks, 0);
  if (held === 0) return null;
  return (
    <div class="note held" role="status">
      <p>
        <strong>
          {say("{n} of {all} marks ({share}) wait for the operator's review.", {
            ...{ n: held, all: total, share: share(held, total) },
          })}
        </strong>
      </p>
      {lines.map(({ reason, marks }) => (
        <p key={reason}>
          {number(marks)}: {say(meanings[reason])}. {say(advice[reason])}
        </p>
      ))}
    </div>
  );
}

/** Marks that wait for the operator's review, by the reason. */
export function Held({ days }: { days: readonly SentDay[] }) {
  const lines = heldLines(days);
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
            of: "reason",
            cell: (reason) => (
              <span>
                <strong>{say(reason)}</strong>{" "}
                <span class="soft small">{say(meanings[reason])}</span>
              </span>
            ),
          },
          counted(say("Marks"), "marks"),
          counted(say("Today"), "today"),
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
          counted(say("Calls in {n} days", { n: days }), "total"),
          counted(say("Marks in batches"), "marks"),
        ]}
      />
    </>
  );
}
