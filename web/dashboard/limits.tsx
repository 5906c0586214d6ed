import type { Overview, ShownLimitRequest } from "#src/contract/dashboard.ts";
import { LimitForm } from "#web/dashboard/limit-form.tsx";
import { Section } from "#web/dashboard/section.tsx";
import { limitRequests, overview } from "#web/dashboard/state.ts";
import { number } from "#web/kit/numbers.ts";
import { Loaded } from "#web/kit/resource.tsx";
import { Table } from "#web/kit/table.tsx";
import { Moment } from "#web/kit/time.tsx";

/** The limits, how near the use comes to them, and the way to ask for others. */
export const Limits = () => (
  <Section id="limits" title="Limits">
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
        <dt>Requests per minute</dt>
        <dd>
          <span class="figure">{number(minute.limit)}</span>
          <span class="soft small">
            {minutes === null
              ? `no requests in the last ${minute_days} days`
              : `p95 ${number(minutes.p95)}, busiest minute ${number(minutes.peak)}, ${number(minutes.refused)} refused (429), in ${minute_days} days`}
          </span>
        </dd>
      </div>
      <div class="tile">
        <dt>Requests per day</dt>
        <dd>
          <span class="figure">{number(today.limit)}</span>
          <span class="soft small">
            busiest day {number(highest)}, in {days.length} days
          </span>
        </dd>
      </div>
    </dl>
  );
}

function Asking({ requests }: { requests: readonly ShownLimitRequest[] }) {
  const pending = requests.find(({ status }) => status === "pending");
  const decided = requests.filter(({ status }) => status !== "pending");
  return (
    <>
      {pending === undefined ? <LimitForm /> : <Pending request={pending} />}
      {decided.length > 0 && (
        <div class="decided">
          <h3>Decided requests</h3>
          <Table
            caption="Decided limit requests"
            rows={decided}
            id={({ id }) => id}
            empty=""
            perPage={10}
            columns={[
              {
                name: "Sent",
                cell: ({ created }) => <Moment at={created} />,
                by: ({ created }) => created,
              },
              {
                name: "Per minute",
                cell: ({ requested_rpm }) => number(requested_rpm),
                by: ({ requested_rpm }) => requested_rpm,
                numeric: true,
              },
              {
                name: "Per day",
                cell: ({ requested_daily }) => number(requested_daily),
                by: ({ requested_daily }) => requested_daily,
                numeric: true,
              },
              { name: "Decision", cell: (request) => <Decision request={request} /> },
              { name: "Decided", cell: ({ decided: at }) => <Moment at={at} /> },
            ]}
          />
        </div>
      )}
    </>
  );
}

const Decision = ({ request: { status, decision_comment } }: { request: ShownLimitRequest }) => (
  <span>
    <span class={`badge ${status}`}>{status === "approved" ? "✓ approved" : "✕ rejected"}</span>
    {decision_comment !== "" && ` ${decision_comment}`}
  </span>
);

const Pending = ({ request }: { request: ShownLimitRequest }) => (
  <div class="note" role="status">
    <p>
      <span class="badge pending">… pending</span> You asked for{" "}
      <strong>{number(request.requested_rpm)}</strong> requests per minute and{" "}
      <strong>{number(request.requested_daily)}</strong> per day on <Moment at={request.created} />.
    </p>
    {request.comment !== "" && <p class="said">“{request.comment}”</p>}
    <p class="soft small">
      The operator answers within one business day. Approved limits take effect automatically. You
      can send another request after the decision.
    </p>
  </div>
);
