import { Form } from "#web/kit/form.tsx";
import { useForm } from "#web/console/parts/use-form.ts";
import { Button } from "#web/kit/button.tsx";
import { useEffect, useState } from "preact/hooks";
import type { ConsoleSuggestion } from "#src/contract/console.ts";
import type { Point } from "#src/domain/geo.ts";
import type { SuggestionKind } from "#src/domain/suggestion.ts";
import { mayChange, useLoaded } from "#web/console/api.ts";
import { useDoing } from "#web/console/doing.ts";
import { useDecided } from "#web/console/parts/decided.tsx";
import { TextField } from "#web/console/parts/field.tsx";
import { PinMap } from "#web/console/parts/pin-map.tsx";
import { ServiceButtons } from "#web/console/parts/station-service.tsx";
import { goTo } from "#web/console/place.ts";
import { counted } from "#web/console/site.ts";
import { say } from "#web/console/words.ts";
import { Fault } from "#web/kit/fault.tsx";
import { Loaded } from "#web/kit/resource.tsx";
import { Ago } from "#web/kit/time.tsx";

const kindWords: Readonly<Record<SuggestionKind, string>> = {
  gone: say("It is not there any more"),
  closed: say("It is closed for good"),
  moved: say("It stands elsewhere"),
  missing: say("A station is missing here"),
};

const dots = say("Dots: the places that drivers name.");

type Verb = "done" | "dismiss";

/** What drivers say of stations themselves; nothing changes but by the operator (decisions 15.47). */
export function SuggestionsPage() {
  const loading = useLoaded<{ suggestions: ConsoleSuggestion[] }>("/suggestions");
  const decided = useDecided<ConsoleSuggestion>(
    { path: "/suggestions", card: "suggestion", order: "up" },
    () => loading.load(),
  );
  const doing = useDoing();
  const open = loading.value.value?.suggestions;
  useEffect(() => {
    if (open !== undefined) counted({ suggestions: open.length });
  }, [open]);
  const decide = async (verb: Verb, { id, kind, station }: ConsoleSuggestion): Promise<void> => {
    const done = await doing.run("", "POST", `/suggestions/${id}/${verb}`);
    const about = [station?.name, kindWords[kind]].filter(Boolean).join(": ");
    const words =
      verb === "done" ? say("Done: {about}", { about }) : say("Not so: {about}", { about });
    if (done !== null) decided.add(id, words);
    await loading.load();
  };
  return (
    <section>
      <h1>{say("Suggestions")}</h1>
      <p class="soft">
        {say("What drivers say of stations themselves. Nothing changes until you change it.")}{" "}
        <a href="#/decisions?kind=station">{say("Earlier decisions")}</a>
      </p>
      <Fault words={doing.fault} />
      <Loaded of={loading}>
        {({ suggestions }) => (
          <>
            {suggestions.length === 0 && <p class="empty">{say("No suggestions are open.")}</p>}
            {decided.inPlace(suggestions, (one) => (
              <Suggestion
                key={one.id}
                suggestion={one}
                busy={doing.busy}
                decide={(verb) => void decide(verb, one)}
                changed={() => loading.load()}
              />
            ))}
          </>
        )}
      </Loaded>
    </section>
  );
}

function Suggestion({
  suggestion: { id: number, kind, station_id: id, station, people, first, texts, places },
  busy,
  decide,
  changed,
}: {
  suggestion: ConsoleSuggestion;
  busy: boolean;
  decide: (verb: Verb) => void;
  changed: () => Promise<void>;
}) {
  const [adds, setAdds] = useState(false);
  const [place] = places;
  const at = place ?? station;
  const page = `/stations/${encodeURIComponent(id)}`;
  return (
    <article class="card held-group">
      <h2 id={`suggestion-${number}`} tabIndex={-1}>
        {station === null ? kindWords[kind] : <a href={`#${page}`}>{station.name || id}</a>}
      </h2>
      <p>
        {station !== null && <strong>{kindWords[kind]}. </strong>}
        {say("{n} {n|driver|drivers}", { n: people })}, <Ago at={first} />
        {station !== null && station.addr !== "" && ` · ${station.addr}`}
        {station?.removed === true && <span class="tag bad">{say("out of service")}</span>}
      </p>
      {texts.map((text, n) => (
        <p key={n}>
          <q>{text}</q>
        </p>
      ))}
      {at !== null && !adds && (
        <PinMap station={station ?? at} pin={at} marks={places} move={null} dots={dots} />
      )}
      {adds && place !== undefined && <NewStation at={place} changed={changed} />}
      {mayChange() && (
        <div class="buttons">
          {kind === "moved" && place !== undefined && (
            <Button onClick={() => goTo(`${page}?lat=${place.lat}&lon=${place.lon}`)}>
              {say("Move it …")}
            </Button>
          )}
          {(kind === "gone" || kind === "closed") && station !== null && (
            <ServiceButtons station={{ id, removed: station.removed }} changed={changed} />
          )}
          {kind === "missing" && !adds && (
            <Button words={say("Add it …")} onClick={() => setAdds(true)} />
          )}
          <Button words={say("Done")} disabled={busy} onClick={() => decide("done")} />
          <Button words={say("Not so")} disabled={busy} onClick={() => decide("dismiss")} />
        </div>
      )}
    </article>
  );
}

function NewStation({ at, changed }: { at: Point; changed: () => Promise<void> }) {
  const { form: typed, at: field } = useForm({ name: "", brand: "", addr: "" });
  const [pin, setPin] = useState<Point>({ lat: at.lat, lon: at.lon });
  const [added, setAdded] = useState<string | null>(null);
  const doing = useDoing();
  const add = async (): Promise<void> => {
    const done = await doing.run<{ id: string }>("", "POST", "/stations", { ...typed, ...pin });
    if (done === null) return;
    setAdded(done.id);
    await changed();
  };
  if (added !== null)
    return (
      <p class="banner good" role="status">
        {say("Saved, served at once")} <a href={`#/stations/${added}`}>{typed.name}</a>
      </p>
    );
  return (
    <Form class="" send={add} doing={doing} action={say("Add the station")}>
      <div class="grid">
        <TextField label={say("Name")} {...field("name")} maxLength={120} required />
        <TextField label={say("Brand")} {...field("brand")} maxLength={80} />
        <TextField label={say("Address")} {...field("addr")} maxLength={200} />
      </div>
      <PinMap station={at} pin={pin} marks={[]} move={setPin} dots="" />
    </Form>
  );
}
