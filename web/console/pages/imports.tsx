import { useAsking } from "#web/kit/asking.tsx";
import { Form } from "#web/kit/form.tsx";
import { Button } from "#web/kit/button.tsx";
import { useEffect, useId, useState } from "preact/hooks";
import {
  type ConsoleImport,
  type ConsoleRefusedRow,
  type ConsoleSource,
  importKinds,
} from "#src/contract/console-imports.ts";
import { api, mayChange, useLoaded } from "#web/console/api.ts";
import { tell } from "#web/console/doing.ts";
import { sayFault, sayPlace, sayReason } from "#web/console/faults.ts";
import { FieldSources } from "#web/console/pages/field-sources.tsx";
import { SelectField, SwitchField, TextField } from "#web/console/parts/field.tsx";
import { number } from "#web/kit/numbers.ts";
import { Table, timed } from "#web/kit/table.tsx";
import { Loaded } from "#web/kit/resource.tsx";
import { say, sayWith, type Text } from "#web/console/words.ts";

const restMs = 10_000;
const runningMs = 1000;

type Kind = (typeof importKinds)[number];

const what: Record<Kind, Text> = {
  stations: "Stations: OpenStreetMap, or a register",
  cities: "Cities: hflabs CSV or GeoNames",
  statuses: "Statuses: CSV of station_id, status, fuels_now, fuels_no, updated",
};

/** Files of stations, cities and statuses: first tried, then imported, with how far each is. */
export function ImportsPage() {
  const [everyMs, setEvery] = useState(restMs);
  const loading = useLoaded<{ imports: ConsoleImport[]; sources: ConsoleSource[] }>(
    "/imports",
    everyMs,
  );
  const [asked, setAsked] = useState<ConsoleImport | null>(null);
  const running = loading.value.value?.imports.some(({ state }) => state === "running") === true;
  useEffect(() => setEvery(running ? runningMs : restMs), [running]);
  return (
    <section>
      <h1>{say("Imports")}</h1>
      <p class="soft">
        {sayWith(
          "Files of at most 50 MB. Import larger files on the server: {command}. A register that is not in the list needs a description: {own}",
          {
            command: <code>npm run operator -- stations import FILE</code>,
            own: <code>source try FILE</code>,
          },
        )}
      </p>
      {mayChange() && (
        <Upload sources={loading.value.value?.sources ?? []} started={loading.load} />
      )}
      <Loaded of={loading}>{({ imports }) => <Runs imports={imports} ask={setAsked} />}</Loaded>
      {asked !== null && <RefusedRows key={asked.id} of={asked} />}
      <FieldSources />
    </section>
  );
}

function Upload({
  sources,
  started,
}: {
  sources: readonly ConsoleSource[];
  started: () => Promise<void>;
}) {
  const fileId = useId();
  const [kind, setKind] = useState<Kind>("stations");
  const [files, setFiles] = useState<readonly File[]>([]);
  const [register, setRegister] = useState("");
  const [extract, setExtract] = useState("");
  // A register that was chosen for stations must not go along, unseen, with statuses.
  const described = kind === "stations" ? sources.find(({ name }) => name === register) : undefined;
  const source = described?.name ?? extract;
  // The server takes the names apart at commas.
  const names = files.map(({ name }) => name.replaceAll(",", " ")).join(", ");
  const [asksReplace, setReplace] = useState(false);
  // A tick that was made for stations must not go along, unseen, with statuses.
  const replace = asksReplace && kind !== "statuses";
  const [allowed, setAllowed] = useState("");
  const [force, setForce] = useState("");
  const [busy, setBusy] = useState(false);
  const { ask, question } = useAsking();
  const [fault, setFault] = useState<string | null>(null);
  const send = async (dryRun: boolean): Promise<void> => {
    if (files.length === 0) return;
    setBusy(true);
    const query = new URLSearchParams({
      kind,
      file: names,
      dry_run: String(dryRun),
      ...(force === "" || kind !== "stations" ? {} : { force }),
      ...(files.length > 1 ? { sizes: files.map(({ size }) => size).join(",") } : {}),
      ...(source === "" ? {} : { source }),
      ...(replace ? { replace_source: "true" } : {}),
      ...(replace && allowed !== "" ? { allow_removals: allowed } : {}),
    });
    const answer = await api.upload(`/imports?${query.toString()}`, new Blob([...files]));
    setBusy(false);
    setFault(answer.failure?.words ?? null);
    if (answer.failure === undefined)
      tell(dryRun ? say("The dry run has started") : say("The import has started"));
    await started();
  };
  return (
    <Form
      send={() => send(true)}
      doing={{ busy, fault }}
      action={say("Dry run, change nothing")}
      disabled={files.length === 0}
      more={
        <Button
          words={say("Import it …")}
          disabled={busy || files.length === 0}
          onClick={() =>
            ask({
              title: say("Import {file}?", { file: names }),
              why: replace
                ? say(
                    "Everything that is not in the file goes out of service. Partners see the changes in their next delta.",
                  )
                : say(
                    "Partners see the changes in their next delta. Make a dry run first to see what would change.",
                  ),
              ...{ action: say("Import it"), danger: replace, run: () => send(false) },
            })
          }
        />
      }
    >
      <div class="grid">
        <SelectField
          label={say("Content")}
          value={kind}
          options={importKinds.map((one) => [one, say(what[one])])}
          onChange={(value) => setKind(importKinds.find((one) => one === value) ?? "stations")}
        />
        {kind === "stations" && (
          <SelectField
            label={say("Register")}
            value={register}
            options={[
              ["", say("None: OpenStreetMap")],
              ...sources.map(({ name, title }) => [name, title] as const),
            ]}
            onChange={setRegister}
          />
        )}
        <div class="field">
          <label for={fileId}>{say("File")}</label>
          <input
            id={fileId}
            type="file"
            required
            multiple={kind === "stations"}
            onChange={({ currentTarget }) => setFiles([...(currentTarget.files ?? [])])}
          />
          {described !== undefined && described.files.length > 1 && (
            <small>
              {say("Choose all at once: {files}", { files: described.files.join(", ") })}
            </small>
          )}
        </div>
        {described === undefined && (
          <TextField
            label={say("Name of the source")}
            hint={say("A different name for each extract. Empty: the default of the format.")}
            value={extract}
            onChange={setExtract}
            maxLength={40}
          />
        )}
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
          hint={say("Empty: a tenth of the source; of a small one ten, or half of it.")}
          type="number"
          min={0}
          value={allowed}
          onChange={setAllowed}
        />
      )}
      {kind === "stations" && (
        <TextField
          label={say("Guards to override")}
          hint={say("Only where a refusal names one: country, half …")}
          value={force}
          onChange={setForce}
          maxLength={200}
        />
      )}
      {question}
    </Form>
  );
}

interface RunsProps {
  imports: readonly ConsoleImport[];
  ask: (one: ConsoleImport) => void;
}

const Runs = ({ imports, ask }: RunsProps) => (
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
        cell: (one) => (
          <>
            <Did of={one} />
            {one.has_refused_rows && (
              <Button class="small" onClick={() => ask(one)}>
                {say("Show what was left out")}
              </Button>
            )}
          </>
        ),
      },
      { name: say("By"), of: "actor" },
      timed(say("When"), "started"),
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
  renumbered: "renumbered by the source",
  joined: "joined across sources",
  asked: "pairs to decide",
  doubtful: "possible duplicates",
  kept_by_hand: "kept by hand",
  behind_marks: "behind marks",
  moved_h: "moved h",
};

function called(name: string): string {
  const text = known[name];
  return text === undefined ? name.replaceAll("_", " ") : say(text);
}

/** Rows that a run has left out, of stations and of statuses. */
function refusedIn({ summary }: ConsoleImport): number {
  const { refused, stations, statuses } = (summary ?? {}) as Counted & Parts;
  return (refused ?? stations?.refused ?? 0) + (statuses?.refused ?? 0);
}

/** Values and rows of a run that count for nothing, without the usual doubles. */
function unclearIn({ summary }: ConsoleImport): number {
  const { noted = {} } = (summary ?? {}) as Noted;
  return Object.entries(noted).reduce((sum, [why, n]) => sum + (why === "merged" ? 0 : n), 0);
}

interface Noted {
  noted?: Record<string, number>;
  second_file?: string | null;
}

interface Parts {
  stations?: Counted | null;
  statuses?: Counted | null;
}

interface Counted {
  refused?: number;
  reasons?: Record<string, number>;
}

function State({ of }: { of: ConsoleImport }) {
  const { state, step, done, total } = of;
  const left = state === "done" ? refusedIn(of) : 0;
  if (left > 0)
    return <span class="tag warn">{say("done, {n} left out", { n: number(left) })}</span>;
  const unclear = state === "done" ? unclearIn(of) : 0;
  if (unclear > 0)
    return <span class="tag warn">{say("done, {n} unclear", { n: number(unclear) })}</span>;
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

function Did({ of: { summary, fault } }: { of: ConsoleImport }) {
  if (fault !== null) return <span class="said-by">{sayFault(fault)}</span>;
  if (summary === null) return <span class="soft">–</span>;
  // A run of a feed has its stations and its statuses apart.
  const stations = isSummary(summary["stations"]) ? summary["stations"] : summary;
  const { statuses } = summary as { statuses?: Record<string, unknown> | null };
  const { unknown_fuels: fuels = {} } = summary as { unknown_fuels?: Record<string, number> };
  const { noted = {}, second_file: second = null } = summary as Noted;
  const toLookAt = counts(noted, (why) => say(noticed[why] ?? "unclear"));
  const unknown = counts(fuels);
  return (
    <>
      <Counts of={stations} />
      {unknown !== "" && (
        <div class="soft">{say("unknown fuels: {fuels}", { fuels: unknown })}</div>
      )}
      {second?.split("; ").map((words) => (
        <div class="soft">{joinedWords(words)}</div>
      ))}
      {toLookAt !== "" && <div class="soft">{say("look at: {why}", { why: toLookAt })}</div>}
      {isSummary(statuses) && (
        <div>
          {say("statuses")}: <Counts of={statuses} />
        </div>
      )}
    </>
  );
}

const noticed: Record<string, Text> = {
  "unclear-price": "unclear prices",
  "several-values": "lists in place of one value",
  "unclear-closure": "unclear dates of a closure",
  "unknown-station": "rows about no station",
  merged: "rows of a station that another row has too",
};

/** "prices: 0 of 3 rows are about a station of this file" in the viewer's language. */
function joinedWords(words: string): string {
  const [, file = "", met = "", rows = ""] = /^(.*): (\d+) of (\d+) /.exec(words) ?? [];
  return say("{file}: {met} of {rows} rows are about a station", { file, met, rows });
}

const isSummary = (part: unknown): part is Record<string, unknown> =>
  typeof part === "object" && part !== null;

const counts = (of: Readonly<Record<string, unknown>>, call = (name: string) => name): string =>
  Object.entries(of)
    .filter((entry): entry is [string, number] => typeof entry[1] === "number")
    .map(([name, n]) => `${call(name)} ${number(n)}`)
    .join(", ");

function Counts({ of }: { of: Readonly<Record<string, unknown>> }) {
  const why = counts((of as Counted).reasons ?? {}, sayReason);
  return (
    <>
      {counts(of, called)}
      {why !== "" && <div class="soft">{say("refused: {why}", { why })}</div>}
    </>
  );
}

/** The first rows that a run has left out, with a download of all. */
function RefusedRows({ of: { id, file } }: { of: ConsoleImport }) {
  const loading = useLoaded<{ rows: ConsoleRefusedRow[] }>(`/imports/${id}/refused`);
  return (
    <section>
      <h2>{say("Left out of {file}", { file })}</h2>
      <p>
        <a class="button" href={`api/imports/${id}/refused.csv`} download>
          {say("Download all as CSV")}
        </a>
      </p>
      <Loaded of={loading}>
        {({ rows }) => (
          <Table
            caption={say("Left out of {file}", { file })}
            rows={rows.map((row, n) => ({ ...row, n }))}
            id={({ n }) => n}
            empty={say("Nothing was left out.")}
            columns={[
              { name: say("Place"), cell: ({ place }) => sayPlace(place) },
              { name: say("Id in the file"), cell: ({ id: own }) => own },
              { name: say("Field"), cell: ({ field }) => field },
              { name: say("Value"), cell: ({ value }) => value },
              {
                name: say("Reason"),
                by: ({ reason }) => reason,
                cell: (row) => sayReason(row.reason),
              },
            ]}
          />
        )}
      </Loaded>
    </section>
  );
}
