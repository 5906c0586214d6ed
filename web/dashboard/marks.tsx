import {
  type SentDay,
  type SentMarks,
  type SentOutcome,
  sentOutcomes,
} from "#src/contract/dashboard.ts";
import { Held, HeldNotice, Refused } from "#web/dashboard/mark-reasons.tsx";
import { dayWords } from "#web/dashboard/days.ts";
import { Section } from "#web/dashboard/section.tsx";
import { marks } from "#web/dashboard/state.ts";
import { Bars } from "#web/kit/bars.tsx";
import { share } from "#web/kit/numbers.ts";
import { Loaded } from "#web/kit/resource.tsx";
import { counted, Table } from "#web/kit/table.tsx";
import { say, sayWith, type Text } from "#web/dashboard/words.ts";

const meanings: Record<SentOutcome, Text> = {
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

/** Outcomes of the marks that were sent. */
export const Marks = () => (
  <Section id="marks" title={say("Marks by outcome")}>
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
        {say(
          "Accepted marks of the last {n} days (UTC): from your servers, and by drivers on your map.",
          { n: days.length },
        )}
        {total >= max &&
          ` ${say("Only the newest {n} marks of each key are counted.", { n: max })}`}
      </p>
      <HeldNotice days={days} total={total} />
      {total > 0 && (
        <Bars
          label={say("Marks per day")}
          unit={say("marks")}
          names={[say("Taken"), say("On review"), say("Refused or withdrawn")]}
          bars={days.map(barOf).reverse()}
          own={["var(--held)", "var(--refused)"]}
        />
      )}
      <Table
        caption={say("Marks by outcome")}
        rows={lines}
        id={({ outcome }) => outcome}
        empty={
          <p>
            {sayWith("No marks yet. Send one with {call}.", {
              call: <code>POST /stations/{"{id}"}/report</code>,
            })}
          </p>
        }
        columns={[
          {
            name: say("Outcome"),
            of: "outcome",
            cell: (outcome) => (
              <span>
                <strong>{say(outcome)}</strong>{" "}
                <span class="soft small">{say(meanings[outcome])}</span>
              </span>
            ),
          },
          counted(say("Servers"), "partner"),
          counted(say("Map"), "widget"),
          {
            name: say("Share"),
            cell: ({ partner, widget }) => share(partner + widget, total),
            by: ({ partner, widget }) => partner + widget,
            numeric: true,
          },
          counted(say("Today"), "today"),
        ]}
      />
      <Held days={days} />
      <Refused />
    </>
  );
}

const notTaken: readonly SentOutcome[] = ["rejected", "withdrawn", "failed"];

/** A day's marks: those that count or may still, those on review, and those that do not count. */
function barOf({ date, partner, widget }: SentDay) {
  const of = (outcome: SentOutcome): number => (partner[outcome] ?? 0) + (widget[outcome] ?? 0);
  const sum = (some: readonly SentOutcome[]): number => some.reduce((all, one) => all + of(one), 0);
  const [all, held, lost] = [sum(sentOutcomes), of("held"), sum(notTaken)];
  return { name: dayWords(date), parts: [all - held - lost, held, lost] };
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
