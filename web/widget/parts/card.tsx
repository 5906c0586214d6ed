import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { distanceText, routeLink } from "#src/contract/driver-texts.ts";
import { distanceM } from "#src/domain/geo.ts";
import { hasFuel, type Near, stationAnswer } from "#src/domain/grade-answer.ts";
import { parseTime } from "#src/domain/time.ts";
import { minuteMs } from "#src/domain/units.ts";
import { Icon } from "#web/kit/icon.tsx";
import { fadingOf } from "#web/widget/age.ts";
import type { Station } from "#web/widget/api.ts";
import { cooldowns } from "#web/widget/cooldown.ts";
import { isOwnMark } from "#web/widget/device.ts";
import { grade } from "#web/widget/grade.ts";
import { map } from "#web/widget/map-handle.ts";
import { nearestOther } from "#web/widget/nearest.ts";
import { openCard, openSuggest, top } from "#web/widget/panels.ts";
import { CardFacts } from "#web/widget/parts/card-facts.tsx";
import { Chance } from "#web/widget/parts/chance.tsx";
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
import { Bell, TellMeLater } from "#web/widget/parts/tell-me-later.tsx";
import { WaitingMark } from "#web/widget/parts/waiting-mark.tsx";
import { Ways } from "#web/widget/parts/ways.tsx";
import { askForMark, position } from "#web/widget/position.ts";
import { result, sending, sendSoon, waiting } from "#web/widget/sending.ts";
import { config, now } from "#web/widget/state.ts";
import { addressBeside, brandBeside, stationName } from "#web/widget/station-name.ts";
import { language, words } from "#web/widget/words.ts";

/** A station: its facts, how sure they are, and the way to correct them. */
export const Card = ({ station }: { station: Station }) => {
  const marking = useSignal(false);
  const isTelling = useSignal(false);
  const { fuel } = station;
  const fly = useRef(top.peek()?.fly === true);
  const said = useRef<HTMLParagraphElement>(null);
  const told = result.value?.stationId === station.id ? result.value : null;
  const own = waiting.value?.stationId === station.id ? waiting.value : null;
  const isWaiting = own !== null;
  const isHeld = own?.held === true;
  // The sheet grows and shrinks with its content, also with what comes late; so do the notices.
  useEffect(() => {
    const sheet = document.querySelector(".panel");
    if (map.value === null || sheet === null) return undefined;
    const seen = new ResizeObserver(() => {
      map.value?.reveal(station, fly.current);
      fly.current = false;
    });
    seen.observe(sheet);
    seen.observe(document.querySelector(".notices")!);
    return () => seen.disconnect();
  }, [map.value]);
  useEffect(() => said.current?.scrollIntoView({ block: "nearest" }), [told]);
  const reports = config.value?.reports_enabled === true;
  const isIdle = !isHeld && !(marking.value && reports);
  const fading = fadingOf(station, null, now.value);
  const mark = (): void => {
    result.value = null;
    marking.value = true;
  };
  return (
    <Panel title={stationName(station)} action={isIdle ? <Bell isOn={isTelling} /> : null}>
      {marking.value ? null : (
        <p class="address">
          {[brandBeside(station), addressBeside(station)].filter(Boolean).join(" · ")}
        </p>
      )}
      {marking.value ? null : <HoursLine station={station} />}
      <div class={`status-now ${fuel.status}${fading > 1 ? " aged" : ""}`}>
        <StatusSign status={fuel.status} size={44} fading={fading} />
        <div class="lines">
          <strong class="status-word">{words.statuses[fuel.status]}</strong>
          <span class="age">{ageLine(station, now.value)}</span>
          <Chance station={station} explained />
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
          {isTelling.value ? <TellMeLater grade={grade.value} from={station} ofStation /> : null}
          <Elsewhere station={station} />
          <Ways station={station} />
          {reports && !isWaiting ? <StillTrue station={station} onNo={mark} /> : null}
          {reports && !isWaiting ? <CooldownLine stationId={station.id} /> : null}
          <Doubt
            station={station}
            reports={reports && !isWaiting && cooldowns.of(station.id) === null}
          />
          <CardFacts station={station} />
          <LastHours station={station} />
          {reports ? (
            <button type="button" class="button wide" onClick={() => openSuggest(station)}>
              {words.wrongStation}
            </button>
          ) : null}
          <Actions station={station} onMark={reports && !isWaiting ? mark : null} />
        </>
      )}
    </Panel>
  );
};

/** A station without the viewer's fuel is no end of the way: the next one that has it. */
const Elsewhere = ({ station }: { station: Station }) => {
  const other = useSignal<Near<Station> | null>(null);
  const wanted = grade.value;
  const isOut = !hasFuel(stationAnswer(station, wanted));
  useEffect(() => {
    other.value = null;
    let isLate = false;
    if (isOut)
      void nearestOther(station).then((found) => {
        if (!isLate) other.value = found;
      });
    return () => void (isLate = true);
  }, [station.id, isOut, wanted]);
  if (other.value === null) return null;
  const { station: next, distance } = other.value;
  return (
    <button type="button" class="button elsewhere" onClick={() => openCard(next, { fly: true })}>
      {words.nearestOther(wanted, stationName(next), distanceText(language, distance))}
    </button>
  );
};

/** From afar the way is what one needs, at the station the mark. During the cooldown only what counts is offered. */
const Actions = ({ station, onMark }: { station: Station; onMark: (() => void) | null }) => {
  void now.value;
  const at = position.value;
  const isHere = at !== null && distanceM(at, station) <= (config.value?.near_m ?? 0);
  const cooldown = cooldowns.of(station.id);
  const expressFromMs = (cooldown?.atMs ?? 0) + (config.value?.express_cooldown_s ?? 0) * 1000;
  const canBeOut = !isOwnMark(station.id, "no") && station.fuel.status !== "no";
  const ranOut = (): void => {
    askForMark();
    sendSoon({
      ...{ stationId: station.id, what: "report" },
      statement: { status: "no", express: true },
    });
  };
  const first = isHere && cooldown === null ? " primary" : "";
  return (
    <div class={`actions${first === "" ? "" : " marks-first"}`}>
      <a
        class={`button${first === "" ? " primary" : ""}`}
        href={routeLink(station, stationName(station), language, navigator.userAgent).href}
        target="_blank"
        rel="noopener noreferrer"
      >
        {words.route}
      </a>
      {onMark === null ? null : cooldown === null ? (
        <button type="button" class={`button${first}`} onClick={onMark}>
          {words.update}
        </button>
      ) : canBeOut && Date.now() >= expressFromMs ? (
        <button type="button" class="button" onClick={ranOut}>
          {words.express}
        </button>
      ) : null}
    </div>
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
