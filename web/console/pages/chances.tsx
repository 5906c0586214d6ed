import { Button } from "#web/kit/button.tsx";
import type { ConsoleChoices } from "#src/contract/console.ts";
import type { ConsoleLies, ConsoleRates } from "#src/contract/console-review.ts";
import { mayChange, useLoaded } from "#web/console/api.ts";
import { useDoing } from "#web/console/doing.ts";
import { selectionWords } from "#web/console/parts/selection.ts";
import { say, sayWith, type Text } from "#web/console/words.ts";
import { Fault } from "#web/kit/fault.tsx";
import { locale } from "#web/kit/words.ts";
import { Loaded } from "#web/kit/resource.tsx";
import { Table } from "#web/kit/table.tsx";
import { Moment } from "#web/kit/time.tsx";

/** What the chances have learnt: who lies how often, and how long stations of this country have fuel. */
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
      <Rates />
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

const results: Record<ConsoleRates["result"], Text> = {
  none: "No night has looked yet.",
  learnt: "The last night has put new rates in force.",
  same: "The last night has found what is in force already.",
  few: "The last night has seen too few changes.",
  lies: "The last night has left out what it saw: too many marks look like lies.",
  worse: "The last night has left out what it saw: the marks would not have been foreseen better.",
};

const rateNames: Record<string, Text> = {
  "fuel-soon-share": "Deliveries that are gone soon, share",
  "fuel-soon-hours": "Fuel that is gone soon lasts, h",
  "fuel-lasts-hours": "Other fuel lasts, h",
  "none-soon-share": "Stations without fuel that get it soon, share",
  "none-soon-hours": "These wait, h",
};

const rateName = (name: string): string =>
  rateNames[name] === undefined
    ? say("Refills of the others in an hour, from {hour}:00", { hour: name.slice(-2) })
    : say(rateNames[name]);

function Rates() {
  const loading = useLoaded<ConsoleRates>("/rates");
  const doing = useDoing();
  const change = async (learning: "on" | "off" | "shipped", words: string): Promise<void> => {
    await doing.run(words, "POST", "/rates/learning", { learning });
    await loading.load();
  };
  return (
    <>
      <h2>{say("Rates of change, shipped and here")}</h2>
      <Fault words={doing.fault} />
      <Loaded of={loading}>
        {({ learns, learnt, looked, stations, marks, changes, result, rates }) => (
          <>
            <p>
              {learns ? say("They are learnt each night.") : say("Learning is switched off.")}{" "}
              {learnt ? say("Learnt rates are in force.") : say("The shipped rates are in force.")}{" "}
              {say(results[result])}{" "}
              {looked !== null &&
                sayWith(
                  "{at}: {changes} {changes|change|changes} in {marks} {marks|mark|marks} at {stations} {stations|station|stations}.",
                  { at: <Moment at={looked} />, changes, marks, stations },
                )}
            </p>
            {mayChange() && (
              <div class="buttons">
                <Button
                  disabled={doing.busy}
                  onClick={() =>
                    learns
                      ? change("off", say("Learning is off, the rates stay"))
                      : change("on", say("Learning is on"))
                  }
                >
                  {learns ? say("Switch learning off") : say("Switch learning on")}
                </Button>
                {(learns || learnt) && (
                  <Button
                    disabled={doing.busy}
                    onClick={() =>
                      change("shipped", say("The shipped rates are in force, learning is off"))
                    }
                  >
                    {say("Back to the shipped rates")}
                  </Button>
                )}
              </div>
            )}
            <Table
              caption={say("Rates of change, shipped and here")}
              rows={rates}
              id={({ name }) => name}
              empty=""
              perPage={rates.length}
              columns={[
                { name: say("Rate"), cell: ({ name }) => rateName(name) },
                { name: say("Shipped"), cell: ({ shipped }) => figure(shipped), numeric: true },
                {
                  name: say("Here"),
                  cell: ({ shipped, now }) =>
                    shipped === now ? figure(now) : <strong>{figure(now)}</strong>,
                  numeric: true,
                },
              ]}
            />
          </>
        )}
      </Loaded>
    </>
  );
}

const digits = new Intl.NumberFormat(locale, { maximumSignificantDigits: 3 });
const figure = (value: number): string => digits.format(value);
