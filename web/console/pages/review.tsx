import { useState } from "preact/hooks";
import type { ConsoleHeldMark } from "#src/contract/console.ts";
import { mayChange, useLoaded } from "#web/console/api.ts";
import { useDoing } from "#web/console/doing.ts";
import { HeldGroups } from "#web/console/pages/held-groups.tsx";
import { HeldMark } from "#web/console/pages/held-mark.tsx";
import { number } from "#web/kit/numbers.ts";
import { Confirm } from "#web/kit/confirm.tsx";
import { Fault } from "#web/kit/fault.tsx";
import { Loaded } from "#web/kit/resource.tsx";

const perStep = 20;

interface Answer {
  marks: ConsoleHeldMark[];
  total: number;
}

type Verb = "approve" | "reject";

/** Marks that the mass-`no` review holds: decided one by one or many together. */
export function ReviewPage({ changed }: { changed: () => Promise<void> }) {
  const loading = useLoaded<Answer>("/review");
  const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set());
  const [asking, setAsking] = useState<{ verb: Verb; ids: number[] } | null>(null);
  const [shown, setShown] = useState(perStep);
  const doing = useDoing();
  const decide = async (verb: Verb, ids: readonly number[]): Promise<void> => {
    const word = verb === "approve" ? "approved" : "rejected";
    const words = ids.length === 1 ? `The mark was ${word}` : `${ids.length} marks were ${word}`;
    await doing.run(words, "POST", `/review/${verb}`, { ids });
    setAsking(null);
    setChosen(new Set());
    await Promise.all([loading.load(), changed()]);
  };
  const choose = (id: number, on: boolean): void => {
    const next = new Set(chosen);
    if (on) next.add(id);
    else next.delete(id);
    setChosen(next);
  };
  return (
    <section>
      <h1>Review</h1>
      <p class="soft">
        These marks are held because their source, or their city, had more harmful changes than its
        limit. An approved mark counts from the time when it was made; a rejected mark never counts.
      </p>
      <Fault words={doing.fault} />
      <HeldGroups
        held={loading.value.value?.total ?? 0}
        changed={async () => void (await Promise.all([loading.load(), changed()]))}
      />
      <Loaded of={loading}>
        {({ marks, total }) => (
          <>
            {marks.length === 0 && <p class="empty">No marks are held.</p>}
            {marks.length > 0 && (
              <div class="bar">
                <p>
                  {number(total)} held
                  {total > marks.length && `, the oldest ${marks.length} are shown`}
                </p>
                {mayChange() && (
                  <>
                    <button
                      type="button"
                      onClick={() =>
                        setChosen(
                          new Set(chosen.size === marks.length ? [] : marks.map(({ id }) => id)),
                        )
                      }
                    >
                      {chosen.size === marks.length ? "Select none" : `Select all ${marks.length}`}
                    </button>
                    {(["approve", "reject"] as const).map((verb) => (
                      <button
                        key={verb}
                        type="button"
                        disabled={chosen.size === 0 || doing.busy}
                        onClick={() => setAsking({ verb, ids: [...chosen] })}
                      >
                        {verb === "approve" ? "Approve" : "Reject"} {chosen.size} selected
                      </button>
                    ))}
                  </>
                )}
              </div>
            )}
            {marks.slice(0, shown).map((mark) => (
              <HeldMark
                key={mark.id}
                mark={mark}
                others={marks}
                chosen={chosen.has(mark.id)}
                busy={doing.busy}
                choose={(on) => choose(mark.id, on)}
                approve={() => void decide("approve", [mark.id])}
                reject={() => setAsking({ verb: "reject", ids: [mark.id] })}
              />
            ))}
            {marks.length > shown && (
              <button type="button" onClick={() => setShown(shown + perStep)}>
                Show {Math.min(perStep, marks.length - shown)} more
              </button>
            )}
          </>
        )}
      </Loaded>
      {asking !== null && (
        <Confirm
          title={
            asking.verb === "approve"
              ? `Approve ${asking.ids.length} marks?`
              : asking.ids.length === 1
                ? "Reject this mark?"
                : `Reject ${asking.ids.length} marks?`
          }
          action={asking.verb === "approve" ? "Approve" : "Reject"}
          danger={asking.verb === "reject"}
          busy={doing.busy}
          onConfirm={() => void decide(asking.verb, asking.ids)}
          onCancel={() => setAsking(null)}
        >
          <p>
            {asking.verb === "approve"
              ? "You can undo this only with a rollback."
              : "This cannot be undone."}
          </p>
        </Confirm>
      )}
    </section>
  );
}
