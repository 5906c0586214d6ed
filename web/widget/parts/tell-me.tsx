import { computed, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { alertRadiiKm, type ShownAlert } from "#src/contract/shapes/alert-radii.ts";
import type { Grade } from "#src/domain/vocabulary.ts";
import { alerts, askToBeTold, loadAlerts, stopTelling } from "#web/widget/alerts.ts";
import { canBeTold } from "#web/widget/can-be-told.ts";
import { stations } from "#web/widget/loader.ts";
import type { Origin } from "#web/widget/place.ts";
import { alertWords as words } from "#web/widget/words-alerts.ts";
import { language } from "#web/widget/words.ts";

const usualKm = 10;

interface Props {
  grade: Grade | null;
  from: Pick<Origin, "lat" | "lon"> | null;
  /** It is about a station: of it alone one can be told too. */
  ofStation?: boolean;
}

/** "Tell me when 95 is there within 10 km", and the alerts of this device (decisions 15.25). */
export const TellMe = ({ grade, from, ofStation = false }: Props) => {
  useEffect(() => void loadAlerts(), []);
  if (!canBeTold()) return <p class="hint">{words.homeScreen}</p>;
  const known = alerts.value?.alerts ?? [];
  return (
    <div class="tell-me">
      {grade === null ? <p class="hint">{words.chooseFuel}</p> : null}
      {grade === null || from === null ? null : (
        <AskForm grade={grade} from={from} ofStation={ofStation} />
      )}
      {known.length === 0 ? null : (
        <section aria-labelledby="told-of">
          <h3 id="told-of">{words.mine}</h3>
          <ul class="told-of">
            {known.map((one) => (
              <Waiting key={one.id} alert={one} />
            ))}
          </ul>
        </section>
      )}
    </div>
  );
};

const AskForm = ({
  grade,
  from,
  ofStation,
}: {
  grade: Grade;
  from: Pick<Origin, "lat" | "lon">;
  ofStation: boolean;
}) => {
  const radii = alertRadiiKm.filter((km) => ofStation || km >= 1);
  const km = useSignal<number>(ofStation ? radii[0]! : usualKm);
  const likely = useSignal(false);
  const busy = useSignal(false);
  const said = useSignal("");
  const ask = async (): Promise<void> => {
    busy.value = true;
    said.value = words.asking;
    const refused = await askToBeTold(grade, from, {
      radius_km: km.value,
      likely: likely.value,
    });
    said.value = refused === null ? words.asked : words.refusals[refused];
    busy.value = false;
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (!busy.value) void ask();
      }}
    >
      <h3>{words.title(grade)}</h3>
      <fieldset class="group">
        <legend>{words.radius}</legend>
        <div class="chips">
          {radii.map((radius) => (
            <label key={radius} class="chip">
              <input
                type="radio"
                name="alert-radius"
                checked={km.value === radius}
                onChange={() => (km.value = radius)}
              />
              <span>{words.km(radius)}</span>
            </label>
          ))}
        </div>
      </fieldset>
      {isChanceKnown.value ? (
        <label class="switch">
          <input
            type="checkbox"
            checked={likely.value}
            onChange={() => (likely.value = !likely.value)}
          />
          {words.onlyLikely}
        </label>
      ) : null}
      <button type="submit" class="button wide" aria-disabled={busy.value}>
        {words.ask}
      </button>
      <p class="hint" role="status">
        {said.value}
      </p>
      <p class="hint">{words.terms(alerts.value?.per_day ?? 3, alerts.value?.days ?? 14)}</p>
    </form>
  );
};

/** Nobody is told by a chance that the service does not have. */
const isChanceKnown = computed(() =>
  [...stations.value.values()].some(({ fuel }) => fuel.chance !== undefined),
);

const Waiting = ({
  alert: { id, token, grade, likely, radius_km, expires },
}: {
  alert: ShownAlert;
}) => {
  const failed = useSignal(false);
  const what = words.one(grade, radius_km, likely);
  const day = new Date(expires).toLocaleDateString(language, { day: "numeric", month: "long" });
  const stop = async (): Promise<void> => {
    failed.value = !(await stopTelling(id, token));
  };
  return (
    <li>
      <span class="lines">
        <span>{what}</span>
        <small role="status">{failed.value ? words.notStopped : words.until(day)}</small>
      </span>
      <button
        type="button"
        class="button"
        aria-label={words.stopOne(what)}
        onClick={() => void stop()}
      >
        {words.stop}
      </button>
    </li>
  );
};
