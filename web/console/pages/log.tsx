import { Button } from "#web/kit/button.tsx";
import { type Part, useOlder } from "#web/console/parts/use-older.ts";
import { useForm } from "#web/console/parts/use-form.ts";
import { Form } from "#web/kit/form.tsx";
import { useState } from "preact/hooks";
import type { ConsoleLogEntry } from "#src/contract/console.ts";
import { decisionActions } from "#src/contract/decisions.ts";
import { useLoaded } from "#web/console/api.ts";
import { TextField } from "#web/console/parts/field.tsx";
import { LogFacts } from "#web/console/parts/log-facts.tsx";
import { say } from "#web/console/words.ts";
import { Table, timed } from "#web/kit/table.tsx";
import { Fault } from "#web/kit/fault.tsx";
import { Loaded } from "#web/kit/resource.tsx";

type Answer = Part<"entries", ConsoleLogEntry>;

/** The operators' log: acts with their actors. No entry is ever removed. */
export function LogPage() {
  const { form, at } = useForm({ actor: "", action: "", subject: "" });
  const [filter, setFilter] = useState(form);
  const path = `/log?${new URLSearchParams(filter).toString()}`;
  const loading = useLoaded<Answer>(path);
  return (
    <section>
      <h1>{say("Log")}</h1>
      <Form
        doing={{ busy: false, fault: null }}
        action={say("Filter")}
        send={() => {
          setFilter(form);
          void loading.load();
        }}
      >
        <div class="grid">
          {(["actor", "action", "subject"] as const).map((name) => (
            <TextField
              key={name}
              label={{ actor: say("Actor"), action: say("Action"), subject: say("Subject") }[name]}
              placeholder={{ actor: "olga", action: "key.revoke", subject: "partner 3" }[name]}
              {...at(name)}
              maxLength={200}
            />
          ))}
        </div>
      </Form>
      <Loaded of={loading}>{(first) => <Entries key={path} path={path} first={first} />}</Loaded>
    </section>
  );
}

function Entries({ path, first }: { path: string; first: Answer }) {
  const { entries, more, fault } = useOlder("entries", `${path}&`, first);
  return (
    <>
      <Table
        caption={say("The operator’s log")}
        rows={entries}
        id={({ id }) => id}
        empty={say("No matching entries.")}
        perPage={50}
        columns={[
          timed(say("When"), "at"),
          { name: say("Actor"), of: "actor", cell: (actor) => stored(actor) },
          {
            name: say("Action"),
            by: ({ action }) => action,
            cell: ({ id, action }) =>
              Object.hasOwn(decisionActions, action) ? (
                <a href={`#/decisions/${id}`}>{stored(action)}</a>
              ) : (
                stored(action)
              ),
          },
          { name: say("Subject"), of: "subject", cell: (subject) => stored(subject) },
          { name: say("Details"), cell: ({ details }) => <LogFacts of={details} /> },
        ]}
      />
      <Fault words={fault} />
      {more !== null && <Button words={say("Load older entries")} onClick={more} />}
    </>
  );
}

/** The text as it is stored and as the filter finds it, in any language of the console. */
const stored = (text: string) => <span lang="en">{text}</span>;
