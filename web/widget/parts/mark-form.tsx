import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { distanceText } from "#src/contract/driver-texts.ts";
import { distanceM } from "#src/domain/geo.ts";
import type { Status } from "#src/domain/vocabulary.ts";
import type { Station } from "#web/widget/api.ts";
import type { Statement } from "#web/widget/mark.ts";
import { MarkDetails } from "#web/widget/parts/mark-details.tsx";
import { StatusSign } from "#web/widget/parts/status-sign.tsx";
import { innerStep } from "#web/widget/panels.ts";
import { askForMark, markPosition, position } from "#web/widget/position.ts";
import { sendSoon } from "#web/widget/sending.ts";
import { config } from "#web/widget/state.ts";
import { language, words } from "#web/widget/words.ts";

interface Props {
  station: Station;
  /** The mark is on its way, or nothing was said. */
  onDone: () => void;
}

/** What the mark will count for, before it is sent. */
function worth(station: Station): string {
  const at = position.value;
  if (markPosition.value !== "found" || at === null) {
    return words.position[markPosition.value];
  }
  const far = distanceM(at, station);
  // The service lets a bad accuracy reach farther; who is so near is told nothing wrong.
  return far <= (config.value?.near_m ?? 0) + at.accM
    ? words.position.found
    : words.position.far(distanceText(language, far));
}

const order: readonly Status[] = ["yes", "low", "queue", "no"];

/** Two taps for a plain mark: "Update", then the status. Details are for those who have a moment. */
export const MarkForm = ({ station, onDone }: Props) => {
  const detailed = useSignal(false);
  const status = useSignal<Status | null>(null);
  const details = useSignal<Omit<Statement, "status">>({});
  const title = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => title.current?.focus(), []);
  useEffect(askForMark, []);
  // Escape leads out of the details first, which stay as they are, then out of the form.
  useEffect(() => {
    innerStep.back = () => (detailed.peek() ? (detailed.value = false) : onDone());
    return () => void (innerStep.back = null);
  }, []);

  const submit = (chosen: Status): void => {
    const { express, ...rest } = details.value;
    // Details take their time, and a position is good for two minutes.
    if (detailed.value) askForMark();
    const said = detailed.value
      ? { ...rest, ...(chosen === "no" && express === true ? { express } : {}) }
      : {};
    sendSoon({ stationId: station.id, what: "report", statement: { status: chosen, ...said } });
    onDone();
  };
  return (
    <form
      class="mark-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (status.value !== null) submit(status.value);
      }}
    >
      <h3 ref={title} tabIndex={-1}>
        {words.whatNow}
      </h3>
      <div class="choices" role="group" aria-label={words.status}>
        {order.map((one) => (
          <button
            key={one}
            type="button"
            class={`choice ${one}`}
            {...(detailed.value ? { "aria-pressed": status.value === one } : {})}
            onClick={() => {
              if (detailed.value) status.value = one;
              else submit(one);
            }}
          >
            <StatusSign status={one} size={28} />
            {words.statuses[one]}
          </button>
        ))}
      </div>
      <p class="hint" role="status">
        {worth(station)}
      </p>
      {detailed.value ? <MarkDetails status={status.value} details={details} /> : null}
      <div class="actions">
        <button
          type="button"
          class="button"
          onClick={() => (detailed.value ? (detailed.value = false) : onDone())}
        >
          {detailed.value ? words.lessDetails : words.cancel}
        </button>
        {detailed.value ? (
          <button type="submit" class="button primary" disabled={status.value === null}>
            {words.send}
          </button>
        ) : (
          <button
            type="button"
            class="button"
            onClick={() => {
              detailed.value = true;
            }}
          >
            {words.details}
          </button>
        )}
      </div>
    </form>
  );
};
