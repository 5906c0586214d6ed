import { useState } from "preact/hooks";
import type { MadeLink, ShownLink } from "#src/contract/dashboard.ts";
import { Section } from "#web/dashboard/section.tsx";
import { api, links } from "#web/dashboard/state.ts";
import { Confirm } from "#web/kit/confirm.tsx";
import { CopyButton } from "#web/kit/copy-button.tsx";
import { Fault } from "#web/kit/fault.tsx";
import { Loaded } from "#web/kit/resource.tsx";
import { Table, timed } from "#web/kit/table.tsx";
import { Moment } from "#web/kit/time.tsx";
import { say, sayWith } from "#web/dashboard/words.ts";
import { DaysField } from "#web/dashboard/days-field.tsx";

const [daysMin, daysMax, daysUsual] = [1, 365, 90];

/** Links that show this dashboard and change nothing (decisions 12.16): made, listed and ended. */
export function Links() {
  const [isAdding, setAdding] = useState(false);
  const [made, setMade] = useState<MadeLink | null>(null);
  return (
    <Section
      id="links"
      title={say("Links for readers")}
      tools={
        <button type="button" onClick={() => setAdding(!isAdding)} aria-expanded={isAdding}>
          {say("Make a link")}
        </button>
      }
    >
      <p class="soft small">
        {say(
          "Whoever has such a link sees this dashboard without webhooks and links, and can change nothing and call no API. It ends on its day, with the key that made it, or when you end it.",
        )}
      </p>
      {isAdding && (
        <Form
          cancel={() => setAdding(false)}
          done={(link) => {
            setAdding(false);
            setMade(link);
          }}
        />
      )}
      {made !== null && (
        <div class="note" role="status">
          <p>
            {sayWith("The link is valid until {day}. It is shown this once: copy it now.", {
              day: <Moment at={made.expires} />,
            })}
          </p>
          <p>
            <code class="said">{made.url}</code> <CopyButton text={made.url} />
          </p>
          <button type="button" onClick={() => setMade(null)}>
            {say("Done")}
          </button>
        </div>
      )}
      <Loaded of={links}>{(value) => <List links={value.links} />}</Loaded>
    </Section>
  );
}

const List = ({ links: rows }: { links: readonly ShownLink[] }) => (
  <Table
    caption={say("Your links for readers")}
    rows={rows}
    id={({ id }) => id}
    empty={say("No links.")}
    perPage={10}
    columns={[
      { name: say("For"), cell: ({ label }) => label, by: ({ label }) => label },
      {
        name: say("Created"),
        cell: ({ created, prefix }) => (
          <>
            <Moment at={created} />
            <br />
            <code class="whole soft small">{prefix}…</code>
          </>
        ),
        by: ({ created }) => created,
      },
      timed(say("Last used"), "seen"),
      timed(say("Expires"), "expires"),
      {
        name: say("State"),
        cell: ({ over, ended }) => (
          <span>
            <span class={`badge ${over ? "" : "in-force"}`}>
              {over ? say("○ over") : say("✓ in force")}
            </span>{" "}
            {ended !== null && sayWith("ended {day}", { day: <Moment at={ended} /> })}
          </span>
        ),
      },
      { name: say("Action"), cell: (link) => (link.over ? null : <End link={link} />) },
    ]}
  />
);

function End({ link: { id, label } }: { link: ShownLink }) {
  const [isAsked, setAsked] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  const end = async (): Promise<void> => {
    setBusy(true);
    const { failure } = await api.send("DELETE", `/links/${id}`);
    setBusy(false);
    setAsked(false);
    setFault(failure?.words ?? null);
    await links.load();
  };
  return (
    <>
      <button type="button" onClick={() => setAsked(true)}>
        {say("End it")}
        <span class="unseen"> {label}</span>
      </button>
      <Fault words={fault} />
      {isAsked && (
        <Confirm
          title={say("End this link?")}
          action={say("End it")}
          danger
          busy={isBusy}
          onConfirm={() => void end()}
          onCancel={() => setAsked(false)}
        >
          <p>{label}</p>
          <p>{say("Everybody who uses it is signed out at once.")}</p>
        </Confirm>
      )}
    </>
  );
}

function Form({ done, cancel }: { done: (link: MadeLink) => void; cancel: () => void }) {
  const [label, setLabel] = useState("");
  const [days, setDays] = useState(String(daysUsual));
  const [isBusy, setBusy] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  const submit = async (submitted: Event): Promise<void> => {
    submitted.preventDefault();
    setBusy(true);
    const result = await api.send<MadeLink>("POST", "/links", { label, days: Number(days) });
    setBusy(false);
    setFault(result.failure?.words ?? null);
    if (result.failure !== undefined) return;
    done(result.value);
    await links.load();
  };
  return (
    <form class="ask" onSubmit={(submitted) => void submit(submitted)}>
      <div class="pair">
        <div class="field">
          <label for="link-label">{say("For whom")}</label>
          <input
            id="link-label"
            type="text"
            required
            maxLength={100}
            autoComplete="off"
            value={label}
            onInput={({ currentTarget }) => setLabel(currentTarget.value)}
          />
        </div>
        <DaysField
          id="link-days"
          label={say("Days until it ends")}
          between={[daysMin, daysMax]}
          value={days}
          set={setDays}
        />
      </div>
      <Fault words={fault} />
      <div class="tools">
        <button type="submit" class="primary" disabled={isBusy}>
          {isBusy ? say("Working …") : say("Make the link")}
        </button>
        <button type="button" disabled={isBusy} onClick={cancel}>
          {say("Cancel")}
        </button>
      </div>
    </form>
  );
}
