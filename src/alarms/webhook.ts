import type { Channel } from "#src/alarms/channels.ts";
import { kindNamed } from "#src/contract/alarm-kinds.ts";
import type { Message } from "#src/alarms/message.ts";
import type { Clock } from "#src/infrastructure/clock.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { presented } from "#src/operators/presented.ts";
import { sign } from "#src/pushes/webhooks/signature.ts";

const patienceMs = 10_000;
const gapMs = 1000;

/** Posts alarms as JSON, with the headers of Standard Webhooks. Any status of 2xx means that they were taken. */
export const webhookChannel = (
  {
    alarmWebhookUrl: url,
    alarmWebhookSecret: secret,
  }: Pick<Config, "alarmWebhookUrl" | "alarmWebhookSecret">,
  clock: Clock,
): Channel => ({
  name: "webhook",
  gapMs,
  send: async (message) => {
    const now = clock();
    const body = JSON.stringify(bodyOf(message, now));
    const timestamp = String(Math.floor(now / 1000));
    const signed =
      secret === "" ? {} : { "webhook-signature": sign(secret, message.id, timestamp, body) };
    const response = await fetch(url, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        "webhook-id": message.id,
        "webhook-timestamp": timestamp,
        ...signed,
      },
      body,
      redirect: "error",
      signal: AbortSignal.timeout(patienceMs),
    });
    await response.body?.cancel();
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    return `HTTP ${response.status}`;
  },
});

const bodyOf = ({ subject, text, alarms }: Message, now: number) => ({
  type: alarms.length === 0 ? "alarms.test" : "alarms.raised",
  timestamp: new Date(now).toISOString(),
  text: `${subject}\n\n${text}`,
  data: {
    alarms: alarms.map(({ id, kind, subject: about, city, count, details, raised_at, last_at }) =>
      presented(
        {
          ...{ id, kind, title: kindNamed(kind).title, subject: about, city, count, details },
          ...{ raised_at, last_at },
        },
        (at) => at.toISOString(),
      ),
    ),
  },
});
