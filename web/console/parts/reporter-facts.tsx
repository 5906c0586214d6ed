import type { ConsoleReporter } from "#src/contract/console.ts";
import { statusWord } from "#web/console/parts/status.tsx";
import { Ago } from "#web/kit/time.tsx";

/** Since when a reporter is known, and what it did in the last 7 days. */
export function ReporterFacts({ reporter }: { reporter: ConsoleReporter }) {
  const { id, first_seen: seen, marks, said, stations, held, rejected } = reporter;
  const kinds = Object.entries(said)
    .filter(([, n]) => n > 0)
    .map(([status, n]) => `${n} ${statusWord(status).toLowerCase()}`);
  return (
    <>
      #{id}, first seen {seen === null ? "with this mark" : <Ago at={seen} />}; in 7 days {marks}{" "}
      {marks === 1 ? "mark" : "marks"} at {stations} {stations === 1 ? "station" : "stations"}
      {kinds.length > 0 && ` (${kinds.join(", ")})`}, {held} held, {rejected} rejected.
    </>
  );
}
