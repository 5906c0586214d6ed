import { useEffect, useId, useState } from "preact/hooks";
import { type ConsoleImport, importKinds } from "#src/contract/console.ts";
import { api, mayChange, useLoaded } from "#web/console/api.ts";
import { tell } from "#web/console/doing.ts";
import { SelectField, SwitchField, TextField } from "#web/console/parts/field.tsx";
import { Confirm } from "#web/kit/confirm.tsx";
import { number } from "#web/kit/numbers.ts";
import { Table } from "#web/kit/table.tsx";
import { Moment } from "#web/kit/time.tsx";
import { Fault } from "#web/kit/fault.tsx";
import { Loaded } from "#web/kit/resource.tsx";

const restMs = 10_000;
const runningMs = 1000;

type Kind = ConsoleImport["kind"];

const what: Record<Kind, string> = {
  stations: "Stations: OpenStreetMap as Overpass JSON or GeoJSON",
  cities: "Cities: hflabs CSV or GeoNames",
  statuses: "Statuses: CSV of station_id, status, fuels_now, fuels_no, updated",
};

/** Files of stations, cities and statuses: first tried, then imported, with how far each is. */
export function ImportsPage() {
  const [everyMs, setEvery] = useState(restMs);
  const loading = useLoaded<{ imports: ConsoleImport[] }>("/imports", everyMs);
  const running = loading.value.value?.imports.some(({ state }) => state === "running") === true;
  useEffect(() => setEvery(running ? runningMs : restMs), [running]);
  return (
    <section>
      <h1>Imports</h1>
      <p class="soft">
        Files of at most 50 MB. Import larger files on the server:{" "}
        <code>npm run operator -- stations import FILE</code>. Also import French stock-outs there,
        because they need two files: <code>statuses import FILE --format fr-ruptures</code>
      </p>
      {mayChange() && <Form started={loading.load} />}
      <Loaded of={loading}>{({ imports }) => <Runs imports={imports} />}</Loaded>
    </section>
  );
}

function Form({ started }: { started: () => Promise<void> }) {
  const fileId = useId();
  const [kind, setKind] = useState<Kind>("stations");
  const [file, setFile] = useState<File | null>(null);
  const [source, setSource] = useState("");
  const [asksReplace, setReplace] = useState(false);
  // A tick that was made for stations must not go along, unseen, with statuses.
  const replace = asksReplace && kind !== "statuses";
  const [allowed, setAllowed] = useState("");
  const [busy, setBusy] = useState(false);
  const [asking, setAsking] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  const send = async (dryRun: boolean): Promise<void> => {
    if (file === null) return;
    setBusy(true);
    const query = new URLSearchParams({
      kind,
      file: file.name,
      dry_run: String(dryRun),
      ...(source === "" ? {} : { source }),
      ...(replace ? { replace_source: "true" } : {}),
      ...(replace && allowed !== "" ? { allow_removals: allowed } : {}),
    });
    const answer = await api.upload(`/imports?${query.toString()}`, file);
    setBusy(false);
    setAsking(false);
    setFault(answer.failure?.words ?? null);
    if (answer.failure === undefined)
      tell(dryRun ? "The dry run has started" : "The import has started");
    await started();
  };
  return (
    <form
      class="card"
      onSubmit={(event) => {
        event.preventDefault();
        void send(true);
      }}
    >
      <div class="grid">
        <SelectField
          label="Content"
          value={kind}
          options={importKinds.map((one) => [one, what[one]])}
          onChange={(value) => setKind(importKinds.find((one) => one === value) ?? "stations")}
        />
        <div class="field">
          <label for={fileId}>File</label>
          <input
            id={fileId}
            type="file"
            required
            onChange={({ currentTarget }) => setFile(currentTarget.files?.[0] ?? null)}
          />
        </div>
        <TextField
          label="Name of the source"
          hint="A different name for each extract. Empty: the default of the format."
          value={source}
          onChange={setSource}
          maxLength={40}
        />
      </div>
      {kind !== "statuses" && (
        <SwitchField
          label="Take everything out of service that is not in the file"
          hint="Applies only to rows of the same source. Use it only with a complete extract."
          checked={replace}
          onChange={setReplace}
        />
      )}
      {replace && (
        <TextField
          label="Removals to allow"
          hint="Empty: 100, or a tenth of the source if that is more."
          type="number"
          min={0}
          value={allowed}
          onChange={setAllowed}
        />
      )}
      <Fault words={fault} />
      <div class="buttons">
        <button type="submit" class="primary" disabled={busy || file === null}>
          Dry run, change nothing
        </button>
        <button type="button" disabled={busy || file === null} onClick={() => setAsking(true)}>
          Import it …
        </button>
      </div>
      {asking && (
        <Confirm
          title={`Import ${file?.name ?? ""}?`}
          action="Import it"
          danger={replace}
          busy={busy}
          onConfirm={() => void send(false)}
          onCancel={() => setAsking(false)}
        >
          <p>
            {replace
              ? "Everything that is not in the file goes out of service. Partners see the changes in their next delta."
              : "Partners see the changes in their next delta. Make a dry run first to see what would change."}
          </p>
        </Confirm>
      )}
    </form>
  );
}

const Runs = ({ imports }: { imports: readonly ConsoleImport[] }) => (
  <Table
    caption="Imports"
    rows={imports}
    id={({ id }) => id}
    empty="No imports yet."
    columns={[
      {
        name: "File",
        by: ({ file }) => file,
        cell: ({ file, kind, dry_run: dry }) => (
          <>
            {file} <div class="soft">{dry ? `${kind}, dry run` : kind}</div>
          </>
        ),
      },
      { name: "State", by: ({ state }) => state, cell: (one) => <State of={one} /> },
      {
        name: "Result",
        cell: ({ summary, fault }) => <Did summary={summary} fault={fault} />,
      },
      { name: "By", by: ({ actor }) => actor, cell: ({ actor }) => actor },
      {
        name: "When",
        by: ({ started }) => started,
        cell: ({ started }) => <Moment at={started} />,
      },
    ]}
  />
);

const tones: Record<ConsoleImport["state"], string> = {
  running: "",
  done: "good",
  refused: "bad",
  failed: "bad",
  interrupted: "warn",
};

function State({ of: { state, step, done, total } }: { of: ConsoleImport }) {
  if (state !== "running") return <span class={`tag ${tones[state]}`}>{state}</span>;
  const words =
    step === ""
      ? "starting"
      : `${step} ${number(done)}${total === null ? "" : ` of ${number(total)}`}`;
  return (
    <>
      <progress aria-label={words} {...(total === null ? {} : { max: total, value: done })} />
      <div class="soft">{words}</div>
    </>
  );
}

function Did({ summary, fault }: Pick<ConsoleImport, "summary" | "fault">) {
  if (fault !== null) return <span class="said-by">{fault}</span>;
  if (summary === null) return <span class="soft">–</span>;
  const { reasons, doubtful } = summary as { reasons?: Record<string, number>; doubtful?: [] };
  const numbers = Object.entries(summary)
    .filter((entry): entry is [string, number] => typeof entry[1] === "number")
    .map(([name, n]) => `${name.replaceAll("_", " ")} ${number(n)}`);
  const why = Object.entries(reasons ?? {}).map(([reason, n]) => `${reason} ${number(n)}`);
  return (
    <>
      {numbers.join(", ")}
      {why.length > 0 && <div class="soft">refused: {why.join(", ")}</div>}
      {(doubtful?.length ?? 0) > 0 && (
        <div class="soft">{doubtful?.length} pairs of stations may be duplicates</div>
      )}
    </>
  );
}
