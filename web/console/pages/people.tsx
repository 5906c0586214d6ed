import { useState } from "preact/hooks";
import type { ConsolePartner } from "#src/contract/console.ts";
import { mayChange, useLoaded } from "#web/console/api.ts";
import { useDoing } from "#web/console/doing.ts";
import { SelectField, TextField } from "#web/console/parts/field.tsx";
import { Confirm } from "#web/kit/confirm.tsx";
import { CopyButton } from "#web/kit/copy-button.tsx";
import { Fault } from "#web/kit/fault.tsx";
import { say } from "#web/console/words.ts";

/** Erases a person, and hands out a person's data (decisions 19). */
export function PeoplePage() {
  const partners = useLoaded<{ partners: ConsolePartner[] }>("/partners");
  const [partner, setPartner] = useState("");
  const [name, setName] = useState("");
  const [told, setTold] = useState<{ text: string; data?: string } | null>(null);
  const [asking, setAsking] = useState(false);
  const doing = useDoing();
  const person = partner === "" ? { device: name } : { partner: Number(partner), user_ref: name };
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
  const set = (change: () => void): void => {
    change();
    setTold(null);
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
        <div class="grid">
          <SelectField
            label={say("Where the person marks")}
            value={partner}
            options={[
              ["", say("on the map")],
              ...(partners.value.value?.partners ?? []).map(
                ({ id, name: title }) => [String(id), `${title} #${id}`] as const,
              ),
            ]}
            onChange={(value) => set(() => setPartner(value))}
          />
          <TextField
            label={partner === "" ? say("Device’s id") : say("The partner’s user_ref")}
            hint={say("Exactly as it is sent")}
            maxLength={128}
            required
            autocomplete="off"
            value={name}
            onChange={(value) => set(() => setName(value))}
          />
        </div>
        <Fault words={doing.fault} />
        {mayChange() ? (
          <div class="buttons">
            <button type="submit" class="primary" disabled={doing.busy || name === ""}>
              {say("Export")}
            </button>
            <button
              type="button"
              class="danger"
              disabled={doing.busy || name === ""}
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
