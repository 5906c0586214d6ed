import { useForm } from "#web/console/parts/use-form.ts";
import { Form } from "#web/kit/form.tsx";
import { Button } from "#web/kit/button.tsx";
import { useState } from "preact/hooks";
import type { ConsoleChoices } from "#src/contract/console.ts";
import type { ConsoleBatchLine, ConsoleRollback } from "#src/contract/console-review.ts";
import { dayMs } from "#src/domain/units.ts";
import { api, mayChange, useLoaded } from "#web/console/api.ts";
import { useDoing } from "#web/console/doing.ts";
import { localText } from "#web/console/pages/key-form.tsx";
import { Rollbacks } from "#web/console/pages/decision-record.tsx";
import { Changes } from "#web/console/parts/changes.tsx";
import { SelectField, TextField } from "#web/console/parts/field.tsx";
import { CityPicker, NetworkPicker, StationPicker } from "#web/console/parts/pickers.tsx";
import { ReporterDialog, ReporterField } from "#web/console/parts/reporter-picker.tsx";
import { keyName, keyTitle, partnerName } from "#web/console/parts/selection.ts";
import { statusWord } from "#web/console/parts/status.tsx";
import { say } from "#web/console/words.ts";
import { goTo, place } from "#web/console/place.ts";
import { Confirm } from "#web/kit/confirm.tsx";

/** Withdraws a campaign's marks as if they had never been made: first a preview, then the effect. */
export function RollbackPage() {
  const choices = useLoaded<ConsoleChoices>("/choices").value.value;
  const asked = place.value.query;
  const [preview, setPreview] = useState<{ of: object; seen: ConsoleRollback } | null>(null);
  const [usual] = useState(() => localText(Date.now() - dayMs));
  const { form, set, at } = useForm(
    {
      partner: asked.get("partner") ?? "",
      key: asked.get("key") ?? "",
      reporter: asked.get("reporter") ?? "",
      station: asked.get("station") ?? "",
      city: asked.get("city") || null,
      network: (asked.get("network") ?? "").toLowerCase(),
      status: asked.get("status") ?? "",
      remote: "",
      first_seen_since: "",
      first_seen_until: "",
      since: usual,
      until: "",
    },
    // It is of another selection now.
    () => setPreview(null),
  );
  const [looking, setLooking] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  const [asking, setAsking] = useState(false);
  const [reason, setReason] = useState("");
  const [choosing, setChoosing] = useState(false);
  const doing = useDoing();

  const look = async (): Promise<void> => {
    setLooking(true);
    const of = selectionOf(form);
    const answer = await api.send<ConsoleRollback>("POST", "/rollback/preview", of);
    setLooking(false);
    setFault(answer.failure?.words ?? null);
    setPreview(answer.failure === undefined ? { of, seen: answer.value } : null);
  };
  const withdraw = async (): Promise<void> => {
    const words = say("The marks were withdrawn");
    const body = { ...preview?.of, reason };
    const done = await doing.run<{ id: number | null }>(words, "POST", "/rollback", body);
    setAsking(false);
    if (done !== null) goTo(done.id === null ? "/rollback" : `/rollback/${done.id}`);
  };
  return (
    <section>
      <h1>{say("Rollback")}</h1>
      <p class="soft">
        {say(
          "Withdraws marks as if they had never been made. Their stations are calculated again, and the changes come in the partners’ next delta. All times are times of receipt.",
        )}
      </p>
      <Form
        send={look}
        doing={{ busy: looking, fault: fault ?? doing.fault }}
        action={looking ? say("Calculating …") : say("Show what would change")}
      >
        <div class="grid">
          <SelectField
            label={say("Partner")}
            value={form.partner}
            options={[
              ["", say("any")],
              ...(choices?.partners ?? []).map(
                (one) => [String(one.id), partnerName(one)] as const,
              ),
            ]}
            onChange={(partner) => set({ partner, key: "" })}
          />
          <SelectField
            label={say("Key")}
            value={form.key}
            options={[
              ["", say("any")],
              ...(choices?.keys ?? [])
                .filter((one) => ["", String(one.partner_id)].includes(form.partner))
                .map((one) => {
                  const name = form.partner === "" ? keyTitle(one, choices) : keyName(one);
                  return [String(one.id), name] as const;
                }),
            ]}
            onChange={(key) => set({ key })}
          />
          <ReporterField
            value={form.reporter}
            choose={() => setChoosing(true)}
            clear={() => set({ reporter: "" })}
          />
          <StationPicker {...at("station")} />
          <CityPicker value={form.city} choices={choices} onChange={(city) => set({ city })} />
          <NetworkPicker {...at("network")} />
          <SelectField
            label={say("Status")}
            value={form.status}
            options={[
              ["", say("any")],
              ...["yes", "low", "no", "queue"].map((one) => [one, statusWord(one)] as const),
            ]}
            onChange={(status) => set({ status })}
          />
          <SelectField
            label={say("Position")}
            value={form.remote}
            options={[
              ["", say("any")],
              ["true", say("not at the station")],
              ["false", say("at the station")],
            ]}
            onChange={(remote) => set({ remote })}
          />
          <TextField
            label={say("Reporter first seen since (your time)")}
            type="datetime-local"
            {...at("first_seen_since")}
          />
          <TextField
            label={say("Reporter first seen until (your time)")}
            type="datetime-local"
            {...at("first_seen_until")}
          />
          <TextField label={say("Since (your time)")} type="datetime-local" {...at("since")} />
          <TextField label={say("Until (your time)")} type="datetime-local" {...at("until")} />
        </div>
      </Form>
      {choosing && (
        <ReporterDialog
          choices={choices}
          choose={(reporter) => {
            set({ reporter });
            setChoosing(false);
          }}
          close={() => setChoosing(false)}
        />
      )}
      {preview !== null && <Preview seen={preview.seen} ask={() => setAsking(true)} />}
      {asking && preview !== null && (
        <Confirm
          title={say("Withdraw {n} {n|mark|marks}?", { n: preview.seen.marks })}
          action={say("Withdraw")}
          danger
          busy={doing.busy}
          onConfirm={() => void withdraw()}
          onCancel={() => setAsking(false)}
        >
          <p>
            {say("{n} {n|station|stations} {n|is|are} calculated again.", {
              n: preview.seen.stations,
            })}{" "}
            {establishedWords(preview.seen)} {say("The rollback can be taken back.")}
          </p>
          <TextField
            label={say("Why (for the log)")}
            value={reason}
            onChange={setReason}
            maxLength={500}
          />
          {doing.busy && <Progress />}
        </Confirm>
      )}
      <Rollbacks choices={choices} />
    </section>
  );
}

/** The progress of a rollback that is under way. */
function Progress() {
  const { value } = useLoaded<{ batches: ConsoleBatchLine[] }>("/rollbacks", 1000);
  const running = value.value?.batches.find(
    ({ finished, undo }) => finished === null && undo === null,
  );
  if (running === undefined) return null;
  const { stations, stations_done: done } = running;
  return (
    <p role="status">
      {say("{done} of {stations} {stations|station|stations}", { done, stations })}{" "}
      <progress value={done} max={stations} />
    </p>
  );
}

const establishedWords = ({ established }: ConsoleRollback): string =>
  say("{n} of the marks are of reporters who were known for a week.", { n: established });

function Preview({ seen, ask }: { seen: ConsoleRollback; ask: () => void }) {
  const { marks, held, reporters, stations, changes, worked_out: workedOut } = seen;
  if (marks === 0)
    return <p class="empty">{say("No matching marks: there is nothing to withdraw.")}</p>;
  return (
    <div class="card">
      <h2>{say("What would change")}</h2>
      <p>
        {say(
          "{marks} {marks|mark|marks} ({held} of them held) of {reporters} {reporters|reporter|reporters} at {stations} {stations|station|stations}.",
          {
            marks,
            held,
            reporters,
            stations,
          },
        )}{" "}
        {establishedWords(seen)}
        {stations > changes.length &&
          ` ${say("Worked out for {n} {n|station|stations}, {shown} shown.", {
            n: workedOut,
            shown: String(changes.length),
          })}`}
      </p>
      <Changes changes={changes} />
      {mayChange() && (
        <div class="buttons">
          <Button class="danger" onClick={ask}>
            {say("Withdraw {n} {n|mark|marks} …", { n: marks })}
          </Button>
        </div>
      )}
    </div>
  );
}

const numbers = ["partner", "key", "reporter"];
const times = ["since", "until", "first_seen_since", "first_seen_until"];

/** The filled fields of the form, as the server takes them. */
function selectionOf(form: Record<string, string | null>): object {
  const given = Object.entries(form).flatMap(([name, text]): [string, unknown][] => {
    // "Outside of cities" is a condition too.
    if (text === null || (text === "" && name !== "city")) return [];
    if (numbers.includes(name)) return [[name, Number(text)]];
    if (times.includes(name)) return [[name, new Date(text).getTime()]];
    return [[name, name === "remote" ? text === "true" : text]];
  });
  return Object.fromEntries(given);
}
