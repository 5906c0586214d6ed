import { useState } from "preact/hooks";
import type { ConsolePartner } from "#src/contract/console.ts";
import { mayChange, useLoaded } from "#web/console/api.ts";
import { useDoing } from "#web/console/doing.ts";
import { PersonFields, personOf } from "#web/console/parts/person-fields.tsx";
import { Confirm } from "#web/kit/confirm.tsx";
import { CopyButton } from "#web/kit/copy-button.tsx";
import { Fault } from "#web/kit/fault.tsx";
import { say } from "#web/console/words.ts";

/** Erases a person, and hands out a person's data (decisions 19). */
export function PeoplePage() {
  const partners = useLoaded<{ partners: ConsolePartner[] }>("/partners");
  const [named, setNamed] = useState({ partner: "", name: "" });
  const [told, setTold] = useState<{ text: string; data?: string } | null>(null);
  const [asking, setAsking] = useState(false);
  const doing = useDoing();
  const person = personOf(named);
  const unknown = say("Nobody of this name is known. Compare the spelling.");
  const look = async (event: Event): Promise<void> => {
    event.preventDefault();
    setTold(null);
    const data = await doing.run<{ first_seen: string | null }>(
      say("The export is done"),
      "POST",
      "/reporters/export",
      person,
    );
    if (data === null) return;
    const found = { text: say("All that is kept:"), data: JSON.stringify(data, null, 2) };
    setTold(data.first_seen === null ? { text: unknown } : found);
  };
  const erase = async (): Promise<void> => {
    const done = await doing.run<{ erased: boolean }>(
      say("Erasing is done"),
      "POST",
      "/reporters/erase",
      person,
    );
    setAsking(false);
    if (done !== null)
      setTold({ text: done.erased ? say("The person was erased. The marks stay.") : unknown });
  };
  return (
    <section>
      <h1>{say("Privacy")}</h1>
      <p class="soft">
        {say(
          "Erases a person: nothing leads from the marks to the person any more, and no status changes. Export shows what is kept of a person, for that person.",
        )}
      </p>
      <form class="card" onSubmit={(event) => void look(event)}>
        <PersonFields
          of={named}
          partners={partners.value.value?.partners ?? []}
          onChange={(person) => {
            setNamed(person);
            setTold(null);
          }}
        />
        <Fault words={doing.fault} />
        {mayChange() ? (
          <div class="buttons">
            <button type="submit" class="primary" disabled={doing.busy || named.name === ""}>
              {say("Export")}
            </button>
            <button
              type="button"
              class="danger"
              disabled={doing.busy || named.name === ""}
              onClick={() => setAsking(true)}
            >
              {say("Erase")}
            </button>
          </div>
        ) : (
          <p class="soft">{say("Your account may look, but change nothing.")}</p>
        )}
      </form>
      {told !== null && (
        <div class="card" role="status">
          <p>{told.text}</p>
          {told.data !== undefined && (
            <>
              <pre>{told.data}</pre>
              <CopyButton text={told.data} />
            </>
          )}
        </div>
      )}
      {asking && (
        <Confirm
          title={say("Erase this person permanently?")}
          action={say("Erase")}
          danger
          busy={doing.busy}
          onConfirm={() => void erase()}
          onCancel={() => setAsking(false)}
        />
      )}
    </section>
  );
}
