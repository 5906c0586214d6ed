import { useAsking } from "#web/kit/asking.tsx";
import { Button } from "#web/kit/button.tsx";
import { useEffect, useState } from "preact/hooks";
import type { ConsoleHeldMark } from "#src/contract/console-review.ts";
import { mayChange, useLoaded } from "#web/console/api.ts";
import { useDoing } from "#web/console/doing.ts";
import { HeldGroups } from "#web/console/pages/held-groups.tsx";
import { HeldMark } from "#web/console/pages/held-mark.tsx";
import { useDecided } from "#web/console/parts/decided.tsx";
import { counted, figures } from "#web/console/site.ts";
import { say, sayWith } from "#web/console/words.ts";
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

/** Marks that the review holds: decided one by one or many together. */
export function ReviewPage({ changed }: { changed: () => Promise<void> }) {
  const loading = useLoaded<Answer>("/review");
  const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set());
  const { ask, question } = useAsking();
  const [shown, setShown] = useState(perStep);
  const doing = useDoing();
  const total = loading.value.value?.total;
  useEffect(() => {
    if (total !== undefined) counted({ held: total });
  }, [total]);
  // The badge has been counted anew meanwhile.
  const held = figures.value?.held;
  useEffect(() => {
    if (total !== undefined && held !== undefined && held !== total) void loading.load(true);
  }, [held]);
  const reload = async (): Promise<void> => {
    await Promise.all([loading.load(), changed()]);
  };
  const decided = useDecided<ConsoleHeldMark>(
    { path: "/review", card: "mark", order: "up" },
    reload,
  );
  const decide = async (verb: Verb, ids: readonly number[]): Promise<void> => {
    const words = (done: DecidedMarks): string => wordsOf(verb, done);
    const done = await doing.run(words, "POST", `/review/${verb}`, { ids });
    if (done !== null) setChosen(new Set());
    await reload();
  };
  const decideOne = async (verb: Verb, { id, station }: ConsoleHeldMark): Promise<void> => {
    const words = (done: DecidedMarks): string =>
      done.missed.length > 0 ? wordsOf(verb, done) : "";
    const path = `/review/${verb}`;
    const done = await doing.run<DecidedMarks>(words, "POST", path, { ids: [id] });
    choose(id, false);
    if (done?.decided.includes(id) === true) {
      const at = { station: station === "" ? say("this station") : station };
      const text =
        verb === "approve"
          ? say("The mark at {station} was approved.", at)
          : say("The mark at {station} was rejected.", at);
      decided.add(id, text);
    }
    await reload();
  };
  const decideMany = (verb: Verb, ids: number[], marks: readonly ConsoleHeldMark[]): void => {
    const n = String(ids.length);
    ask({
      title:
        verb === "approve"
          ? say("Approve {n} {n|mark|marks}?", { n })
          : say("Reject {n} {n|mark|marks}?", { n }),
      why: (
        <>
          {figuresOf(marks, ids)}{" "}
          {sayWith("Each of these decisions can be taken back on the server: {command}.", {
            command: <code>review undo ID</code>,
          })}
        </>
      ),
      action: verb === "approve" ? say("Approve") : say("Reject"),
      danger: verb === "reject",
      run: () => decide(verb, ids),
    });
  };
  const decideChosen = (verb: Verb, marks: readonly ConsoleHeldMark[]): void => {
    const [one, ...others] = marks.filter(({ id }) => chosen.has(id));
    if (one !== undefined && others.length === 0) void decideOne(verb, one);
    else decideMany(verb, [...chosen], marks);
  };
  const choose = (id: number, on: boolean): void => {
    const next = new Set(chosen);
    if (on) next.add(id);
    else next.delete(id);
    setChosen(next);
  };
  const open = loading.value.value?.marks ?? [];
  const cards = decided.inPlace(open, (mark) => (
    <HeldMark
      key={mark.id}
      mark={mark}
      others={open}
      chosen={chosen.has(mark.id)}
      busy={doing.busy}
      choose={(on) => choose(mark.id, on)}
      approve={() => void decideOne("approve", mark)}
      reject={() => void decideOne("reject", mark)}
    />
  ));
  return (
    <section>
      <h1>{say("Review")}</h1>
      <p class="soft">
        {say(
          "These marks are held because their source, or their city, had more harmful changes than its limit. An approved mark counts from the time when it was made; a rejected mark never counts.",
        )}{" "}
        <a href="#/decisions?kind=review">{say("Earlier decisions")}</a>
        {" · "}
        <a href="#/chances">{say("Who lies how often")}</a>
      </p>
      <Fault words={doing.fault} />
      <HeldGroups held={loading.value.value?.total ?? 0} changed={reload} />
      <Loaded of={loading}>
        {({ marks, total }) => (
          <>
            {marks.length === 0 && <p class="empty">{say("No marks are held.")}</p>}
            {marks.length > 0 && (
              <div class="bar">
                <p>
                  {total > marks.length
                    ? say("{all} held, the oldest {shown} are shown", {
                        all: total,
                        shown: String(marks.length),
                      })
                    : say("{all} held", { all: total })}
                </p>
                {mayChange() && (
                  <>
                    <Button
                      onClick={() =>
                        setChosen(
                          new Set(chosen.size === marks.length ? [] : marks.map(({ id }) => id)),
                        )
                      }
                    >
                      {chosen.size === marks.length
                        ? say("Select none")
                        : say("Select all {n}", { n: String(marks.length) })}
                    </Button>
                    {(["approve", "reject"] as const).map((verb) => (
                      <Button
                        key={verb}
                        disabled={chosen.size === 0 || doing.busy}
                        onClick={() => decideChosen(verb, marks)}
                      >
                        {verb === "approve"
                          ? say("Approve {n} selected", { n: String(chosen.size) })
                          : say("Reject {n} selected", { n: String(chosen.size) })}
                      </Button>
                    ))}
                  </>
                )}
              </div>
            )}
            {cards.slice(0, shown)}
            {cards.length > shown && (
              <Button onClick={() => setShown(shown + perStep)}>
                {say("Show {n} more", { n: Math.min(perStep, cards.length - shown) })}
              </Button>
            )}
          </>
        )}
      </Loaded>
      {question}
    </section>
  );
}

function wordsOf(verb: Verb, { decided, missed }: DecidedMarks): string {
  const others = say("{n} {n|mark|marks} {n|was|were} decided by somebody else before", {
    n: missed.length,
  });
  if (decided.length === 0) return others;
  const done = doneWords(verb, decided.length);
  return missed.length === 0 ? done : `${done}, ${others}`;
}

function doneWords(verb: Verb, marks: number): string {
  const n = String(marks);
  if (verb === "approve")
    return marks === 1
      ? say("The mark was approved")
      : say("{n} {n|mark|marks} {n|was|were} approved", { n });
  return marks === 1
    ? say("The mark was rejected")
    : say("{n} {n|mark|marks} {n|was|were} rejected", { n });
}

/** Counts of marks that are decided together, in a sentence. */
function figuresOf(marks: readonly ConsoleHeldMark[], ids: readonly number[]): string {
  const these = marks.filter(({ id }) => ids.includes(id));
  const count = (of: (mark: ConsoleHeldMark) => unknown): number => new Set(these.map(of)).size;
  return say(
    "{marks} {marks|mark|marks} of {reporters} {reporters|reporter|reporters} at {stations} {stations|station|stations}.",
    {
      marks: ids.length,
      reporters: count((mark) => mark.reporter.id),
      stations: count((mark) => mark.station_id),
    },
  );
}
