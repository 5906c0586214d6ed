import { useState } from "preact/hooks";
import type { ConsoleIncident, ConsoleIncidents } from "#src/contract/console.ts";
import { type Feed, feeds } from "#src/domain/service-state.ts";
import { mayChange, useLoaded } from "#web/console/api.ts";
import { useDoing } from "#web/console/doing.ts";
import { SwitchField, TextField } from "#web/console/parts/field.tsx";
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

type End = "update" | "close";
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
          "What you write here, everybody reads on the {page}. A text cannot be changed later, only followed by another one.",
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
                <Incident key={incident.id} incident={incident} />
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
function Incident({ incident, ask }: { incident: ConsoleIncident; ask?: (end: End) => void }) {
  const { id, title, feeds: touched, opened, closed, updates } = incident;
  return (
    <article class="card request" aria-labelledby={`incident-${id}`}>
      <div class="title">
        <h3 id={`incident-${id}`} lang="en">
          {title.en}
        </h3>
        <span class="soft">
          {sayWith(closed === null ? "#{id}, open since {time}" : "#{id}, opened {time}", {
            id: String(id),
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
      {ask !== undefined && mayChange() && (
        <div class="buttons">
          <button type="button" onClick={() => ask("update")}>
            {say("Tell more …")}
            <span class="unseen"> {say("about {title}", { title: title.en })}</span>
          </button>
          <button type="button" onClick={() => ask("close")}>
            {say("Close …")}
            <span class="unseen"> {title.en}</span>
          </button>
        </div>
      )}
    </article>
  );
}

const nothing = { title: "", title_ru: "", text: "", text_ru: "" };

/** A form for a new one, folded away until somebody needs it. */
function Opening({ opened }: { opened: () => Promise<void> }) {
  const [open, setOpen] = useState(false);
  const [said, setSaid] = useState(nothing);
  const [touched, setTouched] = useState<readonly Feed[]>([]);
  const doing = useDoing();
  const field = (name: keyof typeof nothing) => ({
    value: said[name],
    onChange: (value: string) => setSaid((now) => ({ ...now, [name]: value })),
  });
  const send = async (event: Event): Promise<void> => {
    event.preventDefault();
    const done = await doing.run<{ id: number }>(
      ({ id }) => say("Incident {id} is on the page of the service’s state", { id: String(id) }),
      "POST",
      "/incidents",
      { ...said, feeds: touched },
    );
    if (done === null) return;
    setSaid(nothing);
    setTouched([]);
    setOpen(false);
    await opened();
  };
  if (!open)
    return (
      <div class="buttons">
        <button type="button" class="primary" onClick={() => setOpen(true)}>
          {say("Open an incident …")}
        </button>
      </div>
    );
  return (
    <form class="card" onSubmit={(event) => void send(event)}>
      <h2>{say("A new incident")}</h2>
      <div class="grid">
        <TextField
          label={say("Title in English")}
          maxLength={titleMax}
          required
          {...field("title")}
        />
        <TextField label={say("Title in Russian")} maxLength={titleMax} {...field("title_ru")} />
        <TextField
          label={say("What is known, in English")}
          maxLength={textMax}
          required
          {...field("text")}
        />
        <TextField
          label={say("What is known, in Russian")}
          maxLength={textMax}
          {...field("text_ru")}
        />
      </div>
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
      <Fault words={doing.fault} />
      <div class="buttons">
        <button type="submit" class="primary" disabled={doing.busy}>
          {say("Tell everybody")}
        </button>
        <button type="button" disabled={doing.busy} onClick={() => setOpen(false)}>
          {say("Cancel")}
        </button>
      </div>
    </form>
  );
}

interface TellingProps {
  incident: ConsoleIncident;
  end: End;
  close: (isTold: boolean) => void;
}

function Telling({ incident, end, close }: TellingProps) {
  const [text, setText] = useState("");
  const [textRu, setTextRu] = useState("");
  const doing = useDoing();
  const send = async (): Promise<void> => {
    const words =
      end === "close"
        ? say("Incident {id} closed", { id: String(incident.id) })
        : say("Told everybody");
    const path = `/incidents/${incident.id}/${end}`;
    const done = await doing.run(words, "POST", path, { text, text_ru: textRu });
    if (done !== null) close(true);
  };
  return (
    <Confirm
      title={say(end === "close" ? "Close “{title}”?" : "More about “{title}”", {
        title: incident.title.en,
      })}
      action={end === "close" ? say("Close") : say("Tell everybody")}
      busy={doing.busy}
      onConfirm={() => void send()}
      onCancel={() => close(false)}
    >
      <TextField
        label={say("What is known now, in English")}
        maxLength={textMax}
        required
        value={text}
        onChange={setText}
      />
      <TextField
        label={say("What is known now, in Russian")}
        maxLength={textMax}
        value={textRu}
        onChange={setTextRu}
      />
      <Fault words={doing.fault} />
    </Confirm>
  );
}
