import { useState } from "preact/hooks";
import type { ShownWebhook } from "#src/contract/dashboard.ts";
import { type WebhookEvent, webhookEvents } from "#src/domain/vocabulary.ts";
import { api, webhooks } from "#web/dashboard/state.ts";
import { Fault } from "#web/kit/fault.tsx";
import { say, type Text } from "#web/dashboard/words.ts";

const meanings: Record<WebhookEvent, Text> = {
  "stations.changed": "Stations have changed",
  "report.processed": "Outcomes of my marks",
  "limit_request.decided": "A limit request is decided, or pending again",
  "key.expiring": "A key ends within seven days",
};

/** Registers a webhook (docs/contract.md 10.1). `made` gets its secret. */
export function WebhookForm({ made }: { made: (secret: string) => void }) {
  const [url, setUrl] = useState("");
  const [description, setDescription] = useState("");
  const [events, setEvents] = useState<readonly WebhookEvent[]>(["stations.changed"]);
  const [isBusy, setBusy] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  const submit = async (submitted: Event): Promise<void> => {
    submitted.preventDefault();
    if (events.length === 0) return setFault(say("Choose at least one event."));
    setBusy(true);
    const wish = { url: url.trim(), events, description };
    const result = await api.send<ShownWebhook & { secret: string }>("POST", "/webhooks", wish);
    setBusy(false);
    setFault(result.failure?.words ?? null);
    if (result.failure !== undefined) return;
    made(result.value.secret);
    await webhooks.load();
  };
  return (
    <form class="ask" onSubmit={(submitted) => void submit(submitted)}>
      <div class="field">
        <label for="webhook-url">URL</label>
        <input
          id="webhook-url"
          type="url"
          required
          maxLength={2000}
          placeholder="https://"
          autoComplete="off"
          value={url}
          onInput={({ currentTarget }) => setUrl(currentTarget.value)}
        />
      </div>
      <div class="field">
        <label for="webhook-description">{say("Description (optional)")}</label>
        <input
          id="webhook-description"
          type="text"
          maxLength={200}
          value={description}
          onInput={({ currentTarget }) => setDescription(currentTarget.value)}
        />
      </div>
      <fieldset>
        <legend>{say("Events")}</legend>
        {webhookEvents.map((event) => (
          <div key={event}>
            <label>
              <input
                type="checkbox"
                checked={events.includes(event)}
                onChange={({ currentTarget }) =>
                  setEvents(
                    currentTarget.checked
                      ? [...events, event]
                      : events.filter((one) => one !== event),
                  )
                }
              />{" "}
              {say(meanings[event])} <code>{event}</code>
            </label>
          </div>
        ))}
      </fieldset>
      <Fault words={fault} />
      <div>
        <button type="submit" class="primary" disabled={isBusy}>
          {isBusy ? say("Checking …") : say("Register")}
        </button>
      </div>
    </form>
  );
}
