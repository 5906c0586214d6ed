import { Form } from "#web/kit/form.tsx";
import { Button } from "#web/kit/button.tsx";
import { useState } from "preact/hooks";
import type { ConsoleStationPage, HandSet, HandSetField as Field } from "#src/contract/console.ts";
import { distanceM } from "#src/domain/geo.ts";
import { mayChange } from "#web/console/api.ts";
import { useAsking } from "#web/kit/asking.tsx";
import { useDoing } from "#web/console/doing.ts";
import type { Doing } from "#web/kit/doing.ts";
import { TextField } from "#web/console/parts/field.tsx";
import { metres } from "#web/console/parts/mini-map.tsx";
import { PinMap } from "#web/console/parts/pin-map.tsx";
import { place } from "#web/console/place.ts";
import { ServiceButtons } from "#web/console/parts/station-service.tsx";
import { say, sayWith, type Text } from "#web/console/words.ts";
import { Fault } from "#web/kit/fault.tsx";

type Station = ConsoleStationPage["station"];

/** The form's fields as they are typed. */
interface Typed {
  name: string;
  brand: string;
  addr: string;
  grades_sold: string;
  opening_hours: string;
  lat: string;
  lon: string;
}

const texts = ["name", "brand", "addr", "grades_sold", "opening_hours"] as const;
export const fieldLabels: Record<Field, string> = {
  name: say("Name"),
  brand: say("Brand"),
  addr: say("Address"),
  grades_sold: say("Grades sold"),
  opening_hours: say("Opening hours"),
  position: say("Position"),
};
/** Labels of the buttons that take a field from the imports. */
const taken: Record<Field, Text> = {
  name: "as the name",
  brand: "as the brand",
  addr: "as the address",
  grades_sold: "as the grades sold",
  opening_hours: "as the opening hours",
  position: "as the position",
};
const degrees = { lat: say("Latitude"), lon: say("Longitude") };

const longest = {
  ...{ name: 120, brand: 80, addr: 200 },
  ...{ grades_sold: 60, opening_hours: 255 },
} as const;

const fields = [
  ...texts.map((field) => [field, fieldLabels[field], longest[field]] as const),
  ...(["lat", "lon"] as const).map((field) => [field, degrees[field], 60] as const),
];

/**
 * Name, brand, address and place of a station, set by hand: a preview of the changes, and the way back to the imports'
 * values (decisions 13.16). The form follows the station until somebody types.
 */
export function StationFacts({
  page: { station, by_hand: hand, marks },
  changed,
}: {
  page: ConsoleStationPage;
  changed: () => Promise<void>;
}) {
  /** The typed values, and the values that were shown when the typing began. */
  const [draft, setDraft] = useState<{ was: Typed; typed: Typed } | null>(() => {
    // The place that a suggestion of drivers names.
    const { lat, lon } = Object.fromEntries(place.peek().query);
    const now = typedOf(station);
    return lat && lon && mayChange() ? { was: now, typed: { ...now, lat, lon } } : null;
  });
  const doing = useDoing();
  const { ask, question } = useAsking();
  const { was, typed } = draft ?? { was: typedOf(station), typed: typedOf(station) };
  const locked = !mayChange();
  const changes = changesOf(was, typed);
  const broken = [typed.lat, typed.lon].some((degrees) => degreesOf(degrees) === null);
  const set = (change: Partial<Typed>): void => setDraft({ was, typed: { ...typed, ...change } });
  const send = async (words: string, body: object): Promise<void> => {
    const done = await doing.run(words, "PATCH", pathOf(station), body);
    if (done === null) return;
    setDraft(null);
    await changed();
  };
  const save = (): Promise<void> =>
    send(say("Saved, served at once"), {
      ...Object.fromEntries(changes.map(({ field }) => [field, valueOf(typed, field)])),
      was: Object.fromEntries(changes.map(({ field }) => [field, valueOf(was, field)])),
    });
  const discard = (): void => {
    setDraft(null);
    doing.forget();
  };
  return (
    <div class="card facts">
      <div class="title">
        <h2>{say("Name and place")}</h2>
        <ServiceButtons station={station} changed={changed} />
      </div>
      {station.closed !== "" && (
        <p class="said-by">
          {say("Closed for now, as its source says: {dates}", {
            dates: station.closed.replace("/", " – "),
          })}
        </p>
      )}
      <Form
        class=""
        doing={doing}
        action={!locked && say("Save")}
        disabled={broken || changes.length === 0}
        more={
          draft !== null && (
            <Button words={say("Discard")} disabled={doing.busy} onClick={discard} />
          )
        }
        send={() => {
          const farM = movedM(was, typed);
          ask({
            title: say("Move the station by {distance}?", { distance: metres(farM) }),
            why: farM > askedM ? nearWords(marks, was, typed) : null,
            action: say("Move it"),
            danger: true,
            run: save,
          });
        }}
      >
        <div class="grid">
          {fields.map(([field, label, maxLength]) => (
            <TextField
              key={field}
              {...{ label, maxLength, disabled: locked, required: field in degrees }}
              value={typed[field]}
              onChange={(value) =>
                set((field === "lat" ? pairOf(value) : null) ?? { [field]: value })
              }
            />
          ))}
        </div>
        {!broken && (
          <PinMap
            station={valueOf(was, "position")}
            pin={valueOf(typed, "position")}
            marks={marks}
            move={locked ? null : ({ lat, lon }) => set({ lat: String(lat), lon: String(lon) })}
          />
        )}
        <ByHand
          hand={hand}
          doing={doing}
          locked={locked}
          back={(field) =>
            void send(say("Back to what the imports have"), {
              from_file: [field],
              was: { [field]: valueOf(typedOf(station), field) },
            })
          }
        />
        {broken && (
          <Fault words={say("Latitude and longitude must be numbers of degrees, like 55.75124.")} />
        )}
        {!broken && changes.length > 0 && <Changes changes={changes} was={was} typed={typed} />}
      </Form>
      {question}
    </div>
  );
}

/** The fields that are set by hand with the imports' values, each with the way back. */
function ByHand({
  hand,
  doing,
  locked,
  back,
}: {
  hand: HandSet;
  doing: Doing;
  locked: boolean;
  back: (field: Field) => void;
}) {
  const fields = [...texts, "position" as const].filter((field) => hand[field] !== null);
  if (fields.length === 0) return null;
  return (
    <>
      <p class="soft">{say("Set by hand; imports leave it so:")}</p>
      <ul class="by-hand">
        {fields.map((field) => (
          <li key={field}>
            <span>
              {sayWith("{field}: the imports have {value}", {
                field: fieldLabels[field],
                value: <q>{said(hand[field])}</q>,
              })}
            </span>
            {!locked && (
              <Button of={say(taken[field])} disabled={doing.busy} onClick={() => back(field)}>
                {say("Take it")}
              </Button>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}

interface Change {
  field: Field;
  before: string;
  after: string;
}

const Changes = ({
  changes,
  was,
  typed,
}: {
  changes: readonly Change[];
  was: Typed;
  typed: Typed;
}) => (
  <dl class="pairs changes" aria-label={say("What changes")}>
    {changes.map(({ field, before, after }) => (
      <div key={field}>
        <dt>{fieldLabels[field]}</dt>
        <dd>
          <del>{before || say("none")}</del> → <ins>{after || say("none")}</ins>
          {field === "position" && (
            <div class="soft">
              {say("{distance} away", {
                distance: metres(movedM(was, typed)),
              })}
            </div>
          )}
        </dd>
      </div>
    ))}
  </dl>
);

/** A station is asked about when it moves further, metres. */
const askedM = 1000;
/** A mark is made at a station up to here, metres. */
const nearM = 500;

const movedM = (was: Typed, typed: Typed): number =>
  distanceM(valueOf(was, "position"), valueOf(typed, "position"));

/** How many of the latest marks were made near the old place, and near the new one. */
function nearWords(marks: ConsoleStationPage["marks"], was: Typed, typed: Typed): string {
  const near = (place: { lat: number; lon: number }): number =>
    marks.filter(
      ({ lat, lon }) => lat !== null && lon !== null && distanceM({ lat, lon }, place) <= nearM,
    ).length;
  return say(
    "Of its latest marks {old} {old|was|were} made within 500 m of where it is, {next} within 500 m of the new place.",
    { old: near(valueOf(was, "position")), next: near(valueOf(typed, "position")) },
  );
}

const pathOf = ({ id }: Station): string => `/stations/${encodeURIComponent(id)}`;

const typedOf = ({ lat, lon, ...station }: Station): Typed => ({
  ...{ name: station.name, brand: station.brand, addr: station.addr },
  ...{ grades_sold: station.grades_sold, opening_hours: station.opening_hours },
  ...{ lat: String(lat), lon: String(lon) },
});

function changesOf(was: Typed, typed: Typed): Change[] {
  const changed: Change[] = texts
    .filter((field) => typed[field].trim() !== was[field])
    .map((field) => ({ field, before: was[field], after: typed[field].trim() }));
  const [before, after] = [valueOf(was, "position"), valueOf(typed, "position")];
  if (before.lat !== after.lat || before.lon !== after.lon)
    changed.push({ field: "position", before: said(before), after: said(after) });
  return changed;
}

function valueOf(typed: Typed, field: "position"): { lat: number; lon: number };
function valueOf(typed: Typed, field: Field): string | { lat: number; lon: number };
function valueOf(typed: Typed, field: Field): string | { lat: number; lon: number } {
  if (field !== "position") return typed[field];
  return { lat: degreesOf(typed.lat) ?? 0, lon: degreesOf(typed.lon) ?? 0 };
}

/** Null when the text is no number. A decimal comma is taken too. */
function degreesOf(text: string): number | null {
  const plain = text.trim().replace(",", ".");
  return /^[-+]?\d+(\.\d+)?(e-\d+)?$/.test(plain) ? Number(plain) : null;
}

/** Both coordinates, where both were pasted: `55.75124, 37.61842`. */
function pairOf(text: string): { lat: string; lon: string } | null {
  const [, lat, lon] = /^\s*(-?\d+(?:\.\d+)?)\s*[,;]?\s+(-?\d+(?:\.\d+)?)\s*$/.exec(text) ?? [];
  return lat === undefined || lon === undefined ? null : { lat, lon };
}

const said = (value: HandSet[Field]): string =>
  typeof value === "object" && value !== null ? `${value.lat}, ${value.lon}` : (value ?? "");
