import type { ConsoleChoices } from "#src/contract/console.ts";
import type { ConsoleLies } from "#src/contract/console-review.ts";
import { useLoaded } from "#web/console/api.ts";
import { selectionWords } from "#web/console/parts/selection.ts";
import { say } from "#web/console/words.ts";
import { Loaded } from "#web/kit/resource.tsx";
import { Table } from "#web/kit/table.tsx";

/** What the chances have learnt: who lies how often. */
export function ChancesPage() {
  return (
    <section>
      <h1>{say("Chances")}</h1>
      <p class="soft">
        {say(
          "Each mark is judged by the next two marks of others at its station. So the chance of fuel learns how often whom is to be believed. A high share is a reason to look, no proof; nothing is blocked by itself.",
        )}{" "}
        <a href="#/review">{say("Review")}</a>
      </p>
      <Lies />
    </section>
  );
}

const saysWord = (fuel: boolean): string => (fuel ? say("says fuel") : say("says none"));

function Lies() {
  const loading = useLoaded<ConsoleLies>("/lies");
  const choices = useLoaded<ConsoleChoices>("/choices").value.value;
  const nameOf = ({ key_id: key, feed }: ConsoleLies["sources"][number]): string =>
    key === null ? feed || say("A feed that is gone") : selectionWords({ key }, choices);
  const nobody = say("No mark has been judged yet.");
  const percent = (lies: number): string => `${lies} %`;
  const judged = { name: say("From judged marks"), of: "judged" as const, numeric: true };
  return (
    <Loaded of={loading}>
      {({ kinds, sources, reporters }) => (
        <>
          <h2>{say("Lies by source")}</h2>
          <Table
            caption={say("Lies by source")}
            rows={sources}
            id={({ key_id: key, feed, fuel }) => `${key} ${feed} ${fuel}`}
            empty={nobody}
            columns={[
              {
                name: say("Source"),
                by: nameOf,
                cell: (source) =>
                  source.key_id === null ? (
                    nameOf(source)
                  ) : (
                    <a href={`#/rollback?key=${source.key_id}`}>{nameOf(source)}</a>
                  ),
              },
              { name: say("Marks"), cell: ({ fuel }) => saysWord(fuel) },
              {
                name: say("Lies of known drivers"),
                of: "known",
                cell: (known) => percent(known),
                numeric: true,
              },
              {
                name: say("Lies of newcomers"),
                of: "newcomers",
                cell: (newcomers) => percent(newcomers),
                numeric: true,
              },
              judged,
            ]}
          />
          <h2>{say("Lies by kind of mark")}</h2>
          <Table
            caption={say("Lies by kind of mark")}
            rows={kinds}
            id={({ newcomer, remote, fuel }) => `${newcomer} ${remote} ${fuel}`}
            empty={nobody}
            columns={[
              {
                name: say("Who"),
                cell: ({ newcomer }) => (newcomer ? say("newcomers") : say("known drivers")),
              },
              {
                name: say("Where"),
                cell: ({ remote }) => (remote ? say("from afar") : say("at the station")),
              },
              { name: say("Marks"), cell: ({ fuel }) => saysWord(fuel) },
              { name: say("Lies"), of: "lies", cell: (lies) => percent(lies), numeric: true },
              judged,
            ]}
          />
          <h2>{say("Lies by reporter")}</h2>
          <Table
            caption={say("Lies by reporter")}
            rows={reporters}
            id={({ id }) => id}
            empty={nobody}
            perPage={10}
            columns={[
              {
                name: say("Reporter"),
                of: "id",
                cell: (id) => (
                  <a href={`#/rollback?reporter=${id}`}>{say("reporter #{id}", { id })}</a>
                ),
              },
              { name: say("Lies"), of: "lies", cell: (lies) => percent(lies), numeric: true },
              judged,
            ]}
          />
        </>
      )}
    </Loaded>
  );
}
