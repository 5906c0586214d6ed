import { useAsking } from "#web/kit/asking.tsx";
import { Button } from "#web/kit/button.tsx";
import { useState } from "preact/hooks";
import type { ConsoleKey } from "#src/contract/console.ts";
import { mayChange } from "#web/console/api.ts";
import { useDoing } from "#web/console/doing.ts";
import { KeyForm } from "#web/console/pages/key-form.tsx";
import { CopyButton } from "#web/kit/copy-button.tsx";
import { Table, timed } from "#web/kit/table.tsx";
import { Moment } from "#web/kit/time.tsx";
import { Fault } from "#web/kit/fault.tsx";
import { say, sayWith } from "#web/console/words.ts";

interface Props {
  partnerId: number;
  keys: readonly ConsoleKey[];
  changed: () => Promise<void>;
}

/** A partner's keys: issue, change, revoke. A key's text is shown once, right after it is made. */
export function Keys({ partnerId, keys, changed }: Props) {
  const [form, setForm] = useState<ConsoleKey | "new" | null>(null);
  const [issued, setIssued] = useState<string | null>(null);
  const doing = useDoing();
  const { ask, question } = useAsking();
  const done = async (key: string | null): Promise<void> => {
    setForm(null);
    if (key !== null) setIssued(key);
    await changed();
  };
  const revoke = ({ id, prefix, last_used: at }: ConsoleKey): void =>
    ask({
      title: say("Revoke {prefix}… permanently?", { prefix }),
      why: sayWith(
        "Requests with this key get 401 within 15 seconds, and its dashboard sessions end. Last used: {when}.",
        { when: <Moment at={at} /> },
      ),
      ...{ action: say("Revoke"), danger: true },
      run: async () => {
        const words = say("Key {id} was revoked", { id });
        if ((await doing.run(words, "POST", `/keys/${id}/revoke`)) !== null) await changed();
      },
    });
  return (
    <div class="card">
      <div class="title">
        <h2>{say("Keys")}</h2>
        {mayChange() && <Button words={say("Issue a key")} onClick={() => setForm("new")} />}
      </div>
      {issued !== null && <Issued text={issued} close={() => setIssued(null)} />}
      <Table
        caption={say("Keys")}
        rows={keys}
        id={({ id }) => id}
        perPage={10}
        empty={say("No keys: this partner cannot use the API yet.")}
        columns={[
          {
            name: say("Key"),
            by: ({ id }) => id,
            cell: ({ id, prefix, label }) => (
              <>
                <code>{prefix}…</code> <span class="soft">#{id}</span>
                {label !== "" && <div>{label}</div>}
              </>
            ),
          },
          { name: say("Kind"), of: "kind", cell: (kind) => say(kind) },
          { name: say("Bound to"), cell: boundTo },
          { name: say("Rules"), cell: rules },
          timed(say("Last used"), "last_used"),
          { name: say("Ends"), by: ({ revoked, expires }) => revoked ?? expires ?? 0, cell: ends },
          {
            name: say("Actions"),
            cell: (key) =>
              mayChange() &&
              key.revoked === null && (
                <div class="actions">
                  <Button of={say("key {id}", { id: key.id })} onClick={() => setForm(key)}>
                    {say("Change")}
                  </Button>
                  <Button of={say("key {id}", { id: key.id })} onClick={() => revoke(key)}>
                    {say("Revoke")}
                  </Button>
                </div>
              ),
          },
        ]}
      />
      {form !== null && (
        <KeyForm
          partnerId={partnerId}
          before={form === "new" ? null : form}
          done={done}
          close={() => setForm(null)}
        />
      )}
      <Fault words={doing.fault} />
      {question}
    </div>
  );
}

const Issued = ({ text, close }: { text: string; close: () => void }) => (
  <div class="issued" role="status">
    <p>
      <strong>{say("Save this key now.")}</strong>{" "}
      {say("Only its hash is stored: it cannot be shown again.")}
    </p>
    <code>{text}</code>
    <div class="buttons">
      <CopyButton text={text} label={say("Copy the key")} />
      <Button words={say("I have saved it")} onClick={close} />
    </div>
  </div>
);

const boundTo = ({ kind, domains, ips }: ConsoleKey) => {
  const bound = [...domains, ...ips];
  if (bound.length > 0) return bound.join(", ");
  return <span class="soft">{kind === "secret" ? say("any address") : say("no domain")}</span>;
};

const rules = ({ confirm_min: n, reports, mass_no_limit: limit, ...key }: ConsoleKey) => (
  <>
    {n === 0
      ? say("default rules")
      : n === 1
        ? say("first mark publishes")
        : say("{n} {n|device|devices}", { n: String(n) })}
    {!reports && <span class="tag warn">{say("no marks")}</span>}
    <div class="soft">
      {say("review after {limit} {limit|station|stations} harmfully changed in an hour", {
        limit: String(limit),
      })}
    </div>
    {key.limited_until !== null && key.limited_until > Date.now() && (
      <div>
        <span class="tag warn">{say("limited to {n}", { n: String(key.limited_to) })}</span>{" "}
        {sayWith("until {day}", { day: <Moment at={key.limited_until} /> })}
      </div>
    )}
  </>
);

const ends = ({ revoked, expires }: ConsoleKey) =>
  revoked === null ? (
    <Moment at={expires} />
  ) : (
    <>
      <span class="tag bad">{say("revoked")}</span> <Moment at={revoked} />
    </>
  );
