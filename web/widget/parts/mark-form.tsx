import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Status } from "#src/domain/vocabulary.ts";
import type { Station } from "#web/widget/api.ts";
import { type Result, sendMark, type Statement } from "#web/widget/mark.ts";
import { MarkDetails } from "#web/widget/parts/mark-details.tsx";
import { StatusSign } from "#web/widget/parts/status-sign.tsx";
import { words } from "#web/widget/words.ts";

interface Props {
  station: Station;
  onDone: (result: Result) => void;
  onCancel: () => void;
}

const order: readonly Status[] = ["yes", "low", "queue", "no"];

/** Two taps for a plain mark: "Update", then the status. Details are for those who have a moment. */
export const MarkForm = ({ station, onDone, onCancel }: Props) => {
  const detailed = useSignal(false);
  const status = useSignal<Status | null>(null);
  const details = useSignal<Omit<Statement, "status">>({});
  const sending = useSignal(false);
  const title = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => title.current?.focus(), []);

  const submit = async (chosen: Status): Promise<void> => {
    if (sending.value) return;
    status.value = chosen;
    sending.value = true;
    const { express, ...rest } = details.value;
    const said = detailed.value
      ? { ...rest, ...(chosen === "no" && express === true ? { express } : {}) }
      : {};
    const result = await sendMark(station.id, { status: chosen, ...said });
    sending.value = false;
    onDone(result);
  };
  return (
    <form
      class="mark-form"
      aria-busy={sending.value}
      onSubmit={(event) => {
        event.preventDefault();
        if (status.value !== null) void submit(status.value);
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
            disabled={sending.value}
            {...(detailed.value ? { "aria-pressed": status.value === one } : {})}
            onClick={() => {
              if (detailed.value) status.value = one;
              else void submit(one);
            }}
          >
            <StatusSign status={one} size={28} />
            {words.statuses[one]}
          </button>
        ))}
      </div>
      <p class="hint">{sending.value ? words.sending : words.askPosition}</p>
      {detailed.value ? <MarkDetails status={status.value} details={details} /> : null}
      <div class="actions">
        <button
          type="button"
          class="button"
          onClick={() => (detailed.value ? (detailed.value = false) : onCancel())}
        >
          {detailed.value ? words.lessDetails : words.cancel}
        </button>
        {detailed.value ? (
          <button
            type="submit"
            class="button primary"
            disabled={sending.value || status.value === null}
          >
            {sending.value ? words.sending : words.send}
          </button>
        ) : (
          <button
            type="button"
            class="button"
            disabled={sending.value}
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
