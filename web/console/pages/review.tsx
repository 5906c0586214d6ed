import { useState } from "preact/hooks";
import type { ConsoleHeldMark } from "#src/contract/console.ts";
import { mayChange, useLoaded } from "#web/console/api.ts";
import { useDoing } from "#web/console/doing.ts";
import { HeldGroups } from "#web/console/pages/held-groups.tsx";
import { HeldMark } from "#web/console/pages/held-mark.tsx";
import { number } from "#web/kit/numbers.ts";
import { Decided, focusAgain } from "#web/console/parts/decided.tsx";
import { Confirm } from "#web/kit/confirm.tsx";
import { Fault } from "#web/kit/fault.tsx";
import { Loaded } from "#web/kit/resource.tsx";

const perStep = 20;

interface Answer {
  marks: ConsoleHeldMark[];
  total: number;
}

type Verb = "approve" | "reject";

/** `missed`: somebody else was faster. */
interface DecidedMarks {
  decided: number[];
  missed: number[];
}

/** Marks that the mass-`no` review holds: decided one by one or many together. */
export function ReviewPage({ changed }: { changed: () => Promise<void> }) {
  const loading = useLoaded<Answer>("/review");
  const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set());
  const [asking, setAsking] = useState<{ verb: Verb; ids: number[] } | null>(null);
  /** Marks that were decided alone since the page was opened, each with what stands in its place. */
  const [decided, setDecided] = useState<ReadonlyMap<number, string>>(new Map());
  const [shown, setShown] = useState(perStep);
  const doing = useDoing();
  const reload = async (): Promise<void> => {
    await Promise.all([loading.load(), changed()]);
  };
  const decide = async (verb: Verb, ids: readonly number[]): Promise<void> => {
    const words = (done: DecidedMarks): string => wordsOf(verb, done);
    await doing.run(words, "POST", `/review/${verb}`, { ids });
    setAsking(null);
    setChosen(new Set());
    await reload();
  };
  const decideOne = async (verb: Verb, { id, station }: ConsoleHeldMark): Promise<void> => {
    const words = (done: DecidedMarks): string =>
      done.missed.length > 0 ? wordsOf(verb, done) : "";
    const path = `/review/${verb}`;
    const done = await doing.run<DecidedMarks>(words, "POST", path, { ids: [id] });
    choose(id, false);
    if (done?.decided.includes(id) === true) {
      const at = `The mark at ${station === "" ? "this station" : station} was ${pastOf[verb]}.`;
      setDecided(new Map([...decided, [id, at]]));
    }
    await reload();
  };
  const decideChosen = (verb: Verb, marks: readonly ConsoleHeldMark[]): void => {
    const [one, ...others] = marks.filter(({ id }) => chosen.has(id));
    if (one !== undefined && others.length === 0) void decideOne(verb, one);
    else setAsking({ verb, ids: [...chosen] });
  };
  const undone = async (id: number): Promise<void> => {
    await reload();
    setDecided((now) => new Map([...now].filter(([other]) => other !== id)));
    focusAgain(`mark-${id}`);
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
                        onClick={() => decideChosen(verb, marks)}
                      >
                        {verb === "approve" ? "Approve" : "Reject"} {chosen.size} selected
                      </button>
                    ))}
                  </>
                )}
              </div>
            )}
            {inPlace(marks, decided)
              .slice(0, shown)
              .map((entry) =>
                "words" in entry ? (
                  <Decided
                    key={entry.id}
                    words={entry.words}
                    path={`/review/${entry.id}/undo`}
                    undone={() => undone(entry.id)}
                  />
                ) : (
                  <HeldMark
                    key={entry.id}
                    mark={entry}
                    others={marks}
                    chosen={chosen.has(entry.id)}
                    busy={doing.busy}
                    choose={(on) => choose(entry.id, on)}
                    approve={() => void decideOne("approve", entry)}
                    reject={() => void decideOne("reject", entry)}
                  />
                ),
              )}
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
          title={`${asking.verb === "approve" ? "Approve" : "Reject"} ${asking.ids.length} marks?`}
          action={asking.verb === "approve" ? "Approve" : "Reject"}
          danger={asking.verb === "reject"}
          busy={doing.busy}
          onConfirm={() => void decide(asking.verb, asking.ids)}
          onCancel={() => setAsking(null)}
        >
          <p>
            {figuresOf(loading.value.value?.marks ?? [], asking.ids)} Each of these decisions can be
            taken back on the server: <code>review undo ID</code>.
          </p>
        </Confirm>
      )}
    </section>
  );
}

const pastOf: Record<Verb, string> = { approve: "approved", reject: "rejected" };

function wordsOf(verb: Verb, { decided, missed }: DecidedMarks): string {
  const others = `${missed.length === 1 ? "1 mark was" : `${missed.length} marks were`} decided by somebody else before`;
  if (decided.length === 0) return others;
  const done = `${decided.length === 1 ? "The mark was" : `${decided.length} marks were`} ${pastOf[verb]}`;
  return missed.length === 0 ? done : `${done}, ${others}`;
}

/** The held marks with those that were just decided among them, each in its place: by id, the oldest first. */
const inPlace = (
  marks: readonly ConsoleHeldMark[],
  decided: ReadonlyMap<number, string>,
): (ConsoleHeldMark | { id: number; words: string })[] =>
  [
    ...marks.filter(({ id }) => !decided.has(id)),
    ...[...decided].map(([id, words]) => ({ id, words })),
  ].sort((a, b) => a.id - b.id);

/** What marks that are decided together say. */
function figuresOf(marks: readonly ConsoleHeldMark[], ids: readonly number[]): string {
  const these = marks.filter(({ id }) => ids.includes(id));
  const count = (of: (mark: ConsoleHeldMark) => unknown): number => new Set(these.map(of)).size;
  const stations = count((mark) => mark.station_id);
  const reporters = count((mark) => mark.reporter.id);
  return `${number(ids.length)} marks of ${number(reporters)} reporters at ${number(stations)} stations.`;
}
