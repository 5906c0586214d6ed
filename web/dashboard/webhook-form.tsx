import { Button } from "#web/kit/button.tsx";
import { useRef, useState } from "preact/hooks";
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

/**
 * Registers a webhook (docs/contract.md 10.1), or changes one that there is. `done` gets the secret of a new one; null
 * otherwise.
 */
export function WebhookForm({
  webhook,
  done,
  cancel,
}: {
  webhook?: ShownWebhook;
  done: (secret: string | null) => void;
  cancel: () => void;
}) {
  const [url, setUrl] = useState(webhook?.url ?? "");
  const [description, setDescription] = useState(webhook?.description ?? "");
  const [events, setEvents] = useState<readonly WebhookEvent[]>(
    webhook?.events ?? ["stations.changed"],
  );
  const [isBusy, setBusy] = useState(false);
  const [fault, setFault] = useState<{ field: "url" | "events" | null; words: string } | null>(
    null,
  );
  const field = useRef<HTMLInputElement>(null);
  const of = (name: "url" | "events" | null) => (fault?.field === name ? fault.words : null);
  const id = `webhook-${webhook?.id ?? "new"}`;
  const refuse = (words: string): void => {
    // The service names the field before its fault.
    const isUrl = words.startsWith("url: ");
    setFault({ field: isUrl ? "url" : null, words: isUrl ? words.slice("url: ".length) : words });
    if (isUrl) field.current?.focus();
  };
  const submit = async (submitted: Event): Promise<void> => {
    submitted.preventDefault();
    if (!URL.canParse(url.trim())) {
      refuse(`url: ${say("A whole address, like https://example.com/fuel.")}`);
      return;
    }
    if (events.length === 0)
      return setFault({ field: "events", words: say("Choose at least one event.") });
    setBusy(true);
    // The address is looked at anew only where it is another one.
    const isSame = url.trim() === webhook?.url;
    const wish = { ...(isSame ? {} : { url: url.trim() }), events, description };
    const [method, path] =
      webhook === undefined
        ? (["POST", "/webhooks"] as const)
        : (["PATCH", `/webhooks/${webhook.id}`] as const);
    const result = await api.send<ShownWebhook & { secret?: string }>(method, path, wish);
    setBusy(false);
    setFault(null);
    if (result.failure !== undefined) return refuse(result.failure.words);
    done(result.value.secret ?? null);
    await webhooks.load();
  };
  return (
    <form class="ask" noValidate onSubmit={(submitted) => void submit(submitted)}>
      <div class="field">
        <label for={`${id}-url`}>URL</label>
        <input
          ref={field}
          id={`${id}-url`}
          type="url"
          maxLength={2000}
          placeholder="https://"
          autoComplete="off"
          value={url}
          aria-invalid={fault?.field === "url"}
          aria-describedby={`${id}-fault`}
          onInput={({ currentTarget }) => setUrl(currentTarget.value)}
        />
        <Fault words={of("url")} id={`${id}-fault`} />
      </div>
      <div class="field">
        <label for={`${id}-description`}>{say("Description (optional)")}</label>
        <input
          id={`${id}-description`}
          type="text"
          maxLength={200}
          value={description}
          onInput={({ currentTarget }) => setDescription(currentTarget.value)}
        />
      </div>
      <fieldset>
        <legend>{say("Events")}</legend>
        {webhookEvents.map((event) => (
          <label key={event} class="check">
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
            />
            <span>
              {say(meanings[event])} <code>{event}</code>
            </span>
          </label>
        ))}
        <Fault words={of("events")} />
      </fieldset>
      <Fault words={of(null)} />
      <div class="tools">
        <button type="submit" class="primary" disabled={isBusy}>
          {isBusy ? say("Checking …") : webhook === undefined ? say("Register") : say("Save")}
        </button>
        <Button words={say("Cancel")} disabled={isBusy} onClick={cancel} />
      </div>
    </form>
  );
}
