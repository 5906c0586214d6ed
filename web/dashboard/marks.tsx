import {
  type SentDay,
  type SentMarks,
  type SentOutcome,
  sentOutcomes,
} from "#src/contract/dashboard.ts";
import { Held, Refused } from "#web/dashboard/mark-reasons.tsx";
import { Section } from "#web/dashboard/section.tsx";
import { marks } from "#web/dashboard/state.ts";
import { number, share } from "#web/kit/numbers.ts";
import { Loaded } from "#web/kit/resource.tsx";
import { Table } from "#web/kit/table.tsx";

const meanings: Record<SentOutcome, string> = {
  published: "changed what drivers see",
  confirmed: "support the status that drivers see",
  pending: "wait for another person",
  conflict: "disagree with others: both versions are shown",
  superseded: "arrived late: newer marks had already decided the status",
  expired: "were over 24 hours old when they arrived",
  queued: "accepted, not processed yet",
  held: "wait for the operator's review",
  rejected: "refused by the operator's review",
  withdrawn: "withdrawn by the operator, or taken back on the map",
  failed: "an error of the service: the operator can see it",
};

/** What became of the marks that were sent. */
export const Marks = () => (
  <Section id="marks" title="Marks by outcome">
    <Loaded of={marks}>{(value) => <Outcomes sent={value} />}</Loaded>
  </Section>
);

interface Line {
  outcome: SentOutcome;
  partner: number;
  widget: number;
  today: number;
}

function Outcomes({ sent: { days, counted_max: max } }: { sent: SentMarks }) {
  const lines = linesOf(days);
  const total = lines.reduce((sum, { partner, widget }) => sum + partner + widget, 0);
  return (
    <>
      <p class="soft small">
        Accepted marks of the last {days.length} days (UTC): from your servers, and by drivers on
        your map.
        {total >= max && ` Only the newest ${number(max)} marks of each key are counted.`}
      </p>
      <Table
        caption="Marks by outcome"
        rows={lines}
        id={({ outcome }) => outcome}
        empty={
          <p>
            No marks yet. Send one with <code>POST /stations/{"{id}"}/report</code>.
          </p>
        }
        columns={[
          {
            name: "Outcome",
            cell: ({ outcome }) => (
              <span>
                <strong>{outcome}</strong> <span class="soft small">{meanings[outcome]}</span>
              </span>
            ),
            by: ({ outcome }) => outcome,
          },
          {
            name: "Servers",
            cell: ({ partner }) => number(partner),
            by: ({ partner }) => partner,
            numeric: true,
          },
          {
            name: "Map",
            cell: ({ widget }) => number(widget),
            by: ({ widget }) => widget,
            numeric: true,
          },
          {
            name: "Share",
            cell: ({ partner, widget }) => share(partner + widget, total),
            by: ({ partner, widget }) => partner + widget,
            numeric: true,
          },
          {
            name: "Today",
            cell: ({ today }) => number(today),
            by: ({ today }) => today,
            numeric: true,
          },
        ]}
      />
      <Held days={days} />
      <Refused />
    </>
  );
}

function linesOf(days: readonly SentDay[]): Line[] {
  const sum = (outcome: SentOutcome, source: "partner" | "widget", of = days): number =>
    of.reduce((all, day) => all + (day[source][outcome] ?? 0), 0);
  return sentOutcomes
    .map((outcome) => ({
      outcome,
      partner: sum(outcome, "partner"),
      widget: sum(outcome, "widget"),
      today: sum(outcome, "partner", days.slice(0, 1)) + sum(outcome, "widget", days.slice(0, 1)),
    }))
    .filter(({ partner, widget }) => partner + widget > 0);
}
