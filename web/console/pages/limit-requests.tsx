import { Button } from "#web/kit/button.tsx";
import { useEffect, useState } from "preact/hooks";
import type { ConsoleLimitRequest } from "#src/contract/console.ts";
import { mayChange, useLoaded } from "#web/console/api.ts";
import { useAsking } from "#web/kit/asking.tsx";
import { useDoing } from "#web/console/doing.ts";
import { TextField } from "#web/console/parts/field.tsx";
import { useDecided } from "#web/console/parts/decided.tsx";
import { belowUse, LimitFields, useLimits } from "#web/console/parts/limit-fields.tsx";
import { UsageBars } from "#web/console/parts/usage-bars.tsx";
import { number } from "#web/kit/numbers.ts";
import { Confirm } from "#web/kit/confirm.tsx";
import { Table, timed } from "#web/kit/table.tsx";
import { Ago } from "#web/kit/time.tsx";
import { Fault } from "#web/kit/fault.tsx";
import { Loaded } from "#web/kit/resource.tsx";
import { counted } from "#web/console/site.ts";
import { say } from "#web/console/words.ts";

type Asking = { request: ConsoleLimitRequest; comment: string } | null;

/** Partners' requests for other limits beside their use: approve, give other limits, or reject. */
export function LimitRequestsPage({ changed }: { changed: () => Promise<void> }) {
  const loading = useLoaded<{ requests: ConsoleLimitRequest[] }>("/limit-requests");
  const [asking, setAsking] = useState<Asking>(null);
  const doing = useDoing();
  const asked = loading.value.value?.requests.filter(({ status }) => status === "pending").length;
  useEffect(() => {
    if (asked !== undefined) counted({ pending_requests: asked });
  }, [asked]);
  const reload = async (): Promise<void> => {
    await Promise.all([loading.load(), changed()]);
  };
  const decided = useDecided<ConsoleLimitRequest>(
    { path: "/limit-requests", card: "request", order: "down" },
    reload,
  );
  const decide = async (
    { id, partner }: ConsoleLimitRequest,
    verb: "approve" | "reject",
    body: object,
  ): Promise<void> => {
    const words =
      verb === "approve"
        ? say("New limits for {partner} approved.", { partner })
        : say("Request of {partner} rejected.", { partner });
    const done = await doing.run("", "POST", `/limit-requests/${id}/${verb}`, body);
    if (done !== null) {
      setAsking(null);
      decided.add(id, words);
    }
    await reload();
  };
  return (
    <section>
      <h1>{say("Limit requests")}</h1>
      {asking === null && <Fault words={doing.fault} />}
      <Loaded of={loading}>
        {({ requests }) => {
          const pending = requests.filter(({ status }) => status === "pending");
          return (
            <>
              {pending.length === 0 && <p class="empty">{say("No pending requests.")}</p>}
              {decided.inPlace(pending, (request) => (
                <Pending
                  key={request.id}
                  request={request}
                  busy={doing.busy}
                  decide={(verb, comment) => decide(request, verb, { comment })}
                  edit={(comment) => setAsking({ request, comment })}
                />
              ))}
              <h2>{say("Decided")}</h2>
              <Earlier requests={requests.filter(({ status }) => status !== "pending")} />
            </>
          );
        }}
      </Loaded>
      {asking !== null && (
        <OtherLimits
          asking={asking}
          busy={doing.busy}
          fault={doing.fault}
          send={(body) => void decide(asking.request, "approve", body)}
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
  decide: (verb: "approve" | "reject", comment: string) => Promise<void>;
  edit: (comment: string) => void;
}

function Pending({ request, busy, decide, edit }: PendingProps) {
  const [words, setWords] = useState("");
  const { ask, question } = useAsking();
  const { id, partner, partner_id: partnerId, minutes, days, rpm, daily } = request;
  const { requested_rpm: askedRpm, requested_daily: askedDaily, comment, created } = request;
  const why = belowUse({ rpm: askedRpm, daily: askedDaily }, peaksOf(request));
  return (
    <article class="card request" aria-labelledby={`request-${id}`}>
      <div class="title">
        <h2 id={`request-${id}`} tabIndex={-1}>
          <a href={`#/partners/${partnerId}`}>{partner}</a>
        </h2>
        <span class="soft">
          <Ago at={created} />
        </span>
      </div>
      <dl class="pairs">
        <dt>{say("Requests per minute")}</dt>
        <dd>
          {number(rpm)} → <strong>{number(askedRpm)}</strong>
        </dd>
        <dt>{say("Requests per day")}</dt>
        <dd>
          {number(daily)} → <strong>{number(askedDaily)}</strong>
        </dd>
        <dt>{say("Busy minutes")}</dt>
        <dd>
          {minutes === null ? (
            <span class="soft">{say("not known")}</span>
          ) : (
            <>
              {say("95 % of minutes: at most {p95}; busiest minute: {peak}", {
                p95: minutes.p95,
                peak: minutes.peak,
              })}
              {minutes.peak >= rpm && <span class="tag warn">{say("at its limit")}</span>}
            </>
          )}
        </dd>
        {minutes !== null && (
          <>
            <dt>{say("Refused (429)")}</dt>
            <dd>{say("{n} in 14 days", { n: minutes.refused })}</dd>
          </>
        )}
        {comment !== "" && (
          <>
            <dt>{say("Comment")}</dt>
            <dd class="said-by">{comment}</dd>
          </>
        )}
      </dl>
      {why !== null && <p class="banner warn">{why}</p>}
      <UsageBars days={days} daily={daily} />
      {mayChange() && (
        <>
          <TextField
            label={say("Comment for the partner")}
            value={words}
            onChange={setWords}
            maxLength={500}
          />
          <div class="buttons">
            <Button
              of={say("what {partner} asks for", { partner })}
              class={why === null ? "primary" : ""}
              disabled={busy}
              onClick={() =>
                ask({
                  title: say("Approve limits below the use?"),
                  why,
                  action: say("Approve"),
                  danger: true,
                  run: () => decide("approve", words),
                })
              }
            >
              {say("Approve")}
            </Button>
            <Button
              of={say("for {partner}", { partner })}
              disabled={busy}
              onClick={() => edit(words)}
            >
              {say("Other limits …")}
            </Button>
            <Button
              of={say("the request of {partner}", { partner })}
              disabled={busy}
              onClick={() => decide("reject", words)}
            >
              {say("Reject")}
            </Button>
          </div>
        </>
      )}
      {question}
    </article>
  );
}

/** The busiest minute and day of a partner that asks. */
const peaksOf = ({ minutes, days }: ConsoleLimitRequest): { minute: number; day: number } => ({
  minute: minutes?.peak ?? 0,
  day: Math.max(0, ...days.map(({ requests }) => requests)),
});

interface OtherLimitsProps {
  asking: NonNullable<Asking>;
  busy: boolean;
  fault: string | null;
  send: (body: object) => void;
  close: () => void;
}

function OtherLimits({ asking, busy, fault, send, close }: OtherLimitsProps) {
  const { request } = asking;
  const [limits, setLimits] = useLimits(request.requested_rpm, request.requested_daily);
  const [comment, setComment] = useState(asking.comment);
  const given = { rpm: Number(limits.rpm), daily: Number(limits.daily) };
  const why = belowUse(given, peaksOf(request));
  return (
    <Confirm
      title={say("Limits for {partner}", { partner: request.partner })}
      action={why === null ? say("Approve these") : say("Approve them all the same")}
      danger={why !== null}
      busy={busy}
      onCancel={close}
      onConfirm={() => send({ ...given, comment })}
    >
      <LimitFields {...limits} onChange={setLimits} />
      {why !== null && <p class="banner warn">{why}</p>}
      <TextField
        label={say("Comment for the partner")}
        value={comment}
        onChange={setComment}
        maxLength={500}
      />
      <Fault words={fault} />
    </Confirm>
  );
}

const Earlier = ({ requests }: { requests: readonly ConsoleLimitRequest[] }) => (
  <Table
    caption={say("Decided limit requests")}
    rows={requests}
    id={({ id }) => id}
    empty={say("None yet")}
    columns={[
      {
        name: say("Partner"),
        by: ({ partner }) => partner,
        cell: ({ partner, partner_id: id }) => <a href={`#/partners/${id}`}>{partner}</a>,
      },
      {
        name: say("Asked for"),
        by: ({ requested_rpm: rpm }) => rpm,
        cell: ({ requested_rpm: rpm, requested_daily: daily }) =>
          say("{rpm} per minute, {daily} per day", { rpm, daily }),
      },
      {
        name: say("Granted"),
        by: ({ granted_rpm: rpm }) => rpm ?? 0,
        cell: ({ granted_rpm: rpm, granted_daily: daily }) =>
          rpm === null || daily === null
            ? "–"
            : say("{rpm} per minute, {daily} per day", { rpm, daily }),
      },
      {
        name: say("Decision"),
        by: ({ status }) => status,
        cell: ({ status, decision_comment: words }) => (
          <>
            <span class={`tag ${{ approved: "good", rejected: "bad" }[status as string] ?? ""}`}>
              {say(status)}
            </span>
            {words !== "" && <div class="said-by">{words}</div>}
          </>
        ),
      },
      timed(say("When"), "decided"),
    ]}
  />
);
