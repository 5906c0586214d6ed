import { useAsking } from "#web/kit/asking.tsx";
import { Once } from "#web/dashboard/once.tsx";
import { Dialog } from "#web/kit/dialog.tsx";
import { Button } from "#web/kit/button.tsx";
import { useState } from "preact/hooks";
import type { ShownWebhook } from "#src/contract/dashboard.ts";
import { Section } from "#web/dashboard/section.tsx";
import { useDoing, webhooks } from "#web/dashboard/state.ts";
import { Deliveries } from "#web/dashboard/webhook-deliveries.tsx";
import { WebhookForm } from "#web/dashboard/webhook-form.tsx";
import { Fault } from "#web/kit/fault.tsx";
import { Loaded } from "#web/kit/resource.tsx";
import { Table } from "#web/kit/table.tsx";
import { Moment } from "#web/kit/time.tsx";
import { say, sayWith } from "#web/dashboard/words.ts";

const reasons = {
  partner: "by you",
  operator: "by the operator",
  failing: "after three days of failures",
  gone: "because it answered 410",
} as const;

/** The partner's webhooks: their state, and every switch of them. */
export function Webhooks() {
  const [isAdding, setAdding] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  return (
    <Section
      id="webhooks"
      title={say("Webhooks")}
      tools={
        <Button onClick={() => setAdding(!isAdding)} aria-expanded={isAdding}>
          {say("Add a webhook")}
        </Button>
      }
    >
      <p class="soft small">
        {say(
          "Changes of stations, outcomes of your marks, decisions on your limits and keys that end soon, sent to your server and signed after Standard Webhooks.",
        )}
      </p>
      {isAdding && (
        <WebhookForm
          cancel={() => setAdding(false)}
          done={(text) => {
            setAdding(false);
            setSecret(text);
          }}
        />
      )}
      {secret !== null && (
        <Once
          words={say("The secret of the webhook. It is shown this once: copy it now.")}
          text={secret}
          close={() => setSecret(null)}
        />
      )}
      <Loaded of={webhooks}>
        {({ webhooks: rows }) => (
          <Table
            caption={say("Your webhooks")}
            rows={rows}
            id={({ id }) => id}
            empty={say("No webhooks.")}
            columns={[
              {
                name: "URL",
                cell: ({ url, description, events }) => (
                  <span>
                    <code class="any">{url}</code>
                    <br />
                    <span class="soft small">
                      {[...(description === "" ? [] : [description]), ...events].join(", ")}
                    </span>
                  </span>
                ),
              },
              { name: say("State"), cell: (webhook) => <State webhook={webhook} /> },
              {
                name: say("Actions"),
                cell: (webhook) => <Actions webhook={webhook} renewed={setSecret} />,
              },
            ]}
          />
        )}
      </Loaded>
    </Section>
  );
}

const State = ({
  webhook: { off, off_reason: reason, failing_since: since, waiting },
}: {
  webhook: ShownWebhook;
}) => (
  <span>
    {off !== null && reason !== null ? (
      <>
        <span class={`badge ${reason === "partner" ? "" : "rejected"}`}>{say("✕ off")}</span>{" "}
        {say(reasons[reason])}, <Moment at={off} />
      </>
    ) : since !== null ? (
      <>
        <span class="badge rejected">{say("✕ failing")}</span>{" "}
        {sayWith("since {day}", { day: <Moment at={since} /> })}
      </>
    ) : (
      <span class="badge approved">{say("✓ on")}</span>
    )}
    {waiting > 0 && <span class="soft small"> {say("{n} waiting", { n: waiting })}</span>}
  </span>
);

function Actions({
  webhook,
  renewed,
}: {
  webhook: ShownWebhook;
  renewed: (secret: string) => void;
}) {
  const { id, url, enabled, off_reason: reason } = webhook;
  const { ask, question } = useAsking();
  const [isEdited, setEdited] = useState(false);
  const [isOpen, setOpen] = useState(false);
  const { busy, fault, run } = useDoing();
  /** Sends one change and shows the list anew. */
  const change = async <T,>(method: "POST" | "PATCH" | "DELETE", below = "", body = {}) => {
    const done = await run<T>("", method, `/webhooks/${id}${below}`, body);
    await webhooks.load();
    return done;
  };
  const of = say("of webhook {id}", { id });
  const why = (words: string) => (
    <>
      <code class="whole">{url}</code>
      <br />
      {words}
    </>
  );
  const remove = (): void =>
    ask({
      title: say("Remove this webhook?"),
      why: why(say("Its deliveries are removed as well, also those that wait.")),
      ...{ action: say("Remove"), danger: true, run: () => change("DELETE") },
    });
  const renew = (): void =>
    ask({
      title: say("Make a new secret?"),
      why: why(
        say("The present secret signs as well for 24 hours. Change your server in this time."),
      ),
      action: say("Make it"),
      run: async () => {
        const answer = await change<{ secret: string }>("POST", "/rotate-secret");
        if (answer !== null) renewed(answer.secret);
      },
    });
  return (
    <div class="actions">
      <Button words={say("Deliveries")} of={of} onClick={() => setOpen(true)} />
      <details class="menu">
        <summary>
          {say("More")}
          <span class="unseen"> {of}</span>
        </summary>
        <div>
          <Button
            disabled={busy || !enabled}
            onClick={() => change("POST", "/test").then((sent) => sent !== null && setOpen(true))}
          >
            {say("Send a test")}
            {of}
          </Button>
          <Button words={say("Edit")} of={of} onClick={() => setEdited(true)} />
          <Button
            disabled={busy || reason === "operator"}
            onClick={() => change("PATCH", "", { enabled: !enabled })}
          >
            {enabled ? say("Switch off") : say("Switch on")}
            {of}
          </Button>
          <Button words={say("New secret")} of={of} disabled={busy} onClick={renew} />
          <Button words={say("Remove")} of={of} disabled={busy} onClick={remove} />
        </div>
      </details>
      {isEdited && <Edit webhook={webhook} close={() => setEdited(false)} />}
      <Fault words={fault} />
      {isOpen && <Deliveries webhook={id} close={() => setOpen(false)} />}
      {question}
    </div>
  );
}

const Edit = ({ webhook, close }: { webhook: ShownWebhook; close: () => void }) => (
  <Dialog title="edit-title" close={close}>
    <h2 id="edit-title">{say("Edit webhook {id}", { id: webhook.id })}</h2>
    <WebhookForm webhook={webhook} done={close} cancel={close} />
  </Dialog>
);
