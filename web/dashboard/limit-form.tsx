import { useSignal } from "@preact/signals";
import type { Overview } from "#src/contract/dashboard.ts";
import { askLimits, overview } from "#web/dashboard/state.ts";
import { Confirm } from "#web/kit/confirm.tsx";
import { Fault } from "#web/kit/fault.tsx";
import { say } from "#web/dashboard/words.ts";

const [rpmMax, dailyMax, commentMax] = [100_000, 100_000_000, 500];

export type LimitDraft = Parameters<typeof askLimits>[0];

/** Asks the operator for other limits (docs/contract.md 2.6). `draft`: a request that was withdrawn to be corrected. */
export function LimitForm({ draft }: { draft: LimitDraft | null }) {
  const now = overview.value.value;
  const rpm = useSignal(String(draft?.requested_rpm ?? ""));
  const daily = useSignal(String(draft?.requested_daily ?? ""));
  const comment = useSignal(draft?.comment ?? "");
  const doubts = useSignal<string[]>([]);
  const isChecked = useSignal(false);
  const isBusy = useSignal(false);
  const refused = useSignal<string | null>(null);
  const faults = { rpm: fault(rpm.value, rpmMax), daily: fault(daily.value, dailyMax) };

  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    isChecked.value = true;
    const wrong = faults.rpm !== "" ? "rpm" : faults.daily !== "" ? "daily" : null;
    if (wrong !== null) return document.querySelector<HTMLElement>(`#${wrong}`)?.focus();
    doubts.value = now === null ? [] : doubtsOf(now, Number(rpm.value), Number(daily.value));
    if (doubts.value.length === 0) await send();
  };
  const send = async (): Promise<void> => {
    isBusy.value = true;
    const failure = await askLimits({
      requested_rpm: Number(rpm.value),
      requested_daily: Number(daily.value),
      comment: comment.value,
    });
    isBusy.value = false;
    doubts.value = [];
    refused.value = failure?.words ?? null;
  };

  return (
    <form class="ask" noValidate onSubmit={(event) => void submit(event)}>
      <h3>{say("Ask for other limits")}</h3>
      <div class="pair">
        <Figure
          id="rpm"
          label={say("Requests per minute")}
          text={rpm}
          hint={
            now === null
              ? ""
              : now.minutes === null
                ? say("Now {n}", { n: now.minute.limit })
                : say("Now {n}; your p95 is {p95}", { n: now.minute.limit, p95: now.minutes.p95 })
          }
          fault={isChecked.value ? faults.rpm : ""}
        />
        <Figure
          id="daily"
          label={say("Requests per day")}
          text={daily}
          hint={now === null ? "" : say("Now {n}", { n: now.today.limit })}
          fault={isChecked.value ? faults.daily : ""}
        />
      </div>
      <div class="field">
        <label for="comment">{say("Comment (optional)")}</label>
        <textarea
          id="comment"
          rows={3}
          maxLength={commentMax}
          value={comment.value}
          onInput={({ currentTarget }) => (comment.value = currentTarget.value)}
          aria-describedby="comment-hint"
        />
        <p class="soft small" id="comment-hint">
          {say("The reason, and the date from which you need it. {n} characters left.", {
            n: commentMax - comment.value.length,
          })}
        </p>
      </div>
      <Fault words={refused.value} />
      <div>
        <button type="submit" class="primary" disabled={isBusy.value}>
          {isBusy.value ? say("Sending …") : say("Send the request")}
        </button>
      </div>
      {doubts.value.length > 0 && (
        <Confirm
          title={say("Ask for less than now?")}
          action={say("Ask for it")}
          busy={isBusy.value}
          onConfirm={() => void send()}
          onCancel={() => (doubts.value = [])}
        >
          {doubts.value.map((words) => (
            <p key={words}>{words}</p>
          ))}
          <p>{say("Calls above a limit are refused with 429.")}</p>
        </Confirm>
      )}
    </form>
  );
}

/** What a partner may have mistyped: limits below its use, or below its present limits. */
function doubtsOf(
  { minute, today, minutes, days }: Overview,
  rpm: number,
  daily: number,
): string[] {
  const [peak, busiest] = [minutes?.peak ?? 0, Math.max(...days.map(({ requests }) => requests))];
  const doubts: string[] = [];
  if (rpm < peak)
    doubts.push(say("{n} per minute: your busiest minute had {peak}.", { n: rpm, peak }));
  else if (rpm < minute.limit)
    doubts.push(say("{n} per minute: now you have {limit}.", { n: rpm, limit: minute.limit }));
  if (daily < busiest)
    doubts.push(say("{n} per day: your busiest day had {peak}.", { n: daily, peak: busiest }));
  else if (daily < today.limit)
    doubts.push(say("{n} per day: now you have {limit}.", { n: daily, limit: today.limit }));
  return doubts;
}

function Figure({
  id,
  label,
  text,
  hint,
  fault,
}: {
  id: string;
  label: string;
  text: { value: string };
  hint: string;
  fault: string;
}) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="text"
        inputMode="numeric"
        autoComplete="off"
        value={text.value}
        onInput={({ currentTarget }) => (text.value = currentTarget.value.trim())}
        aria-invalid={fault !== ""}
        aria-describedby={`${id}-hint ${id}-fault`}
      />
      <p class="soft small" id={`${id}-hint`}>
        {hint}
      </p>
      <p class="fault" id={`${id}-fault`}>
        {fault}
      </p>
    </div>
  );
}

/** The fault of a typed limit; empty when there is none. */
function fault(text: string, max: number): string {
  const value = Number(text);
  if (/^\d{1,9}$/.test(text) && value >= 1 && value <= max) return "";
  return say("A whole number from 1 to {max}, without spaces.", { max });
}
