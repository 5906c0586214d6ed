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
import { say, sayWith, type Text } from "#web/console/words.ts";

const restMs = 10_000;
const runningMs = 1000;

type Kind = (typeof importKinds)[number];

const what: Record<Kind, Text> = {
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
      <h1>{say("Imports")}</h1>
      <p class="soft">
        {sayWith(
          "Files of at most 50 MB. Import larger files on the server: {command}. Also import French stock-outs there, because they need two files: {french}",
          {
            command: <code>npm run operator -- stations import FILE</code>,
            french: <code>statuses import FILE --format fr-ruptures</code>,
          },
        )}
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
      tell(dryRun ? say("The dry run has started") : say("The import has started"));
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
          label={say("Content")}
          value={kind}
          options={importKinds.map((one) => [one, say(what[one])])}
          onChange={(value) => setKind(importKinds.find((one) => one === value) ?? "stations")}
        />
        <div class="field">
          <label for={fileId}>{say("File")}</label>
          <input
            id={fileId}
            type="file"
            required
            onChange={({ currentTarget }) => setFile(currentTarget.files?.[0] ?? null)}
          />
        </div>
        <TextField
          label={say("Name of the source")}
          hint={say("A different name for each extract. Empty: the default of the format.")}
          value={source}
          onChange={setSource}
          maxLength={40}
        />
      </div>
      {kind !== "statuses" && (
        <SwitchField
          label={say("Take everything out of service that is not in the file")}
          hint={say(
            "Applies only to rows of the same source. Use it only with a complete extract.",
          )}
          checked={replace}
          onChange={setReplace}
        />
      )}
      {replace && (
        <TextField
          label={say("Removals to allow")}
          hint={say("Empty: 100, or a tenth of the source if that is more.")}
          type="number"
          min={0}
          value={allowed}
          onChange={setAllowed}
        />
      )}
      <Fault words={fault} />
      <div class="buttons">
        <button type="submit" class="primary" disabled={busy || file === null}>
          {say("Dry run, change nothing")}
        </button>
        <button type="button" disabled={busy || file === null} onClick={() => setAsking(true)}>
          {say("Import it …")}
        </button>
      </div>
      {asking && (
        <Confirm
          title={say("Import {file}?", { file: file?.name ?? "" })}
          action={say("Import it")}
          danger={replace}
          busy={busy}
          onConfirm={() => void send(false)}
          onCancel={() => setAsking(false)}
        >
          <p>
            {replace
              ? say(
                  "Everything that is not in the file goes out of service. Partners see the changes in their next delta.",
                )
              : say(
                  "Partners see the changes in their next delta. Make a dry run first to see what would change.",
                )}
          </p>
        </Confirm>
      )}
    </form>
  );
}

const Runs = ({ imports }: { imports: readonly ConsoleImport[] }) => (
  <Table
    caption={say("Imports")}
    rows={imports}
    id={({ id }) => id}
    empty={say("No imports yet.")}
    columns={[
      {
        name: say("File"),
        by: ({ file }) => file,
        cell: ({ file, kind, dry_run: dry }) => (
          <>
            {file}{" "}
            <div class="soft">{dry ? say("{kind}, dry run", { kind: say(kind) }) : say(kind)}</div>
          </>
        ),
      },
      { name: say("State"), by: ({ state }) => state, cell: (one) => <State of={one} /> },
      {
        name: say("Result"),
        cell: ({ summary, fault }) => <Did summary={summary} fault={fault} />,
      },
      { name: say("By"), by: ({ actor }) => actor, cell: ({ actor }) => actor },
      {
        name: say("When"),
        by: ({ started }) => started,
        cell: ({ started }) => <Moment at={started} />,
      },
    ]}
  />
);

const tones: Record<ConsoleImport["state"], string> = {
  running: "",
  done: "good",
  unchanged: "good",
  refused: "bad",
  failed: "bad",
  interrupted: "warn",
};

/** Steps, and the counts of summaries; one that is not here is shown by its name. */
const known: Record<string, Text> = {
  fetching: "fetching",
  reading: "reading",
  saving: "saving",
  waiting: "waiting",
  read: "read",
  added: "added",
  changed: "changed",
  unchanged: "unchanged",
  merged: "merged",
  removed: "removed",
  refused: "refused",
  kept_by_hand: "kept by hand",
  behind_marks: "behind marks",
  moved_h: "moved h",
};

function called(name: string): string {
  const text = known[name];
  return text === undefined ? name.replaceAll("_", " ") : say(text);
}

function State({ of: { state, step, done, total } }: { of: ConsoleImport }) {
  if (state !== "running") return <span class={`tag ${tones[state]}`}>{say(state)}</span>;
  const words =
    step === ""
      ? say("starting")
      : total === null
        ? `${called(step)} ${number(done)}`
        : say("{step} {done} of {total}", { step: called(step), done, total });
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
  // A run of a feed has one for its stations and one for its statuses.
  const parts = [summary["stations"], summary["statuses"]].filter((part) => isSummary(part));
  if (parts.length > 0)
    return (
      <>
        {parts.map((part, n) => (
          <div key={n}>
            <Did summary={part} fault={null} />
          </div>
        ))}
      </>
    );
  const { reasons, doubtful } = summary as { reasons?: Record<string, number>; doubtful?: [] };
  const numbers = Object.entries(summary)
    .filter((entry): entry is [string, number] => typeof entry[1] === "number")
    .map(([name, n]) => `${called(name)} ${number(n)}`);
  const pairs = doubtful?.length ?? 0;
  const why = Object.entries(reasons ?? {}).map(([reason, n]) => `${reason} ${number(n)}`);
  return (
    <>
      {numbers.join(", ")}
      {why.length > 0 && <div class="soft">{say("refused: {why}", { why: why.join(", ") })}</div>}
      {pairs > 0 && (
        <div class="soft">
          {say("{n} {n|pair|pairs} of stations may be duplicates", { n: String(pairs) })}
        </div>
      )}
    </>
  );
}

const isSummary = (part: unknown): part is Record<string, unknown> =>
  typeof part === "object" && part !== null;
