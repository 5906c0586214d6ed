import { Button } from "#web/kit/button.tsx";
import { useState } from "preact/hooks";
import type { ConsolePartner } from "#src/contract/console.ts";
import { mayChange, useLoaded } from "#web/console/api.ts";
import { useDoing } from "#web/console/doing.ts";
import { PersonFields, personOf } from "#web/console/parts/person-fields.tsx";
import { useAsking } from "#web/kit/asking.tsx";
import { Form } from "#web/kit/form.tsx";
import { CopyButton } from "#web/kit/copy-button.tsx";
import { say } from "#web/console/words.ts";

/** Erases a person, and hands out a person's data (decisions 19). */
export function PeoplePage() {
  const partners = useLoaded<{ partners: ConsolePartner[] }>("/partners");
  const [named, setNamed] = useState({ partner: "", name: "" });
  const [told, setTold] = useState<{ text: string; data?: string } | null>(null);
  const { ask, question } = useAsking();
  const doing = useDoing();
  const person = personOf(named);
  const unknown = say("Nobody of this name is known. Compare the spelling.");
  const look = async (): Promise<void> => {
    setTold(null);
    const [words, path] = [say("The export is done"), "/reporters/export"];
    const data = await doing.run<{ first_seen: string | null }>(words, "POST", path, person);
    if (data === null) return;
    const found = { text: say("All that is kept:"), data: JSON.stringify(data, null, 2) };
    setTold(data.first_seen === null ? { text: unknown } : found);
  };
  const erase = async (): Promise<void> => {
    const [words, path] = [say("Erasing is done"), "/reporters/erase"];
    const done = await doing.run<{ erased: boolean }>(words, "POST", path, person);
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
      <Form
        send={look}
        doing={doing}
        action={mayChange() && say("Export")}
        disabled={named.name === ""}
        more={
          <Button
            words={say("Erase")}
            class="danger"
            disabled={doing.busy || named.name === ""}
            onClick={() =>
              ask({
                ...{ title: say("Erase this person permanently?"), why: "" },
                ...{ action: say("Erase"), danger: true, run: erase },
              })
            }
          />
        }
      >
        <PersonFields
          of={named}
          partners={partners.value.value?.partners ?? []}
          onChange={(person) => {
            setNamed(person);
            setTold(null);
          }}
        />
        {!mayChange() && <p class="soft">{say("Your account may look, but change nothing.")}</p>}
      </Form>
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
      {question}
    </section>
  );
}
