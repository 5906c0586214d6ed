import { useState } from "preact/hooks";
import type {
  ConsolePartner,
  ConsoleRollback,
  ConsoleRollbackChange,
} from "#src/contract/console.ts";
import { dayMs } from "#src/domain/units.ts";
import { api, mayChange, useLoaded } from "#web/console/api.ts";
import { useDoing } from "#web/console/doing.ts";
import { localText } from "#web/console/pages/key-form.tsx";
import { SelectField, TextField } from "#web/console/parts/field.tsx";
import { Status, statusWord } from "#web/console/parts/status.tsx";
import { number } from "#web/kit/numbers.ts";
import { place } from "#web/console/place.ts";
import { Confirm } from "#web/kit/confirm.tsx";
import { Table } from "#web/kit/table.tsx";
import { Fault } from "#web/kit/fault.tsx";

/** Withdraws a campaign's marks as if they had never been made: first what would change, then the effect. */
export function RollbackPage() {
  const partners = useLoaded<{ partners: ConsolePartner[] }>("/partners");
  const asked = place.value.query;
  const [form, setForm] = useState({
    partner: asked.get("partner") ?? "",
    key: asked.get("key") ?? "",
    reporter: asked.get("reporter") ?? "",
    station: asked.get("station") ?? "",
    city: asked.get("city") ?? "",
    network: asked.get("network") ?? "",
    status: asked.get("status") ?? "",
    remote: "",
    first_seen_since: "",
    first_seen_until: "",
    since: localText(Date.now() - dayMs),
    until: "",
  });
  const [preview, setPreview] = useState<{ of: object; seen: ConsoleRollback } | null>(null);
  const [effect, setEffect] = useState<{ marks: number; stations: number } | null>(null);
  const [looking, setLooking] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  const [asking, setAsking] = useState(false);
  const doing = useDoing();

  const set = (change: Partial<typeof form>): void => {
    setForm({ ...form, ...change });
    // What was previewed is not what would be done any more.
    setPreview(null);
    setEffect(null);
  };
  const look = async (event: Event): Promise<void> => {
    event.preventDefault();
    setLooking(true);
    setEffect(null);
    const of = selectionOf(form);
    const answer = await api.send<ConsoleRollback>("POST", "/rollback/preview", of);
    setLooking(false);
    setFault(answer.failure?.words ?? null);
    setPreview(answer.failure === undefined ? { of, seen: answer.value } : null);
  };
  const withdraw = async (): Promise<void> => {
    const done = await doing.run<{ marks: number; stations: number }>(
      "The marks were withdrawn",
      "POST",
      "/rollback",
      preview?.of,
    );
    setAsking(false);
    if (done !== null) setEffect(done);
  };
  return (
    <section>
      <h1>Rollback</h1>
      <p class="soft">
        Withdraws marks as if they had never been made. Their stations are calculated again, and the
        changes come in the partners’ next delta. All times are times of receipt.
      </p>
      <form class="card" onSubmit={(event) => void look(event)}>
        <div class="grid">
          <SelectField
            label="Partner"
            value={form.partner}
            options={[
              ["", "any"],
              ...(partners.value.value?.partners ?? []).map(
                ({ id, name }) => [String(id), `${name} #${id}`] as const,
              ),
            ]}
            onChange={(partner) => set({ partner })}
          />
          <TextField
            label="Key’s number"
            type="number"
            min={1}
            value={form.key}
            onChange={(key) => set({ key })}
          />
          <TextField
            label="Reporter’s number"
            type="number"
            min={1}
            value={form.reporter}
            onChange={(reporter) => set({ reporter })}
          />
          <TextField
            label="Station’s id"
            maxLength={64}
            value={form.station}
            onChange={(station) => set({ station })}
          />
          <TextField
            label="City"
            maxLength={200}
            value={form.city}
            onChange={(city) => set({ city })}
          />
          <TextField
            label="Network, as an alarm names it"
            maxLength={64}
            value={form.network}
            onChange={(network) => set({ network })}
          />
          <SelectField
            label="Status"
            value={form.status}
            options={[
              ["", "any"],
              ...["yes", "low", "no", "queue"].map((one) => [one, statusWord(one)] as const),
            ]}
            onChange={(status) => set({ status })}
          />
          <SelectField
            label="Position"
            value={form.remote}
            options={[
              ["", "any"],
              ["true", "not at the station"],
              ["false", "at the station"],
            ]}
            onChange={(remote) => set({ remote })}
          />
          <TextField
            label="Reporter first seen since (your time)"
            type="datetime-local"
            value={form.first_seen_since}
            onChange={(time) => set({ first_seen_since: time })}
          />
          <TextField
            label="Reporter first seen until (your time)"
            type="datetime-local"
            value={form.first_seen_until}
            onChange={(time) => set({ first_seen_until: time })}
          />
          <TextField
            label="Since (your time)"
            type="datetime-local"
            value={form.since}
            onChange={(since) => set({ since })}
          />
          <TextField
            label="Until (your time)"
            type="datetime-local"
            value={form.until}
            onChange={(until) => set({ until })}
          />
        </div>
        <Fault words={fault ?? doing.fault} />
        <div class="buttons">
          <button type="submit" class="primary" disabled={looking}>
            {looking ? "Calculating …" : "Show what would change"}
          </button>
        </div>
      </form>
      {effect !== null && (
        <p class="banner good" role="status">
          <span aria-hidden="true">✓</span> {number(effect.marks)} marks at{" "}
          {number(effect.stations)} stations were withdrawn.
        </p>
      )}
      {preview !== null && (
        <Preview seen={preview.seen} done={effect !== null} ask={() => setAsking(true)} />
      )}
      {asking && preview !== null && (
        <Confirm
          title={`Withdraw ${number(preview.seen.marks)} marks permanently?`}
          action="Withdraw"
          danger
          busy={doing.busy}
          onConfirm={() => void withdraw()}
          onCancel={() => setAsking(false)}
        >
          <p>
            {number(preview.seen.stations)} stations are calculated again. This cannot be undone.
          </p>
        </Confirm>
      )}
    </section>
  );
}

function Preview({ seen, done, ask }: { seen: ConsoleRollback; done: boolean; ask: () => void }) {
  const { marks, held, reporters, stations, changes } = seen;
  if (marks === 0) return <p class="empty">No matching marks: there is nothing to withdraw.</p>;
  return (
    <div class="card">
      <h2>{done ? "What has changed" : "What would change"}</h2>
      <p>
        {number(marks)} marks ({number(held)} of them held) of {number(reporters)} reporters at{" "}
        {number(stations)} stations
        {stations > changes.length && `; the ${changes.length} stations with the most marks:`}
      </p>
      <Table
        caption="Changes of stations"
        rows={changes}
        id={({ station_id: id }) => id}
        empty=""
        columns={[
          {
            name: "Station",
            by: ({ station_id: id }) => id,
            cell: ({ station_id: id }) => <a href={`#/stations/${id}`}>{id}</a>,
          },
          { name: "Marks", by: (one) => one.marks, cell: (one) => one.marks, numeric: true },
          { name: "Status", by: changesStatus, cell: statusChange },
          {
            name: "Confirmations",
            cell: ({ before, after }) => arrow(before.confirmations, after.confirmations),
            numeric: true,
          },
          {
            name: "Pending",
            cell: ({ before, after }) =>
              arrow(before.pending_status || "–", after.pending_status || "–"),
          },
        ]}
      />
      {mayChange() && !done && (
        <div class="buttons">
          <button type="button" class="danger" onClick={ask}>
            Withdraw {number(marks)} marks …
          </button>
        </div>
      )}
    </div>
  );
}

const changesStatus = ({ before, after }: ConsoleRollbackChange): number =>
  before.status === after.status ? 1 : 0;

const statusChange = ({ before, after }: ConsoleRollbackChange) => (
  <>
    <Status status={before.status} />
    {before.status !== after.status && (
      <>
        {" → "}
        <Status status={after.status} />
      </>
    )}
  </>
);

const arrow = (before: string | number, after: string | number): string =>
  before === after ? String(before) : `${before} → ${after}`;

const numbers = ["partner", "key", "reporter"];
const times = ["since", "until", "first_seen_since", "first_seen_until"];

/** What of the form is given, as the server takes it. */
function selectionOf(form: Record<string, string>): object {
  const given = Object.entries(form).flatMap(([name, typed]): [string, unknown][] => {
    const text = name === "network" ? typed.trim().toLowerCase() : typed.trim();
    if (text === "") return [];
    if (numbers.includes(name)) return [[name, Number(text)]];
    if (times.includes(name)) return [[name, new Date(text).getTime()]];
    return [[name, name === "remote" ? text === "true" : text]];
  });
  return Object.fromEntries(given);
}
