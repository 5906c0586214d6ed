import { useAsking } from "#web/kit/asking.tsx";
import { Button } from "#web/kit/button.tsx";
import { useEffect } from "preact/hooks";
import type { ConsoleChoices } from "#src/contract/console.ts";
import type { ConsoleBatch, ConsoleBatchLine } from "#src/contract/console-review.ts";
import { mayChange, useLoaded } from "#web/console/api.ts";
import { useDoing } from "#web/console/doing.ts";
import { Changes } from "#web/console/parts/changes.tsx";
import { selectionWords } from "#web/console/parts/selection.ts";
import { stillWords, undoneWords } from "#web/console/parts/still-withdrawn.ts";
import { say, sayWith } from "#web/console/words.ts";
import { Fault } from "#web/kit/fault.tsx";
import { number } from "#web/kit/numbers.ts";
import { Loaded } from "#web/kit/resource.tsx";
import { Table } from "#web/kit/table.tsx";
import { Ago, Moment } from "#web/kit/time.tsx";

const pollMs = 2000;

/** A rollback, or a decision of the review: its operator, marks, changes as of now, and the way to take it back. */
export function DecisionRecordPage({ id, of }: { id: string; of: "rollback" | "review" }) {
  const path = of === "rollback" ? `/rollbacks/${id}` : `/review/decisions/${id}`;
  const loading = useLoaded<ConsoleBatch>(path);
  const choices = useLoaded<ConsoleChoices>("/choices").value.value;
  const { ask, question } = useAsking();
  const doing = useDoing();
  // Until every station is calculated again.
  const isMoving = (loading.value.value?.waiting ?? 0) > 0;
  useEffect(() => {
    if (!isMoving) return undefined;
    const timer = setInterval(() => void loading.load(true), pollMs);
    return () => clearInterval(timer);
  }, [loading, isMoving]);
  const undo = ({ restores: n, ...batch }: ConsoleBatch): void =>
    ask({
      title: say("Take this decision back?"),
      why: [
        say(
          "{n} {n|mark is|marks are} again what {n|it was|they were} before, and {n|its station is|their stations are} calculated again: the table shows them from right to left. Marks since then keep their effect.",
          { n },
        ),
        stillWords(batch),
      ].join(" "),
      action: say("Take it back"),
      run: async () => {
        await doing.run(undoneWords, "POST", `${path}/undo`);
        await loading.load();
      },
    });
  return (
    <section>
      <h1>{of === "rollback" ? say("Rollback #{id}", { id }) : say("Review #{id}", { id })}</h1>
      <Fault words={doing.fault} />
      <Loaded of={loading}>
        {(batch) => (
          <>
            <p class={batch.undone === null ? "banner good" : "banner"} role="status">
              {bannerWords(batch)}
              {batch.waiting > 0 &&
                ` ${say("{n} {n|station|stations} {n|waits|wait} to be calculated again.", { n: batch.waiting })}`}
            </p>
            <p>
              {sayWith("By {actor}, {time}: {conditions}.", {
                actor: batch.actor,
                time: <Moment at={batch.started} />,
                conditions: selectionWords(batch.selection, choices),
              })}
              {batch.undo !== null && (
                <>
                  {" "}
                  {sayWith("Taken back by {actor}, {time}.", {
                    actor: batch.undo_actor,
                    time: <Moment at={batch.undo} />,
                  })}
                </>
              )}
            </p>
            {batch.undo === null && batch.still_withdrawn !== undefined && (
              <p class="note">
                {say("If it is taken back:")} {stillWords(batch)}
              </p>
            )}
            {stateWords(batch) !== null && <p class="note">{stateWords(batch)}</p>}
            {batch.undone === null && <Effect batch={batch} ask={() => undo(batch)} />}
            {question}
          </>
        )}
      </Loaded>
      <p>
        <a href={`#/${of}`}>{of === "rollback" ? say("Another rollback") : say("Review")}</a>
        {" · "}
        <a href={`#/decisions?kind=${of}`}>{say("All decisions")}</a>
      </p>
    </section>
  );
}

function bannerWords({ act, marks, stations, undone }: ConsoleBatchLine): string {
  const figures = { marks, stations };
  if (act !== "rollback") {
    const done =
      act === "approve"
        ? say("{n} {n|mark|marks} {n|was|were} approved.", { n: marks })
        : say("{n} {n|mark|marks} {n|was|were} rejected.", { n: marks });
    return undone === null ? done : `${done} ${say("The decision was taken back")}.`;
  }
  return undone === null
    ? say(
        "{marks} {marks|mark|marks} at {stations} {stations|station|stations} {marks|was|were} withdrawn.",
        figures,
      )
    : say(
        "{marks} {marks|mark|marks} at {stations} {stations|station|stations} {marks|was|were} withdrawn, and put back later.",
        figures,
      );
}

function stateWords({ finished, undo, undone, stations, stations_done: done }: ConsoleBatchLine) {
  if (undo !== null && undone === null)
    return say("Taking it back was not finished: take it back again, and the rest is done.");
  if (finished === null && undo === null)
    return say(
      "{done} of {stations} {stations|station is|stations are} done. If it was broken off, give the same conditions again: the rest is done.",
      { done, stations },
    );
  return null;
}

function Effect({ batch, ask }: { batch: ConsoleBatch; ask: () => void }) {
  const { changes, stations, worked_out: workedOut } = batch;
  return (
    <div class="card">
      <h2>{say("What has changed")}</h2>
      <p>
        {batch.act === "reject"
          ? say("Rejected marks never count: no station has changed.")
          : say("Each station without the decision → with it, as of now.")}
        {batch.act !== "reject" &&
          stations > changes.length &&
          ` ${say("Worked out for {n} of {stations} {stations|station|stations}, {shown} shown.", {
            n: workedOut,
            stations,
            shown: String(changes.length),
          })}`}
      </p>
      {batch.act !== "reject" && <Changes changes={changes} />}
      {mayChange() && (
        <div class="buttons">
          <Button words={say("Take it back …")} onClick={ask} />
        </div>
      )}
    </div>
  );
}

/** The latest rollbacks, the newest first. */
export function Rollbacks({ choices }: { choices: ConsoleChoices | null }) {
  const loading = useLoaded<{ batches: ConsoleBatchLine[] }>("/rollbacks");
  return (
    <>
      <h2>{say("Earlier rollbacks")}</h2>
      <Loaded of={loading}>
        {({ batches }) => (
          <Table
            caption={say("Earlier rollbacks")}
            rows={batches}
            id={({ id }) => id}
            empty={say("Nothing was ever withdrawn.")}
            columns={[
              { name: say("Rollback"), cell: ({ id }) => <a href={`#/rollback/${id}`}>#{id}</a> },
              { name: say("When"), cell: ({ started }) => <Ago at={started} /> },
              { name: say("By"), cell: ({ actor }) => actor },
              { name: say("Marks"), cell: ({ marks }) => number(marks), numeric: true },
              { name: say("Which"), cell: ({ selection }) => selectionWords(selection, choices) },
              {
                name: say("Taken back"),
                cell: ({ undone }) => <Moment at={undone} none={say("no")} />,
              },
            ]}
          />
        )}
      </Loaded>
    </>
  );
}
