import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { Status } from "#src/domain/vocabulary.ts";
import type { Station } from "#web/widget/api.ts";
import type { Statement } from "#web/widget/mark.ts";
import { MarkDetails } from "#web/widget/parts/mark-details.tsx";
import { StatusSign } from "#web/widget/parts/status-sign.tsx";
import { askForMark, markPosition } from "#web/widget/position.ts";
import { sendSoon } from "#web/widget/sending.ts";
import { words } from "#web/widget/words.ts";

interface Props {
  station: Station;
  /** The mark is on its way, or nothing was said. */
  onDone: () => void;
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

  const submit = (chosen: Status): void => {
    const { express, ...rest } = details.value;
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
        {words.position[markPosition.value]}
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
