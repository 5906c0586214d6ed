import { useEffect, useState } from "preact/hooks";
import type { ConsoleBatch, ConsoleBatchLine, ConsoleChoices } from "#src/contract/console.ts";
import { mayChange, useLoaded } from "#web/console/api.ts";
import { useDoing } from "#web/console/doing.ts";
import { Changes } from "#web/console/parts/changes.tsx";
import { selectionWords } from "#web/console/parts/selection.ts";
import { Confirm } from "#web/kit/confirm.tsx";
import { Fault } from "#web/kit/fault.tsx";
import { number } from "#web/kit/numbers.ts";
import { Loaded } from "#web/kit/resource.tsx";
import { Table } from "#web/kit/table.tsx";
import { Ago, Moment } from "#web/kit/time.tsx";

const pollMs = 2000;

/** One rollback: who withdrew what, what that changes as of now, and taking it back. */
export function RollbackRecordPage({ id }: { id: string }) {
  const path = `/rollbacks/${id}`;
  const loading = useLoaded<ConsoleBatch>(path);
  const choices = useLoaded<ConsoleChoices>("/choices").value.value;
  const [asking, setAsking] = useState(false);
  const doing = useDoing();
  // Until every station is calculated again.
  const isMoving = (loading.value.value?.waiting ?? 0) > 0;
  useEffect(() => {
    if (!isMoving) return undefined;
    const timer = setInterval(() => void loading.load(true), pollMs);
    return () => clearInterval(timer);
  }, [loading, isMoving]);
  const undo = async (): Promise<void> => {
    await doing.run("The rollback was taken back", "POST", `${path}/undo`);
    setAsking(false);
    await loading.load();
  };
  return (
    <section>
      <h1>Rollback #{id}</h1>
      <Fault words={doing.fault} />
      <Loaded of={loading}>
        {(batch) => (
          <>
            <p class={batch.undone === null ? "banner good" : "banner"} role="status">
              {number(batch.marks)} marks at {number(batch.stations)} stations were{" "}
              {batch.undone === null ? "withdrawn." : "withdrawn, and put back later."}
              {batch.waiting > 0 &&
                ` ${number(batch.waiting)} stations wait to be calculated again.`}
            </p>
            <p>
              By {batch.actor}, <Moment at={batch.started} />:{" "}
              {selectionWords(batch.selection, choices)}.
              {batch.undo !== null && (
                <>
                  {" "}
                  Taken back by {batch.undo_actor}, <Moment at={batch.undo} />.
                </>
              )}
            </p>
            {stateWords(batch) !== null && <p class="note">{stateWords(batch)}</p>}
            {batch.undone === null && <Effect batch={batch} ask={() => setAsking(true)} />}
            {asking && (
              <Confirm
                title="Take this rollback back?"
                action="Take back"
                busy={doing.busy}
                onConfirm={() => void undo()}
                onCancel={() => setAsking(false)}
              >
                <p>
                  {number(batch.marks)} marks are again what they were before, and their stations
                  are calculated again: the table shows them from right to left. Marks since then
                  keep their effect.
                </p>
              </Confirm>
            )}
          </>
        )}
      </Loaded>
      <p>
        <a href="#/rollback">Another rollback</a>
      </p>
    </section>
  );
}

function stateWords({ finished, undo, undone, stations, stations_done: done }: ConsoleBatchLine) {
  if (undo !== null && undone === null)
    return "Taking it back was not finished: take it back again, and the rest is done.";
  if (finished === null && undo === null)
    return `${number(done)} of ${number(stations)} stations are done. If it was broken off, give the same conditions again: the rest is done.`;
  return null;
}

function Effect({ batch, ask }: { batch: ConsoleBatch; ask: () => void }) {
  const { changes, stations, worked_out: workedOut } = batch;
  return (
    <div class="card">
      <h2>What has changed</h2>
      <p>
        Each station without the rollback → with it, as of now.
        {stations > changes.length &&
          ` Worked out for ${number(workedOut)} of ${number(stations)} stations, ${changes.length} shown.`}
      </p>
      <Changes changes={changes} />
      {mayChange() && (
        <div class="buttons">
          <button type="button" onClick={ask}>
            Take back …
          </button>
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
      <h2>Earlier rollbacks</h2>
      <Loaded of={loading}>
        {({ batches }) => (
          <Table
            caption="Earlier rollbacks"
            rows={batches}
            id={({ id }) => id}
            empty="Nothing was ever withdrawn."
            columns={[
              { name: "Rollback", cell: ({ id }) => <a href={`#/rollback/${id}`}>#{id}</a> },
              { name: "When", cell: ({ started }) => <Ago at={started} /> },
              { name: "By", cell: ({ actor }) => actor },
              { name: "Marks", cell: ({ marks }) => number(marks), numeric: true },
              { name: "Which", cell: ({ selection }) => selectionWords(selection, choices) },
              {
                name: "Taken back",
                cell: ({ undone }) => <Moment at={undone} none="no" />,
              },
            ]}
          />
        )}
      </Loaded>
    </>
  );
}
