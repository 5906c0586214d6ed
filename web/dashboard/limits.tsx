import { Button } from "#web/kit/button.tsx";
import type { Overview, ShownLimitRequest } from "#src/contract/dashboard.ts";
import { useSignal } from "@preact/signals";
import { LimitForm, type LimitDraft } from "#web/dashboard/limit-form.tsx";
import { Section } from "#web/dashboard/section.tsx";
import { isReader, limitRequests, overview, withdrawLimits } from "#web/dashboard/state.ts";
import { Fault } from "#web/kit/fault.tsx";
import { number } from "#web/kit/numbers.ts";
import { Loaded } from "#web/kit/resource.tsx";
import { Table, timed } from "#web/kit/table.tsx";
import { Moment } from "#web/kit/time.tsx";
import { say, sayWith } from "#web/dashboard/words.ts";

/** The limits, how near the use comes to them, and the way to ask for others. */
export const Limits = () => (
  <Section id="limits" title={say("Limits")}>
    <Loaded of={overview} quiet>
      {(value) => <Current overview={value} />}
    </Loaded>
    <Loaded of={limitRequests}>{({ requests }) => <Asking requests={requests} />}</Loaded>
  </Section>
);

function Current({
  overview: { minute, today, days, minutes, minute_days },
}: {
  overview: Overview;
}) {
  const highest = Math.max(...days.map(({ requests }) => requests));
  return (
    <dl class="tiles">
      <div class="tile">
        <dt>{say("Requests per minute")}</dt>
        <dd>
          <span class="figure">{number(minute.limit)}</span>
          <span class="soft small">
            {minutes === null
              ? say("no requests in the last {n} days", { n: minute_days })
              : say("p95 {p95}, busiest minute {peak}, {refused} refused (429), in {n} days", {
                  p95: minutes.p95,
                  peak: minutes.peak,
                  refused: minutes.refused,
                  n: minute_days,
                })}
          </span>
        </dd>
      </div>
      <div class="tile">
        <dt>{say("Requests per day")}</dt>
        <dd>
          <span class="figure">{number(today.limit)}</span>
          <span class="soft small">
            {say("busiest day {highest}, in {n} days", { highest, n: days.length })}
          </span>
        </dd>
      </div>
    </dl>
  );
}

function Asking({ requests }: { requests: readonly ShownLimitRequest[] }) {
  const pending = requests.find(({ status }) => status === "pending");
  const decided = requests.filter(({ status }) => status !== "pending");
  const draft = useSignal<LimitDraft | null>(null);
  return (
    <>
      {pending === undefined ? (
        isReader.value ? null : (
          <LimitForm draft={draft.value} />
        )
      ) : (
        <Pending request={pending} withdrawn={() => (draft.value = pending)} />
      )}
      {decided.length > 0 && (
        <div class="decided">
          <h3>{say("Decided requests")}</h3>
          <Table
            caption={say("Decided limit requests")}
            rows={decided}
            id={({ id }) => id}
            empty=""
            perPage={10}
            columns={[
              timed(say("Sent"), "created"),
              {
                name: say("Asked for"),
                cell: ({ requested_rpm: rpm, requested_daily: daily }) => both(rpm, daily),
                by: ({ requested_rpm }) => requested_rpm,
              },
              {
                name: say("Granted"),
                cell: ({ granted_rpm: rpm, granted_daily: daily }) =>
                  rpm === null || daily === null ? "–" : both(rpm, daily),
                by: ({ granted_rpm }) => granted_rpm ?? 0,
              },
              { name: say("Decision"), cell: (request) => <Decision request={request} /> },
              { name: say("Decided"), cell: ({ decided: at }) => <Moment at={at} /> },
            ]}
          />
        </div>
      )}
    </>
  );
}

const both = (rpm: number, daily: number): string =>
  say("{rpm} per minute, {daily} per day", { rpm, daily });

const verdicts = {
  pending: "… pending",
  approved: "✓ approved",
  rejected: "✕ rejected",
  withdrawn: "○ withdrawn by you",
} as const;

const Decision = ({ request: { status, decision_comment } }: { request: ShownLimitRequest }) => (
  <span>
    <span class={`badge ${status}`}>{say(verdicts[status])}</span>
    {decision_comment !== "" && ` ${decision_comment}`}
  </span>
);

function Pending({ request, withdrawn }: { request: ShownLimitRequest; withdrawn: () => void }) {
  const isBusy = useSignal(false);
  const refused = useSignal<string | null>(null);
  const withdraw = async (): Promise<void> => {
    isBusy.value = true;
    // First: the list then says that nothing is pending, and the form takes this place.
    withdrawn();
    refused.value = (await withdrawLimits(request.id))?.words ?? null;
    isBusy.value = false;
  };
  return (
    <div class="note" role="status">
      <p>
        <span class="badge pending">{say("… pending")}</span>{" "}
        {sayWith("You asked for {rpm} requests per minute and {daily} per day on {day}.", {
          rpm: <strong>{number(request.requested_rpm)}</strong>,
          daily: <strong>{number(request.requested_daily)}</strong>,
          day: <Moment at={request.created} />,
        })}
      </p>
      {request.comment !== "" && <p class="said">“{request.comment}”</p>}
      <p class="soft small">
        {say(
          "The operator answers within one business day. Approved limits take effect automatically. You can send another request after the decision.",
        )}
      </p>
      <Fault words={refused.value} />
      {!isReader.value && (
        <Button disabled={isBusy.value} onClick={withdraw}>
          {say("Withdraw or correct it")}
        </Button>
      )}
    </div>
  );
}
