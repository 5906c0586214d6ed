import type { ConsoleWebhook } from "#src/contract/console.ts";
import { mayChange, useLoaded } from "#web/console/api.ts";
import { useDoing } from "#web/console/doing.ts";
import { Fault } from "#web/kit/fault.tsx";
import { Loaded } from "#web/kit/resource.tsx";
import { Table } from "#web/kit/table.tsx";
import { Moment } from "#web/kit/time.tsx";

const reasons = {
  partner: "by the partner",
  operator: "by an operator",
  failing: "after three days of failures",
  gone: "by its answer 410",
} as const;

/** A partner's webhooks: how they do, off and on. */
export function Webhooks({ partnerId }: { partnerId: number }) {
  const loading = useLoaded<{ webhooks: ConsoleWebhook[] }>(`/partners/${partnerId}/webhooks`);
  const doing = useDoing();
  const turn = async ({ id, enabled }: ConsoleWebhook): Promise<void> => {
    const words = `Webhook ${id} is ${enabled ? "off" : "on"}`;
    const path = `/webhooks/${id}/${enabled ? "disable" : "enable"}`;
    if ((await doing.run(words, "POST", path)) !== null) await loading.load();
  };
  return (
    <div class="card">
      <h2>Webhooks</h2>
      <Fault words={doing.fault} />
      <Loaded of={loading}>
        {({ webhooks }) => (
          <Table
            caption="Webhooks"
            rows={webhooks}
            id={({ id }) => id}
            empty="No webhooks."
            columns={[
              {
                name: "URL",
                by: ({ id }) => id,
                cell: ({ id, url, description }) => (
                  <>
                    <code>{url}</code> <span class="soft">#{id}</span>
                    {description !== "" && <div>{description}</div>}
                  </>
                ),
              },
              { name: "Events", cell: ({ events }) => events.join(", ") },
              { name: "State", cell: stateOf },
              {
                name: "Waiting",
                by: ({ waiting }) => waiting,
                cell: ({ waiting }) => waiting,
                numeric: true,
              },
              {
                name: "Actions",
                cell: (webhook) =>
                  mayChange() && (
                    <button type="button" disabled={doing.busy} onClick={() => void turn(webhook)}>
                      Switch {webhook.enabled ? "off" : "on"}
                      <span class="unseen"> webhook {webhook.id}</span>
                    </button>
                  ),
              },
            ]}
          />
        )}
      </Loaded>
    </div>
  );
}

function stateOf({ off, off_reason: reason, failing_since: since }: ConsoleWebhook) {
  if (off !== null && reason !== null)
    return (
      <>
        <span class="tag bad">off</span> {reasons[reason]}, <Moment at={off} />
      </>
    );
  if (since === null) return <span class="tag good">on</span>;
  return (
    <>
      <span class="tag warn">failing</span> since <Moment at={since} />
    </>
  );
}
