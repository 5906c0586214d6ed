import { useState } from "preact/hooks";
import type { ConsoleLogEntry } from "#src/contract/console.ts";
import { decisionActions } from "#src/contract/decisions.ts";
import { api, useLoaded } from "#web/console/api.ts";
import { TextField } from "#web/console/parts/field.tsx";
import { LogFacts } from "#web/console/parts/log-facts.tsx";
import { say } from "#web/console/words.ts";
import { Table } from "#web/kit/table.tsx";
import { Moment } from "#web/kit/time.tsx";
import { Fault } from "#web/kit/fault.tsx";
import { Loaded } from "#web/kit/resource.tsx";

interface Answer {
  entries: ConsoleLogEntry[];
  next: number | null;
}

/** The operators' log: acts with their actors. No entry is ever removed. */
export function LogPage() {
  const [form, setForm] = useState({ actor: "", action: "", subject: "" });
  const [filter, setFilter] = useState(form);
  const path = `/log?${new URLSearchParams(filter).toString()}`;
  const loading = useLoaded<Answer>(path);
  return (
    <section>
      <h1>{say("Log")}</h1>
      <form
        class="card"
        onSubmit={(event) => {
          event.preventDefault();
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
              value={form[name]}
              onChange={(value) => setForm({ ...form, [name]: value })}
              maxLength={200}
            />
          ))}
        </div>
        <div class="buttons">
          <button type="submit" class="primary">
            {say("Filter")}
          </button>
        </div>
      </form>
      <Loaded of={loading}>{(first) => <Entries key={path} path={path} first={first} />}</Loaded>
    </section>
  );
}

function Entries({ path, first }: { path: string; first: Answer }) {
  const [older, setOlder] = useState<Answer | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const { next } = older ?? first;
  const more = async (): Promise<void> => {
    const answer = await api.get<Answer>(`${path}&before=${next}`);
    setFault(answer.failure?.words ?? null);
    if (answer.failure === undefined)
      setOlder({
        entries: [...(older?.entries ?? []), ...answer.value.entries],
        next: answer.value.next,
      });
  };
  return (
    <>
      <Table
        caption={say("The operator’s log")}
        rows={[...first.entries, ...(older?.entries ?? [])]}
        id={({ id }) => id}
        empty={say("No matching entries.")}
        perPage={50}
        columns={[
          { name: say("When"), by: ({ at }) => at, cell: ({ at }) => <Moment at={at} /> },
          { name: say("Actor"), by: ({ actor }) => actor, cell: ({ actor }) => stored(actor) },
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
          {
            name: say("Subject"),
            by: ({ subject }) => subject,
            cell: ({ subject }) => stored(subject),
          },
          { name: say("Details"), cell: ({ details }) => <LogFacts of={details} /> },
        ]}
      />
      <Fault words={fault} />
      {next !== null && (
        <button type="button" onClick={() => void more()}>
          {say("Load older entries")}
        </button>
      )}
    </>
  );
}

/** The text as it is stored and as the filter finds it, in any language of the console. */
const stored = (text: string) => <span lang="en">{text}</span>;
