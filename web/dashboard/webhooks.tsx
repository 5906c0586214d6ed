import { useEffect, useRef, useState } from "preact/hooks";
import type { ShownWebhook } from "#src/contract/dashboard.ts";
import { Section } from "#web/dashboard/section.tsx";
import { api, webhooks } from "#web/dashboard/state.ts";
import { Deliveries } from "#web/dashboard/webhook-deliveries.tsx";
import { WebhookForm } from "#web/dashboard/webhook-form.tsx";
import { Confirm } from "#web/kit/confirm.tsx";
import { CopyButton } from "#web/kit/copy-button.tsx";
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
        <button type="button" onClick={() => setAdding(!isAdding)} aria-expanded={isAdding}>
          {say("Add a webhook")}
        </button>
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
      {secret !== null && <Secret text={secret} close={() => setSecret(null)} />}
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

/** Sends one change and shows the list anew; gives the answer, or null when it was refused. */
function useChange(path: string) {
  const [isBusy, setBusy] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  const change = async <T,>(
    method: "POST" | "PATCH" | "DELETE",
    below = "",
    body: object = {},
  ): Promise<T | null> => {
    setBusy(true);
    const result = await api.send<T>(method, `${path}${below}`, body);
    setBusy(false);
    setFault(result.failure?.words ?? null);
    await webhooks.load();
    if (result.failure !== undefined) return null;
    // An answer without a body is one all the same.
    return result.value ?? ({} as T);
  };
  return { isBusy, fault, change };
}

function Actions({
  webhook,
  renewed,
}: {
  webhook: ShownWebhook;
  renewed: (secret: string) => void;
}) {
  const { id, url, enabled, off_reason: reason } = webhook;
  const [asked, setAsked] = useState<"remove" | "renew" | null>(null);
  const [isEdited, setEdited] = useState(false);
  const [isOpen, setOpen] = useState(false);
  const { isBusy, fault, change } = useChange(`/webhooks/${id}`);
  const of = <span class="unseen"> {say("of webhook {id}", { id: String(id) })}</span>;
  const confirmed = async (): Promise<void> => {
    if (asked === "remove") await change("DELETE");
    else {
      const answer = await change<{ secret: string }>("POST", "/rotate-secret");
      if (answer !== null) renewed(answer.secret);
    }
    setAsked(null);
  };
  return (
    <div class="actions">
      <button type="button" onClick={() => setOpen(true)}>
        {say("Deliveries")}
        {of}
      </button>
      <details class="menu">
        <summary>
          {say("More")}
          {of}
        </summary>
        <div>
          <button
            type="button"
            disabled={isBusy || !enabled}
            onClick={() =>
              void change("POST", "/test").then((sent) => sent !== null && setOpen(true))
            }
          >
            {say("Send a test")}
            {of}
          </button>
          <button type="button" onClick={() => setEdited(true)}>
            {say("Edit")}
            {of}
          </button>
          <button
            type="button"
            disabled={isBusy || reason === "operator"}
            onClick={() => void change("PATCH", "", { enabled: !enabled })}
          >
            {enabled ? say("Switch off") : say("Switch on")}
            {of}
          </button>
          <button type="button" disabled={isBusy} onClick={() => setAsked("renew")}>
            {say("New secret")}
            {of}
          </button>
          <button type="button" disabled={isBusy} onClick={() => setAsked("remove")}>
            {say("Remove")}
            {of}
          </button>
        </div>
      </details>
      {isEdited && <Edit webhook={webhook} close={() => setEdited(false)} />}
      <Fault words={fault} />
      {isOpen && <Deliveries webhook={id} close={() => setOpen(false)} />}
      {asked !== null && (
        <Confirm
          title={asked === "remove" ? say("Remove this webhook?") : say("Make a new secret?")}
          action={asked === "remove" ? say("Remove") : say("Make it")}
          danger={asked === "remove"}
          busy={isBusy}
          onConfirm={() => void confirmed()}
          onCancel={() => setAsked(null)}
        >
          <p>
            <code class="whole">{url}</code>
          </p>
          <p>
            {asked === "remove"
              ? say("Its deliveries are removed as well, also those that wait.")
              : say(
                  "The present secret signs as well for 24 hours. Change your server in this time.",
                )}
          </p>
        </Confirm>
      )}
    </div>
  );
}

function Edit({ webhook, close }: { webhook: ShownWebhook; close: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class="dialog" aria-labelledby="edit-title" onClose={close}>
      <h2 id="edit-title">{say("Edit webhook {id}", { id: String(webhook.id) })}</h2>
      <WebhookForm webhook={webhook} done={close} cancel={close} />
    </dialog>
  );
}

const Secret = ({ text, close }: { text: string; close: () => void }) => (
  <div class="note" role="status">
    <p>{say("The secret of the webhook. It is shown this once: copy it now.")}</p>
    <p>
      <code class="whole">{text}</code> <CopyButton text={text} />
    </p>
    <button type="button" onClick={close}>
      {say("Done")}
    </button>
  </div>
);
