import type { ConsoleReporter } from "#src/contract/console-review.ts";
import { statusWord } from "#web/console/parts/status.tsx";
import { say, sayWith } from "#web/console/words.ts";
import { Ago } from "#web/kit/time.tsx";

/** The time since which a reporter is known, and its marks of the last 7 days. */
export function ReporterFacts({ reporter }: { reporter: ConsoleReporter }) {
  const { id, first_seen: seen, marks, said, stations, held, rejected } = reporter;
  const kinds = Object.entries(said)
    .filter(([, n]) => n > 0)
    .map(([status, n]) =>
      say("{n} {status}", { n: String(n), status: statusWord(status).toLowerCase() }),
    );
  const many = say("{n} {n|mark|marks}", { n: String(marks) });
  const at = say("{n} {n|station|stations}", { n: String(stations) });
  return (
    <>
      {sayWith(
        "#{id}, first seen {when}; in 7 days {marks} at {stations}, {held} held, {rejected} rejected.",
        {
          id,
          when: seen === null ? say("with this mark") : <Ago at={seen} />,
          marks: many,
          stations: kinds.length > 0 ? `${at} (${kinds.join(", ")})` : at,
          held: String(held),
          rejected: String(rejected),
        },
      )}
    </>
  );
}
