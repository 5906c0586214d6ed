import { Button } from "#web/kit/button.tsx";
import type { ConsoleWebhook } from "#src/contract/console.ts";
import { mayChange, useLoaded } from "#web/console/api.ts";
import { useDoing } from "#web/console/doing.ts";
import { Fault } from "#web/kit/fault.tsx";
import { Loaded } from "#web/kit/resource.tsx";
import { Table } from "#web/kit/table.tsx";
import { Moment } from "#web/kit/time.tsx";
import { say, sayWith } from "#web/console/words.ts";

/** Why a webhook is off. */
export const offReasons = {
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
    const words = enabled ? say("Webhook {id} is off", { id }) : say("Webhook {id} is on", { id });
    const path = `/webhooks/${id}/${enabled ? "disable" : "enable"}`;
    if ((await doing.run(words, "POST", path)) !== null) await loading.load();
  };
  return (
    <div class="card">
      <h2>{say("Webhooks")}</h2>
      <Fault words={doing.fault} />
      <Loaded of={loading}>
        {({ webhooks }) => (
          <Table
            caption={say("Webhooks")}
            rows={webhooks}
            id={({ id }) => id}
            empty={say("No webhooks.")}
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
              { name: say("Events"), cell: ({ events }) => events.join(", ") },
              { name: say("State"), cell: stateOf },
              { name: say("Waiting"), of: "waiting", numeric: true },
              {
                name: say("Actions"),
                cell: (webhook) =>
                  mayChange() && (
                    <Button
                      of={say("webhook {id}", { id: webhook.id })}
                      disabled={doing.busy}
                      onClick={() => turn(webhook)}
                    >
                      {webhook.enabled ? say("Switch off") : say("Switch on")}
                    </Button>
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
        <span class="tag bad">{say("off")}</span> {say(offReasons[reason])}, <Moment at={off} />
      </>
    );
  if (since === null) return <span class="tag good">{say("on")}</span>;
  return (
    <>
      <span class="tag warn">{say("failing")}</span>{" "}
      {sayWith("since {day}", { day: <Moment at={since} /> })}
    </>
  );
}
