import { useState } from "preact/hooks";
import type { ConsoleLimitRequest } from "#src/contract/console.ts";
import { mayChange, useLoaded } from "#web/console/api.ts";
import { useDoing } from "#web/console/doing.ts";
import { TextField } from "#web/console/parts/field.tsx";
import { LimitFields, useLimits } from "#web/console/parts/limit-fields.tsx";
import { UsageBars } from "#web/console/parts/usage-bars.tsx";
import { number } from "#web/kit/numbers.ts";
import { Confirm } from "#web/kit/confirm.tsx";
import { Table } from "#web/kit/table.tsx";
import { Ago, Moment } from "#web/kit/time.tsx";
import { Fault } from "#web/kit/fault.tsx";
import { Loaded } from "#web/kit/resource.tsx";

type Asking = { kind: "edit" | "reject"; request: ConsoleLimitRequest } | null;

/** Partners' requests for other limits beside what they use: approve, give other limits, or reject. */
export function LimitRequestsPage({ changed }: { changed: () => Promise<void> }) {
  const loading = useLoaded<{ requests: ConsoleLimitRequest[] }>("/limit-requests");
  const [asking, setAsking] = useState<Asking>(null);
  const doing = useDoing();
  const decide = async (
    { id, partner }: ConsoleLimitRequest,
    verb: "approve" | "reject",
    body: object,
  ): Promise<void> => {
    const words =
      verb === "approve" ? `New limits for ${partner} approved` : `Request of ${partner} rejected`;
    const done = await doing.run(words, "POST", `/limit-requests/${id}/${verb}`, body);
    if (done !== null) setAsking(null);
    await Promise.all([loading.load(), changed()]);
  };
  return (
    <section>
      <h1>Limit requests</h1>
      {asking === null && <Fault words={doing.fault} />}
      <Loaded of={loading}>
        {({ requests }) => {
          const pending = requests.filter(({ status }) => status === "pending");
          return (
            <>
              {pending.length === 0 && <p class="empty">No pending requests.</p>}
              {pending.map((request) => (
                <Pending
                  key={request.id}
                  request={request}
                  busy={doing.busy}
                  approve={() => void decide(request, "approve", {})}
                  edit={() => setAsking({ kind: "edit", request })}
                  reject={() => setAsking({ kind: "reject", request })}
                />
              ))}
              <h2>Decided</h2>
              <Decided requests={requests.filter(({ status }) => status !== "pending")} />
            </>
          );
        }}
      </Loaded>
      {asking !== null && (
        <Decision
          asking={asking}
          busy={doing.busy}
          fault={doing.fault}
          send={(verb, body) => void decide(asking.request, verb, body)}
          close={() => {
            setAsking(null);
            doing.forget();
          }}
        />
      )}
    </section>
  );
}

interface PendingProps {
  request: ConsoleLimitRequest;
  busy: boolean;
  approve: () => void;
  edit: () => void;
  reject: () => void;
}

function Pending({ request, busy, approve, edit, reject }: PendingProps) {
  const { id, partner, partner_id: partnerId, minutes, days, rpm, daily } = request;
  const { requested_rpm: askedRpm, requested_daily: askedDaily, comment, created } = request;
  return (
    <article class="card request" aria-labelledby={`request-${id}`}>
      <div class="title">
        <h2 id={`request-${id}`}>
          <a href={`#/partners/${partnerId}`}>{partner}</a>
        </h2>
        <span class="soft">
          <Ago at={created} />
        </span>
      </div>
      <dl class="pairs">
        <dt>Requests per minute</dt>
        <dd>
          {number(rpm)} → <strong>{number(askedRpm)}</strong>
        </dd>
        <dt>Requests per day</dt>
        <dd>
          {number(daily)} → <strong>{number(askedDaily)}</strong>
        </dd>
        <dt>Busy minutes</dt>
        <dd>
          {minutes === null ? (
            <span class="soft">not known</span>
          ) : (
            <>
              95 % of minutes: at most {number(minutes.p95)}; busiest minute: {number(minutes.peak)}
              {minutes.peak >= rpm && <span class="tag warn">at its limit</span>}
            </>
          )}
        </dd>
        {minutes !== null && (
          <>
            <dt>Refused (429)</dt>
            <dd>{number(minutes.refused)} in 14 days</dd>
          </>
        )}
        {comment !== "" && (
          <>
            <dt>Comment</dt>
            <dd class="said-by">{comment}</dd>
          </>
        )}
      </dl>
      <UsageBars days={days} daily={daily} />
      {mayChange() && (
        <div class="buttons">
          <button type="button" class="primary" disabled={busy} onClick={approve}>
            Approve<span class="unseen"> what {partner} asks for</span>
          </button>
          <button type="button" disabled={busy} onClick={edit}>
            Other limits …
          </button>
          <button type="button" disabled={busy} onClick={reject}>
            Reject …
          </button>
        </div>
      )}
    </article>
  );
}

interface DecisionProps {
  asking: NonNullable<Asking>;
  busy: boolean;
  fault: string | null;
  send: (verb: "approve" | "reject", body: object) => void;
  close: () => void;
}

function Decision({ asking: { kind, request }, busy, fault, send, close }: DecisionProps) {
  const [limits, setLimits] = useLimits(request.requested_rpm, request.requested_daily);
  const [comment, setComment] = useState("");
  const approving = kind === "edit";
  return (
    <Confirm
      title={
        approving ? `Limits for ${request.partner}` : `Reject the request of ${request.partner}?`
      }
      action={approving ? "Approve these" : "Reject"}
      danger={!approving}
      busy={busy}
      onCancel={close}
      onConfirm={() =>
        approving
          ? send("approve", { rpm: Number(limits.rpm), daily: Number(limits.daily), comment })
          : send("reject", { comment })
      }
    >
      {approving && (
        <>
          <LimitFields {...limits} onChange={setLimits} />
        </>
      )}
      <TextField
        label="Comment for the partner"
        value={comment}
        onChange={setComment}
        maxLength={500}
      />
      <Fault words={fault} />
    </Confirm>
  );
}

const Decided = ({ requests }: { requests: readonly ConsoleLimitRequest[] }) => (
  <Table
    caption="Decided limit requests"
    rows={requests}
    id={({ id }) => id}
    empty="None yet"
    columns={[
      {
        name: "Partner",
        by: ({ partner }) => partner,
        cell: ({ partner, partner_id: id }) => <a href={`#/partners/${id}`}>{partner}</a>,
      },
      {
        name: "Asked for",
        by: ({ requested_rpm: rpm }) => rpm,
        cell: ({ requested_rpm: rpm, requested_daily: daily }) =>
          `${number(rpm)} per minute, ${number(daily)} per day`,
      },
      {
        name: "Decision",
        by: ({ status }) => status,
        cell: ({ status, decision_comment: words }) => (
          <>
            <span class={`tag ${status === "approved" ? "good" : "bad"}`}>{status}</span>
            {words !== "" && <div class="said-by">{words}</div>}
          </>
        ),
      },
      {
        name: "When",
        by: ({ decided }) => decided ?? 0,
        cell: ({ decided }) => <Moment at={decided} />,
      },
    ]}
  />
);
