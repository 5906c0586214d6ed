import { Button } from "#web/kit/button.tsx";
import { useState } from "preact/hooks";
import type { ConsolePartner } from "#src/contract/console.ts";
import { mayChange, useLoaded } from "#web/console/api.ts";
import { useDoing } from "#web/console/doing.ts";
import { TextField } from "#web/console/parts/field.tsx";
import { LimitFields, useLimits } from "#web/console/parts/limit-fields.tsx";
import { number } from "#web/kit/numbers.ts";
import { goTo } from "#web/console/place.ts";
import { Confirm } from "#web/kit/confirm.tsx";
import { Table, counted } from "#web/kit/table.tsx";
import { Fault } from "#web/kit/fault.tsx";
import { Loaded } from "#web/kit/resource.tsx";
import { say } from "#web/console/words.ts";

interface Answer {
  partners: ConsolePartner[];
  defaults: { rpm: number; daily: number };
}

/** All partners; a new one. */
export function PartnersPage() {
  const loading = useLoaded<Answer>("/partners");
  const [q, setQ] = useState("");
  const [making, setMaking] = useState(false);
  const fits = ({ id, name }: ConsolePartner): boolean =>
    `${id} ${name}`.toLowerCase().includes(q.trim().toLowerCase());
  return (
    <section>
      <div class="title">
        <h1>{say("Partners")}</h1>
        {mayChange() && (
          <Button words={say("New partner")} class="primary" onClick={() => setMaking(true)} />
        )}
      </div>
      <Loaded of={loading}>
        {({ partners, defaults }) => (
          <>
            <TextField
              label={say("Search by name or number")}
              type="search"
              value={q}
              onChange={setQ}
            />
            <List partners={partners.filter(fits)} searched={q !== ""} />
            {making && <NewPartner defaults={defaults} close={() => setMaking(false)} />}
          </>
        )}
      </Loaded>
    </section>
  );
}

const List = ({ partners, searched }: { partners: ConsolePartner[]; searched: boolean }) => (
  <Table
    caption={say("Partners")}
    rows={partners}
    id={({ id }) => id}
    empty={
      searched
        ? say("No matching partners.")
        : say("No partners yet. Create the first one, then its keys.")
    }
    columns={[
      {
        name: say("Partner"),
        by: ({ name }) => name,
        cell: ({ id, name, enabled, pending_request: asks, held }) => (
          <>
            <a href={`#/partners/${id}`}>{name}</a> <span class="soft">#{id}</span>
            {!enabled && <span class="tag bad">{say("switched off")}</span>}
            {asks && <span class="tag warn">{say("limit request")}</span>}
            {held > 0 && <span class="tag warn">{say("{n} held", { n: String(held) })}</span>}
          </>
        ),
      },
      {
        name: say("Keys"),
        by: ({ secret_keys: s, publishable_keys: p }) => s + p,
        cell: ({ secret_keys: s, publishable_keys: p }) =>
          say("{s} secret, {p} publishable", { s: String(s), p: String(p) }),
      },
      counted(say("Per minute"), "rpm"),
      counted(say("Per day"), "daily"),
      counted(say("Today"), "used_today"),
      {
        name: say("Busiest day of 7"),
        by: ({ used_peak: used }) => used,
        cell: ({ used_peak: used, daily }) => (
          <>
            {number(used)}{" "}
            <span class="soft">({Math.round((100 * used) / Math.max(1, daily))} %)</span>
          </>
        ),
        numeric: true,
      },
    ]}
  />
);

function NewPartner({ defaults, close }: { defaults: Answer["defaults"]; close: () => void }) {
  const [name, setName] = useState("");
  const [limits, setLimits] = useLimits(defaults.rpm, defaults.daily);
  const doing = useDoing();
  const make = async (): Promise<void> => {
    const body = { name, rpm: Number(limits.rpm), daily: Number(limits.daily) };
    const made = await doing.run<{ id: number }>(
      say("{name} was created", { name }),
      "POST",
      "/partners",
      body,
    );
    if (made !== null) goTo(`/partners/${made.id}`);
  };
  return (
    <Confirm
      title={say("New partner")}
      action={say("Create")}
      busy={doing.busy}
      onConfirm={() => void make()}
      onCancel={close}
    >
      <TextField label={say("Name")} value={name} onChange={setName} maxLength={200} required />
      <LimitFields {...limits} onChange={setLimits} />
      <Fault words={doing.fault} />
    </Confirm>
  );
}
