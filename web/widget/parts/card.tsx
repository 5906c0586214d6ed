import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { parseTime } from "#src/domain/time.ts";
import { minuteMs } from "#src/domain/units.ts";
import { Icon } from "#web/kit/icon.tsx";
import type { Station } from "#web/widget/api.ts";
import { map } from "#web/widget/map-handle.ts";
import type { Result } from "#web/widget/mark.ts";
import { CardFacts } from "#web/widget/parts/card-facts.tsx";
import { Doubt } from "#web/widget/parts/doubt.tsx";
import { MarkForm } from "#web/widget/parts/mark-form.tsx";
import { Panel } from "#web/widget/parts/panel.tsx";
import { StatusSign } from "#web/widget/parts/status-sign.tsx";
import { config, now } from "#web/widget/state.ts";
import { stationName } from "#web/widget/station-name.ts";
import { words } from "#web/widget/words.ts";

/** A station: what is known, how sure that is, and the way to say otherwise. */
export const Card = ({ station }: { station: Station }) => {
  const marking = useSignal(false);
  const result = useSignal<Result | null>(null);
  const { fuel, addr, brand, name } = station;
  const said = useRef<HTMLParagraphElement>(null);
  // The sheet grows and shrinks with what it holds.
  useEffect(() => map.value?.reveal(station), [marking.value, result.value]);
  useEffect(() => said.current?.scrollIntoView({ block: "nearest" }), [result.value]);
  const reports = config.value?.reports_enabled === true;
  const done = (outcome: Result): void => {
    result.value = outcome;
    if (outcome.taken) marking.value = false;
  };
  return (
    <Panel title={stationName(station)}>
      {marking.value ? null : (
        <p class="address">
          {[brand === name || name === "" ? "" : brand, addr].filter(Boolean).join(" · ")}
        </p>
      )}
      <div class={`status-now ${fuel.status}`}>
        <StatusSign status={fuel.status} size={44} />
        <div class="lines">
          <strong class="status-word">{words.statuses[fuel.status]}</strong>
          <span class="age">{ageLine(station, now.value)}</span>
        </div>
      </div>
      {result.value === null ? null : (
        <p ref={said} class={`result ${result.value.taken ? "good" : "bad"}`} role="status">
          <Icon name={result.value.taken ? "check" : "alert"} />
          <span>{result.value.text}</span>
        </p>
      )}
      {marking.value && reports ? null : (
        <>
          <Doubt station={station} reports={reports} onDone={done} />
          <CardFacts fuel={fuel} />
        </>
      )}
      {!reports ? null : marking.value ? (
        <MarkForm
          station={station}
          onDone={done}
          onCancel={() => {
            marking.value = false;
          }}
        />
      ) : (
        <div class="actions">
          <button
            type="button"
            class="button primary"
            onClick={() => {
              result.value = null;
              marking.value = true;
            }}
          >
            {words.update}
          </button>
        </div>
      )}
    </Panel>
  );
};

function ageLine({ fuel }: Station, at: number): string {
  const updated = parseTime(fuel.updated);
  if (updated === null) return fuel.pending_status === "" ? words.never : words.unconfirmed;
  const ago = words.ago(Math.floor(Math.max(0, at - updated) / minuteMs));
  return words.updated(ago);
}
