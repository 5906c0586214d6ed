import { useAsking } from "#web/kit/asking.tsx";
import { Once } from "#web/dashboard/once.tsx";
import { Form } from "#web/kit/form.tsx";
import { Button } from "#web/kit/button.tsx";
import { useState } from "preact/hooks";
import type { MadeLink, ShownLink } from "#src/contract/dashboard.ts";
import { Section } from "#web/dashboard/section.tsx";
import { links, useDoing } from "#web/dashboard/state.ts";
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
        <Button onClick={() => setAdding(!isAdding)} aria-expanded={isAdding}>
          {say("Make a link")}
        </Button>
      }
    >
      <p class="soft small">
        {say(
          "Whoever has such a link sees this dashboard without webhooks and links, and can change nothing and call no API. It ends on its day, with the key that made it, or when you end it.",
        )}
      </p>
      {isAdding && (
        <NewLink
          cancel={() => setAdding(false)}
          done={(link) => {
            setAdding(false);
            setMade(link);
          }}
        />
      )}
      {made !== null && (
        <Once
          words={sayWith("The link is valid until {day}. It is shown this once: copy it now.", {
            day: <Moment at={made.expires} />,
          })}
          text={made.url}
          close={() => setMade(null)}
        />
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
      { name: say("For"), of: "label" },
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
  const doing = useDoing();
  const { ask, question } = useAsking();
  const end = (): void =>
    ask({
      title: say("End this link?"),
      why: (
        <>
          {label}
          <br />
          {say("Everybody who uses it is signed out at once.")}
        </>
      ),
      ...{ action: say("End it"), danger: true },
      run: async () => {
        await doing.run("", "DELETE", `/links/${id}`);
        await links.load();
      },
    });
  return (
    <>
      <Button words={say("End it")} of={label} onClick={end} />
      <Fault words={doing.fault} />
      {question}
    </>
  );
}

function NewLink({ done, cancel }: { done: (link: MadeLink) => void; cancel: () => void }) {
  const [label, setLabel] = useState("");
  const [days, setDays] = useState(String(daysUsual));
  const doing = useDoing();
  const send = async (): Promise<void> => {
    const body = { label, days: Number(days) };
    const made = await doing.run<MadeLink>("", "POST", "/links", body);
    if (made === null) return;
    done(made);
    await links.load();
  };
  return (
    <Form
      class="ask"
      send={send}
      doing={doing}
      action={doing.busy ? say("Working …") : say("Make the link")}
      cancel={cancel}
    >
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
    </Form>
  );
}
