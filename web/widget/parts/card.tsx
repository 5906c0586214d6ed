import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { parseTime } from "#src/domain/time.ts";
import { minuteMs } from "#src/domain/units.ts";
import { Icon } from "#web/kit/icon.tsx";
import type { Station } from "#web/widget/api.ts";
import { map } from "#web/widget/map-handle.ts";
import { top } from "#web/widget/panels.ts";
import { CardFacts } from "#web/widget/parts/card-facts.tsx";
import { CooldownLine } from "#web/widget/parts/cooldown-line.tsx";
import { Doubt } from "#web/widget/parts/doubt.tsx";
import { HoursLine } from "#web/widget/parts/hours-line.tsx";
import { LastHours } from "#web/widget/parts/last-hours.tsx";
import { MarkForm } from "#web/widget/parts/mark-form.tsx";
import { Panel } from "#web/widget/parts/panel.tsx";
import { SecondSheet } from "#web/widget/parts/second-sheet.tsx";
import { StatusSign } from "#web/widget/parts/status-sign.tsx";
import { StillTrue } from "#web/widget/parts/still-true.tsx";
import { TakeBack } from "#web/widget/parts/take-back.tsx";
import { WaitingMark } from "#web/widget/parts/waiting-mark.tsx";
import { Ways } from "#web/widget/parts/ways.tsx";
import { result, sending, waiting } from "#web/widget/sending.ts";
import { config, now } from "#web/widget/state.ts";
import { brandBeside, stationName } from "#web/widget/station-name.ts";
import { words } from "#web/widget/words.ts";

/** A station: its facts, how sure they are, and the way to correct them. */
export const Card = ({ station }: { station: Station }) => {
  const marking = useSignal(false);
  const { fuel, addr } = station;
  const fly = useRef(top.peek()?.fly === true);
  const said = useRef<HTMLParagraphElement>(null);
  const told = result.value?.stationId === station.id ? result.value : null;
  const own = waiting.value?.stationId === station.id ? waiting.value : null;
  const isWaiting = own !== null;
  const isHeld = own?.held === true;
  // The sheet grows and shrinks with its content.
  useEffect(() => {
    map.value?.reveal(station, fly.current);
    fly.current = false;
  }, [marking.value, told, isWaiting, isHeld, map.value]);
  useEffect(() => said.current?.scrollIntoView({ block: "nearest" }), [told]);
  const reports = config.value?.reports_enabled === true;
  const mark = (): void => {
    result.value = null;
    marking.value = true;
  };
  return (
    <Panel title={stationName(station)}>
      {marking.value ? null : (
        <p class="address">{[brandBeside(station), addr].filter(Boolean).join(" · ")}</p>
      )}
      {marking.value ? null : <HoursLine station={station} />}
      <div class={`status-now ${fuel.status}`}>
        <StatusSign status={fuel.status} size={44} />
        <div class="lines">
          <strong class="status-word">{words.statuses[fuel.status]}</strong>
          <span class="age">{ageLine(station, now.value)}</span>
        </div>
      </div>
      {isWaiting && !isHeld ? <WaitingMark detailed /> : null}
      <p class="hint" role="status">
        {sending.value === station.id ? words.sending : ""}
      </p>
      {told === null ? null : (
        <p ref={said} class={`result ${told.taken ? "good" : "bad"}`} role="status">
          <Icon name={told.taken ? "check" : "alert"} />
          <span>{told.text}</span>
        </p>
      )}
      {isWaiting || (marking.value && reports) ? null : (
        <TakeBack stationId={station.id} onTaken={mark} />
      )}
      {isHeld ? (
        <SecondSheet said={own} />
      ) : marking.value && reports ? (
        <MarkForm station={station} onDone={() => (marking.value = false)} />
      ) : (
        <>
          <Ways station={station} />
          {reports && !isWaiting ? <StillTrue station={station} onNo={mark} /> : null}
          {reports && !isWaiting ? <CooldownLine stationId={station.id} /> : null}
          <Doubt station={station} reports={reports && !isWaiting} />
          <CardFacts station={station} />
          <LastHours station={station} />
          {reports ? (
            <div class="actions">
              <button type="button" class="button primary" onClick={mark}>
                {words.update}
              </button>
            </div>
          ) : null}
        </>
      )}
    </Panel>
  );
};

function ageLine({ fuel }: Station, at: number): string {
  const updated = parseTime(fuel.updated);
  if (updated === null) return fuel.pending_status === "" ? words.never : words.unconfirmed;
  const ago = words.ago(Math.floor(Math.max(0, at - updated) / minuteMs));
  return fuel.confirmations > 0 && !fuel.seeded
    ? words.driversLast(fuel.confirmations, ago)
    : words.updated(ago);
}
