import { Button } from "#web/kit/button.tsx";
import { useId, useState } from "preact/hooks";
import type { ConsoleChoices, ConsoleMark, ConsoleStationPage } from "#src/contract/console.ts";
import type { ConsoleReporter } from "#src/contract/console-review.ts";
import { api, mayChange, useLoaded } from "#web/console/api.ts";
import { PersonFields, personOf } from "#web/console/parts/person-fields.tsx";
import { StationPicker } from "#web/console/parts/pickers.tsx";
import { ReporterFacts } from "#web/console/parts/reporter-facts.tsx";
import { keyTitle } from "#web/console/parts/selection.ts";
import { Status } from "#web/console/parts/status.tsx";
import { say } from "#web/console/words.ts";
import { Dialog } from "#web/kit/dialog.tsx";
import { Fault } from "#web/kit/fault.tsx";
import { Loaded } from "#web/kit/resource.tsx";
import { Moment } from "#web/kit/time.tsx";

/** The reporter of a selection, "" for any: its facts, and a button that opens `ReporterDialog`. */
export function ReporterField({
  value,
  choose,
  clear,
}: {
  value: string;
  choose: () => void;
  clear: () => void;
}) {
  const id = useId();
  return (
    <div class="field" role="group" aria-labelledby={id}>
      <span class="label" id={id}>
        {say("Reporter")}
      </span>
      <div class="actions">
        <Button aria-haspopup="dialog" onClick={choose}>
          {value === "" ? say("any") : `#${value}`}
          <span class="unseen">, {say("choose a reporter")}</span>
          <span aria-hidden="true"> …</span>
        </Button>
        {value !== "" && (
          <Button words={say("Any")} of={say("reporter")} class="plain" onClick={clear} />
        )}
      </div>
      {/^[1-9]\d*$/.test(value) && <Chosen key={value} id={value} />}
    </div>
  );
}

function Chosen({ id }: { id: string }) {
  const { value, failure } = useLoaded<{ reporter: ConsoleReporter }>(`/reporters/${id}`);
  if (failure.value !== null) return <small>{failure.value.words}</small>;
  if (value.value === null) return null;
  return (
    <small>
      <ReporterFacts reporter={value.value.reporter} />
    </small>
  );
}

interface DialogProps {
  choices: ConsoleChoices | null;
  choose: (id: string) => void;
  close: () => void;
}

/** Chooses a reporter by one of its marks, or by its name at the partner (decisions 13.25). */
export function ReporterDialog({ choices, choose, close }: DialogProps) {
  const [station, setStation] = useState("");
  return (
    <Dialog title="reporter-title" close={close}>
      <h2 id="reporter-title">{say("Choose a reporter")}</h2>
      <h3>{say("By a mark")}</h3>
      <StationPicker label={say("Station that it marked")} value={station} onChange={setStation} />
      {station !== "" && (
        <MarksOf key={station} station={station} choices={choices} choose={choose} />
      )}
      {mayChange() && <ByName choices={choices} choose={choose} />}
      <div class="buttons">
        <Button words={say("Cancel")} onClick={close} />
      </div>
    </Dialog>
  );
}

interface MarksProps extends Omit<DialogProps, "close"> {
  station: string;
}

/** The marks of a station, the newest first: each chooses its reporter. */
function MarksOf({ station, choices, choose }: MarksProps) {
  const [before, setBefore] = useState<number | null>(null);
  const older = before === null ? "" : `?before=${before}`;
  const loading = useLoaded<ConsoleStationPage>(`/stations/${encodeURIComponent(station)}${older}`);
  return (
    <Loaded of={loading}>
      {({ marks, next }) => (
        <>
          {marks.length === 0 && <p class="empty">{say("Nobody has marked this station.")}</p>}
          <ul class="options">
            {marks.map((mark) => (
              <li key={mark.id}>
                <Button onClick={() => choose(String(mark.reporter_id))}>
                  <span>
                    <Status status={mark.status} /> <Moment at={mark.received} />
                  </span>
                  <small>
                    {sourceOf(mark, choices)}
                    {mark.review !== "none" && `, ${say(mark.review)}`},{" "}
                    {say("reporter #{id}", { id: mark.reporter_id })}
                  </small>
                </Button>
              </li>
            ))}
          </ul>
          {before !== null && (
            <Button words={say("The newest marks")} onClick={() => setBefore(null)} />
          )}
          {next !== null && <Button words={say("Older marks")} onClick={() => setBefore(next)} />}
        </>
      )}
    </Loaded>
  );
}

function sourceOf({ source, key_id: id }: ConsoleMark, choices: ConsoleChoices | null): string {
  if (source === "widget") return say("a driver on the map");
  const key = choices?.keys.find((one) => one.id === id);
  return key === undefined ? say("key #{id}", { id: String(id) }) : keyTitle(key, choices);
}

/** A partner's user, or a device of the map, as the privacy page takes it. */
function ByName({ choices, choose }: Omit<DialogProps, "close">) {
  const [named, setNamed] = useState({ partner: "", name: "" });
  const [found, setFound] = useState<ConsoleReporter | null | undefined>(undefined);
  const [fault, setFault] = useState<string | null>(null);
  const look = async (event: Event): Promise<void> => {
    event.preventDefault();
    const answer = await api.send<{ reporter: ConsoleReporter | null }>(
      "POST",
      "/reporters/find",
      personOf(named),
    );
    setFault(answer.failure?.words ?? null);
    setFound(answer.failure === undefined ? answer.value.reporter : undefined);
  };
  return (
    <form onSubmit={(event) => void look(event)}>
      <h3>{say("By name")}</h3>
      <PersonFields
        of={named}
        partners={choices?.partners ?? []}
        onChange={(person) => {
          setNamed(person);
          setFound(undefined);
        }}
      />
      <Fault words={fault} />
      <div role="status">
        {found === null && <p>{say("Nobody of this name is known. Compare the spelling.")}</p>}
        {found != null && (
          <p>
            <ReporterFacts reporter={found} />
          </p>
        )}
      </div>
      {found == null ? (
        <button type="submit">{say("Find")}</button>
      ) : (
        <Button class="primary" onClick={() => choose(String(found.id))}>
          {say("Choose #{id}", { id: found.id })}
        </Button>
      )}
    </form>
  );
}
