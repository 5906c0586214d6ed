import { Form } from "#web/kit/form.tsx";
import { Button } from "#web/kit/button.tsx";
import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import type { ConsoleIncident, ConsoleIncidents } from "#src/contract/console.ts";
import { type Feed, feeds } from "#src/domain/service-state.ts";
import { mayChange, useLoaded } from "#web/console/api.ts";
import { useDoing } from "#web/console/doing.ts";
import { SwitchField, TextArea, TextField } from "#web/console/parts/field.tsx";
import { say, sayWith } from "#web/console/words.ts";
import { Confirm } from "#web/kit/confirm.tsx";
import { Fault } from "#web/kit/fault.tsx";
import { Loaded } from "#web/kit/resource.tsx";
import { Ago, Moment } from "#web/kit/time.tsx";

const titleMax = 120;
const textMax = 1000;

const feedWords: Readonly<Record<Feed, string>> = {
  statuses: say("statuses of stations"),
  delta: say("changes (delta and stream)"),
  dumps: say("dumps of the whole country"),
  marks: say("processing of marks"),
  webhooks: say("webhooks"),
};

type End = "update" | "close" | "edit";
type Asking = { incident: ConsoleIncident; end: End } | null;

/** The incidents of `/status`: opens one, adds news, closes it (decisions 16.34). */
export function IncidentsPage() {
  const loading = useLoaded<ConsoleIncidents>("/incidents");
  const [asking, setAsking] = useState<Asking>(null);
  return (
    <section>
      <h1>{say("Incidents")}</h1>
      <p class="soft">
        {sayWith(
          "What you write here, everybody reads on the {page}. News are another text; a slip is corrected, and the log keeps the former words.",
          { page: <a href="../status">{say("page of the service’s state")}</a> },
        )}
      </p>
      {mayChange() && <Opening opened={loading.load} />}
      <Loaded of={loading}>
        {({ incidents, days }) => {
          const open = incidents.filter(({ closed }) => closed === null);
          const past = incidents.filter(({ closed }) => closed !== null);
          return (
            <>
              <h2>{say("Open")}</h2>
              {open.length === 0 && <p class="empty">{say("No open incident.")}</p>}
              {open.map((incident) => (
                <Incident
                  key={incident.id}
                  incident={incident}
                  ask={(end) => setAsking({ incident, end })}
                />
              ))}
              <h2>{say("Closed in the last {days} days", { days })}</h2>
              {past.length === 0 && <p class="empty">{say("None.")}</p>}
              {past.map((incident) => (
                <Incident
                  key={incident.id}
                  incident={incident}
                  ask={(end) => setAsking({ incident, end })}
                />
              ))}
            </>
          );
        }}
      </Loaded>
      {asking !== null && (
        <Telling
          {...asking}
          close={(isTold) => {
            setAsking(null);
            if (isTold) void loading.load();
          }}
        />
      )}
    </section>
  );
}

/** An incident as `/status` shows it, in both languages. */
function Incident({ incident, ask }: { incident: ConsoleIncident; ask: (end: End) => void }) {
  const { id, title, feeds: touched, opened, closed, updates } = incident;
  return (
    <article class="card request" aria-labelledby={`incident-${id}`}>
      <div class="title">
        <h3 id={`incident-${id}`} lang="en">
          {title.en}
        </h3>
        <span class="soft">
          {sayWith(closed === null ? "#{id}, open since {time}" : "#{id}, opened {time}", {
            id,
            time: <Moment at={opened} />,
          })}
        </span>
      </div>
      {title.ru !== null && (
        <p class="soft" lang="ru">
          {title.ru}
        </p>
      )}
      <p class="soft">
        {touched.length === 0
          ? say("All of the service")
          : touched.map((feed) => feedWords[feed]).join(", ")}
        {closed !== null && <>, {sayWith("closed {ago}", { ago: <Ago at={closed} /> })}</>}
      </p>
      <ol class="told">
        {updates.map(({ at, text }) => (
          <li key={`${at} ${text.en}`}>
            <span class="soft">
              <Moment at={at} />
            </span>{" "}
            <span lang="en">{text.en}</span>
            {text.ru !== null && (
              <div class="soft" lang="ru">
                {text.ru}
              </div>
            )}
          </li>
        ))}
      </ol>
      {mayChange() && (
        <div class="buttons">
          {closed === null && (
            <>
              <Button of={say("about {title}", { title: title.en })} onClick={() => ask("update")}>
                {say("Tell more …")}
              </Button>
              <Button words={say("Close …")} of={title.en} onClick={() => ask("close")} />
            </>
          )}
          <Button words={say("Correct …")} of={title.en} onClick={() => ask("edit")} />
        </div>
      )}
    </article>
  );
}

const nothing = { title: "", title_ru: "", text: "", text_ru: "" };
type Words = typeof nothing;
/** Texts that were typed and not sent, by incident: it is still there when the form is opened again. */
const drafts = signal<Readonly<Record<string, Words>>>({});
const keep = (name: string, words: Words): void => {
  drafts.value = { ...drafts.value, [name]: words };
};

/** The fields of a text, with the title where there is one, and how everybody will read it. */
function TextFields({
  words,
  change,
  hasTitle,
}: {
  words: Words;
  change: (words: Words) => void;
  hasTitle: boolean;
}) {
  const field = (name: keyof Words) => ({
    value: words[name],
    onChange: (value: string) => change({ ...words, [name]: value }),
  });
  return (
    <>
      {hasTitle && (
        <div class="grid">
          <TextField
            label={say("Title in English")}
            maxLength={titleMax}
            required
            {...field("title")}
          />
          <TextField label={say("Title in Russian")} maxLength={titleMax} {...field("title_ru")} />
        </div>
      )}
      <TextArea
        label={hasTitle ? say("What is known, in English") : say("What is known now, in English")}
        maxLength={textMax}
        required
        {...field("text")}
      />
      <TextArea
        label={hasTitle ? say("What is known, in Russian") : say("What is known now, in Russian")}
        maxLength={textMax}
        {...field("text_ru")}
      />
      {words.text !== "" && (
        <figure class="preview">
          <figcaption class="soft">{say("As everybody reads it")}</figcaption>
          {(["en", "ru"] as const).map((language) => {
            const [title, text] =
              language === "en" ? [words.title, words.text] : [words.title_ru, words.text_ru];
            return (
              (title !== "" || text !== "") && (
                <div key={language} lang={language}>
                  {hasTitle && <strong>{title}</strong>}
                  <p>{text}</p>
                </div>
              )
            );
          })}
        </figure>
      )}
    </>
  );
}

/** A form for a new one, folded away until somebody needs it. */
function Opening({ opened }: { opened: () => Promise<void> }) {
  const [open, setOpen] = useState(false);
  const said = drafts.value["new"] ?? nothing;
  const [touched, setTouched] = useState<readonly Feed[]>([]);
  const doing = useDoing();
  const send = async (): Promise<void> => {
    const done = await doing.run<{ id: number }>(
      ({ id }) => say("Incident {id} is on the page of the service’s state", { id }),
      "POST",
      "/incidents",
      { ...said, feeds: touched },
    );
    if (done === null) return;
    keep("new", nothing);
    setTouched([]);
    setOpen(false);
    await opened();
  };
  if (!open)
    return (
      <div class="buttons">
        <Button words={say("Open an incident …")} class="primary" onClick={() => setOpen(true)} />
      </div>
    );
  return (
    <Form send={send} doing={doing} action={say("Tell everybody")} cancel={() => setOpen(false)}>
      <h2>{say("A new incident")}</h2>
      <TextFields words={said} change={(words) => keep("new", words)} hasTitle />
      <fieldset class="form-part">
        <legend>{say("What it touches (nothing chosen: all)")}</legend>
        {feeds.map((feed) => (
          <SwitchField
            key={feed}
            label={feedWords[feed]}
            checked={touched.includes(feed)}
            onChange={(is) =>
              setTouched((now) => (is ? [...now, feed] : now.filter((one) => one !== feed)))
            }
          />
        ))}
      </fieldset>
    </Form>
  );
}

interface TellingProps {
  incident: ConsoleIncident;
  end: End;
  close: (isTold: boolean) => void;
}

function Telling({ incident, end, close }: TellingProps) {
  const { id, title, updates } = incident;
  const name = `${end} ${id}`;
  const last = updates.at(-1)!.text;
  const words =
    drafts.value[name] ??
    (end === "edit"
      ? { title: title.en, title_ru: title.ru ?? "", text: last.en, text_ru: last.ru ?? "" }
      : nothing);
  const doing = useDoing();
  const send = async (): Promise<void> => {
    const { text, text_ru } = words;
    const done =
      end === "edit"
        ? await doing.run(say("Corrected"), "PATCH", `/incidents/${id}`, words)
        : await doing.run(
            end === "close" ? say("Incident {id} closed", { id }) : say("Told everybody"),
            "POST",
            `/incidents/${id}/${end}`,
            { text, text_ru },
          );
    if (done === null) return;
    const { [name]: _, ...others } = drafts.value;
    drafts.value = others;
    close(true);
  };
  return (
    <Confirm
      title={say(titles[end], { title: title.en })}
      action={actions[end]}
      busy={doing.busy}
      onConfirm={() => void send()}
      onCancel={() => close(false)}
    >
      <TextFields
        words={words}
        change={(changed) => keep(name, changed)}
        hasTitle={end === "edit"}
      />
      <Fault words={doing.fault} />
    </Confirm>
  );
}

const titles = {
  close: "Close “{title}”?",
  update: "More about “{title}”",
  edit: "Correct “{title}”",
} as const;
const actions: Readonly<Record<End, string>> = {
  close: say("Close"),
  update: say("Tell everybody"),
  edit: say("Correct"),
};
