import { useForm } from "#web/console/parts/use-form.ts";
import { Form } from "#web/kit/form.tsx";
import { Button } from "#web/kit/button.tsx";
import { useState } from "preact/hooks";
import type { ConsoleFeed, ConsoleFeeds } from "#src/contract/console-imports.ts";
import { dayS, hourS } from "#src/domain/units.ts";
import { mayChange, useLoaded } from "#web/console/api.ts";
import { useDoing } from "#web/console/doing.ts";
import type { Doing } from "#web/kit/doing.ts";
import { SelectField, SwitchField, TextField } from "#web/console/parts/field.tsx";
import { say, sayWith, type Text } from "#web/console/words.ts";
import { Confirm } from "#web/kit/confirm.tsx";
import { sayFault } from "#web/console/faults.ts";
import { Fault } from "#web/kit/fault.tsx";
import { number } from "#web/kit/numbers.ts";
import { Loaded } from "#web/kit/resource.tsx";
import { Ago, Moment } from "#web/kit/time.tsx";

const everyMs = 5000;

type Act = "run" | "pause" | "resume" | "remove";
type Asking = { feed: ConsoleFeed; act: "run" | "remove" } | null;

/** Sources whose files are fetched and imported by themselves (decisions 14.35). */
export function FeedsPage() {
  const loading = useLoaded<ConsoleFeeds>("/feeds", everyMs);
  const doing = useDoing();
  const [asking, setAsking] = useState<Asking>(null);
  const act = async (feed: ConsoleFeed, what: Act, force: string[] = []): Promise<void> => {
    const path = `/feeds/${feed.id}`;
    const source = feed.source;
    const done =
      what === "remove"
        ? await doing.run(say("{source}: forgotten", { source }), "DELETE", path)
        : await doing.run(say(doneWords[what], { source }), "POST", `${path}/${what}`, {
            ...(what === "run" ? { force } : {}),
          });
    if (done === null) return;
    setAsking(null);
    await loading.load();
  };
  return (
    <section>
      <h1>{say("Feeds")}</h1>
      <p class="soft">
        {sayWith(
          "Sources that are fetched and imported by themselves, with the same checks as by hand. What each run did is on the page {page}.",
          { page: <a href="#/imports">{say("Imports")}</a> },
        )}
      </p>
      {asking === null && <Fault words={doing.fault} />}
      <Loaded of={loading}>
        {({ feeds, sources }) => (
          <>
            {mayChange() && <Adding sources={sources} added={loading.load} />}
            {feeds.length === 0 && <p class="empty">{say("No feeds yet.")}</p>}
            {feeds.map((feed) => (
              <Feed
                key={feed.id}
                feed={feed}
                busy={doing.busy}
                act={(what) =>
                  what === "run" || what === "remove"
                    ? setAsking({ feed, act: what })
                    : void act(feed, what)
                }
              />
            ))}
          </>
        )}
      </Loaded>
      {asking !== null && (
        <Question
          key={`${asking.feed.id} ${asking.act}`}
          {...asking}
          doing={doing}
          confirm={(force) => void act(asking.feed, asking.act, force)}
          cancel={() => {
            doing.forget();
            setAsking(null);
          }}
        />
      )}
    </section>
  );
}

const doneWords = {
  run: "{source} runs at once",
  pause: "{source} is paused",
  resume: "{source} runs again",
} as const;

const words = {
  running: say("running"),
  done: say("done"),
  unchanged: say("nothing new"),
  refused: say("refused"),
  failed: say("failed"),
  interrupted: say("interrupted"),
};
const tones: Record<keyof typeof words, string> = {
  ...{ running: "", done: "good", unchanged: "good", refused: "bad", failed: "bad" },
  interrupted: "warn",
};

interface FeedProps {
  feed: ConsoleFeed;
  busy: boolean;
  act: (what: Act) => void;
}

/** A feed with its newest run. */
function Feed({ feed, busy, act }: FeedProps) {
  const { id, source, files, paused, every_s: everyS, due, finished, news } = feed;
  const times = {
    every: inWords(everyS),
    next: paused ? say("paused") : <Moment at={due} />,
    last: <Moment at={finished} />,
    news: <Ago at={news} />,
  };
  return (
    <article class="card request" aria-labelledby={`feed-${id}`}>
      <div class="title">
        <h2 id={`feed-${id}`}>{source}</h2>
        <State of={feed} />
      </div>
      <p class="soft">
        {sayWith("{every}, next run: {next}. Last run: {last}. Something new: {news}.", times)}
        {feed.replace_source && ` ${say("Takes out of service what is not in its files.")}`}
      </p>
      {files.map((file) => (
        <div key={file} class="said-by">
          {file}
        </div>
      ))}
      {feed.failures > 1 && (
        <p>{say("{n} {n|time|times} in a row without success", { n: feed.failures })}</p>
      )}
      {feed.silent && <p>{say("nothing new for too long")}</p>}
      {feed.fault !== null && <p class="fault">{sayFault(feed.fault)}</p>}
      {mayChange() && (
        <div class="buttons">
          {(paused ? (["resume", "remove"] as const) : (["run", "pause", "remove"] as const)).map(
            (what) => (
              <Button of={source} key={what} disabled={busy} onClick={() => act(what)}>
                {say(buttons[what])}
              </Button>
            ),
          )}
        </div>
      )}
    </article>
  );
}

const buttons: Record<Act, Text> = {
  run: "Run now …",
  pause: "Pause",
  resume: "Resume",
  remove: "Forget …",
};

function State({ of: { state, left_out: left } }: { of: ConsoleFeed }) {
  if (state === null) return <span class="tag">{say("no run yet")}</span>;
  if (left > 0)
    return <span class="tag warn">{say("done, {n} left out", { n: number(left) })}</span>;
  return <span class={`tag ${tones[state]}`}>{words[state]}</span>;
}

interface QuestionProps {
  feed: ConsoleFeed;
  act: "run" | "remove";
  doing: Doing;
  confirm: (force: string[]) => void;
  cancel: () => void;
}

function Question({ feed: { source, fault }, act, doing, confirm, cancel }: QuestionProps) {
  const [force, setForce] = useState("");
  const names = force.split(/[\s,]+/).filter((name) => name !== "");
  return (
    <Confirm
      title={say(act === "run" ? "Run {source} now?" : "Forget {source}?", { source })}
      action={act === "run" ? say("Run") : say("Forget")}
      danger={act === "remove" || names.length > 0}
      busy={doing.busy}
      onConfirm={() => confirm(names)}
      onCancel={cancel}
    >
      {act === "remove" ? (
        <p>{say("What it has imported stays. It is fetched no more.")}</p>
      ) : (
        <>
          {fault !== null && <p class="said-by">{sayFault(fault)}</p>}
          <TextField
            label={say("Checks that this run ignores")}
            hint={say(
              "Only if the file is right though it was refused: the names behind --force, as the refusal gives them.",
            )}
            value={force}
            onChange={setForce}
            maxLength={200}
          />
        </>
      )}
      <Fault words={doing.fault} />
    </Confirm>
  );
}

const units = { min: 60, h: hourS, d: dayS } as const;
type Unit = keyof typeof units;

interface AddingProps {
  sources: ConsoleFeeds["sources"];
  added: () => Promise<void>;
}

/** A form for a new one, folded away until somebody needs it. */
function Adding({ sources, added }: AddingProps) {
  const [open, setOpen] = useState(false);
  const { form, set, at, on } = useForm({
    ...{ source: sources[0]?.name ?? "", count: "12", unit: "h", places: "", replaces: false },
  });
  const { source, count, unit, places, replaces } = form;
  const doing = useDoing();
  const hasAddress = sources.find(({ name }) => name === source)?.has_address === true;
  const send = async (): Promise<void> => {
    const given = places.split(/\s+/).filter((place) => place !== "");
    const isPath = given.length > 0 && !given[0]!.includes("://");
    const done = await doing.run(say("{source} runs at once", { source }), "POST", "/feeds", {
      ...{ source, every_s: Number(count) * units[unit as Unit], replace_source: replaces },
      ...(given.length === 0 ? {} : { [isPath ? "paths" : "urls"]: given }),
    });
    if (done === null) return;
    setOpen(false);
    set({ places: "" });
    await added();
  };
  if (!open)
    return (
      <div class="buttons">
        <Button words={say("Add a feed …")} onClick={() => setOpen(true)} />
      </div>
    );
  return (
    <Form send={send} doing={doing} action={say("Add")} cancel={() => setOpen(false)}>
      <h2>{say("A new feed")}</h2>
      <div class="grid">
        <SelectField
          label={say("Source")}
          options={sources.map(({ name, title }) => [name, `${name}: ${title}`])}
          {...at("source")}
        />
        <TextField
          label={say("How often: every")}
          type="number"
          min={1}
          required
          {...at("count")}
        />
        <SelectField
          label={say("Unit")}
          options={[
            ["min", say("minutes")],
            ["h", say("hours")],
            ["d", say("days")],
          ]}
          {...at("unit")}
        />
        <TextField
          label={say("Addresses or files")}
          hint={
            hasAddress
              ? say(
                  "Empty: those of the source. One for each of its files, with spaces between them.",
                )
              : say("One for each file of the source, with spaces between them.")
          }
          required={!hasAddress}
          {...at("places")}
          maxLength={4000}
        />
      </div>
      <SwitchField
        label={say("Take everything out of service that is not in the file")}
        hint={say("Applies only to rows of the same source. Use it only with a complete extract.")}
        {...on("replaces")}
      />
    </Form>
  );
}

/** `every 12 h`. */
function inWords(seconds: number): string {
  if (seconds % dayS === 0) return say("every {n} d", { n: seconds / dayS });
  if (seconds % hourS === 0) return say("every {n} h", { n: seconds / hourS });
  return say("every {n} min", { n: Math.round(seconds / 60) });
}
