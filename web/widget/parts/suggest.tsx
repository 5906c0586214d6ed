import { useSignal } from "@preact/signals";
import { distanceText } from "#src/contract/driver-texts.ts";
import { distanceM, type Point } from "#src/domain/geo.ts";
import { type SuggestionKind, suggestionKinds, suggestionTextMax } from "#src/domain/suggestion.ts";
import type { Station } from "#web/widget/api.ts";
import { deviceId } from "#web/widget/device.ts";
import { map } from "#web/widget/map-handle.ts";
import { deliver, drop, enterSuggestion } from "#web/widget/offline/outbox.ts";
import { isFinal } from "#web/widget/offline/waiting-entry.ts";
import { offlineWords } from "#web/widget/offline/words-offline.ts";
import "#web/widget/parts/suggest.css";
import { Panel } from "#web/widget/parts/panel.tsx";
import { pickPlace } from "#web/widget/picking.ts";
import { locate, mayLocate, position } from "#web/widget/position.ts";
import { view } from "#web/widget/state.ts";
import { addressBeside, stationName } from "#web/widget/station-name.ts";
import { suggestWords as words } from "#web/widget/words-suggest.ts";
import { language, words as mapWords } from "#web/widget/words.ts";

const ofStation = suggestionKinds.filter((kind) => kind !== "missing");

/** What is wrong with a station itself, or that one is missing on the map (null); decisions 15.47. */
export const Suggest = ({ station }: { station: Station | null }) => {
  const kind = useSignal<SuggestionKind | null>(station === null ? "missing" : null);
  const place = useSignal<Point | null>(null);
  const text = useSignal("");
  const told = useSignal<{ good: boolean; text: string } | null>(null);
  const busy = useSignal(false);
  const needsPlace = kind.value === "moved" || kind.value === "missing";
  const isSent = told.value?.good === true;

  const takeOwn = async (): Promise<void> => {
    const found = await locate();
    const { positionDenied, noPosition } = mapWords.notices;
    if (typeof found !== "string") place.value = { lat: found.lat, lon: found.lon };
    told.value =
      typeof found === "string"
        ? { good: false, text: found === "denied" ? positionDenied : noPosition }
        : null;
  };
  const pick = async (): Promise<void> => {
    const near = place.value ?? station ?? position.value;
    // In the view of a city no place is chosen by its street.
    const at = await pickPlace(near ?? view.peek(), near === null ? 14 : 16);
    if (at === null) return;
    place.value = at;
    told.value = null;
  };
  const send = async (): Promise<void> => {
    if (kind.value === null) return;
    if (needsPlace && place.value === null) {
      told.value = { good: false, text: words.needsPlace };
      return;
    }
    busy.value = true;
    const title = station === null ? words.kinds.missing : stationName(station);
    const said = {
      ...{ device: deviceId(), kind: kind.value, text: text.value.trim() },
      ...(station === null ? {} : { station_id: station.id }),
      ...(needsPlace ? { lat: metres(place.value!.lat), lon: metres(place.value!.lon) } : {}),
    };
    told.value = await sent(enterSuggestion(title, said));
    busy.value = false;
  };
  return (
    <Panel title={station === null ? words.kinds.missing : words.title}>
      <form
        class="suggest"
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        {station === null ? null : (
          <>
            <p class="address">
              {[stationName(station), addressBeside(station)].filter(Boolean).join(" · ")}
            </p>
            <div role="radiogroup" aria-label={words.what}>
              {ofStation.map((one) => (
                <label key={one} class="switch">
                  <input
                    type="radio"
                    name="suggestion"
                    required
                    disabled={isSent}
                    checked={kind.value === one}
                    onChange={() => (kind.value = one)}
                  />
                  {words.kinds[one]}
                </label>
              ))}
            </div>
          </>
        )}
        {needsPlace && !isSent ? (
          <div
            class="place"
            role="group"
            aria-label={station === null ? words.whereMissing : words.where}
          >
            <strong>{station === null ? words.whereMissing : words.where}</strong>
            {mayLocate.value ? (
              <button type="button" class="button wide" onClick={() => void takeOwn()}>
                {words.own}
              </button>
            ) : null}
            {map.value === null ? null : (
              <button type="button" class="button wide" onClick={() => void pick()}>
                {words.onMap}
              </button>
            )}
            <span role="status">
              {place.value === null
                ? ""
                : station === null
                  ? words.chosenNew
                  : words.chosen(distanceText(language, distanceM(station, place.value)))}
            </span>
          </div>
        ) : null}
        {isSent ? null : (
          <label class="field">
            {words.text}
            <textarea
              rows={2}
              maxLength={suggestionTextMax}
              placeholder={words.textHint}
              value={text.value}
              onInput={({ currentTarget }) => (text.value = currentTarget.value)}
            />
          </label>
        )}
        <p class={told.value === null ? "hint" : `result ${isSent ? "good" : "bad"}`} role="status">
          {told.value?.text ?? words.goesTo}
        </p>
        {isSent ? null : (
          <div class="actions">
            <button type="submit" class="button primary" disabled={busy.value}>
              {words.send}
            </button>
          </div>
        )}
      </form>
    </Panel>
  );
};

/** Degrees to a metre. */
const metres = (degrees: number): number => Number(degrees.toFixed(5));

/** What became of it; without a network it waits like a mark (decisions 15.21). */
async function sent(id: string): Promise<{ good: boolean; text: string }> {
  const answer = await deliver(id, {});
  if (answer === undefined || answer.kind === "ok") return { good: true, text: words.thanks };
  if (answer.kind !== "refused" || !isFinal(answer))
    return { good: true, text: offlineWords.suggestionWaits };
  await drop(id);
  return { good: false, text: answer.status === 429 ? words.enough : words.failed };
}
