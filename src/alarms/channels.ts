import type { Message } from "#src/alarms/message.ts";
import type { Clock } from "#src/infrastructure/clock.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { kindNamed } from "#src/contract/alarm-kinds.ts";
import { presented } from "#src/operators/presented.ts";
import { sign } from "#src/pushes/webhooks/signature.ts";

export type ChannelName = "email" | "webhook";

/** A way to tell the operator. */
export interface Channel {
  name: ChannelName;
  /** Shortest time between two messages, ms. */
  gapMs: number;
  /** Sends a message. Rejects when the receiver did not take it. */
  send(message: Message): Promise<Sent>;
}

interface Sent {
  /** The receiver's. */
  answer: string;
  /** What is wrong although the message was taken: some of several addresses did not get it. */
  fault: string | null;
}

/** The channels in the settings; none by default. */
export const channelsOf = (config: Config, clock: Clock): Channel[] => [
  ...(config.alarmEmailTo.length > 0 ? [emailChannel(config)] : []),
  ...(config.alarmWebhookUrl !== "" ? [webhookChannel(config, clock)] : []),
];

/** Whether a message with this fault was taken all the same, for some of its addresses. */
export const isPartial = (fault: string | null): boolean =>
  /^refused \d+ of the addresses$/.test(fault ?? "");

/** The reason why a message was not sent, for an operator who reads the log. */
export function faultOf(error: unknown): string {
  const { message, cause } = error as Error;
  // The error of `fetch` has no details, but its cause has.
  const words = cause instanceof Error ? cause.message || (cause as { code?: string }).code : "";
  return (words || message).slice(0, 300);
}

/** Longest wait for a webhook, and for each step of a conversation with a mail server. */
const patienceMs = 10_000;

/** Mails alarms through any SMTP server. */
const emailChannel = (
  config: Pick<
    Config,
    "alarmEmailTo" | "alarmEmailFrom" | "alarmSmtpUrl" | "alarmEmailGapMs" | "baseUrl"
  >,
): Channel => ({
  name: "email",
  gapMs: config.alarmEmailGapMs,
  send: async ({ id, subject, text }) => {
    // Loaded only here, because most processes never send.
    const { createTransport } = await import("nodemailer");
    const { hostname } = new URL(config.baseUrl);
    const transport = createTransport({
      url: config.alarmSmtpUrl,
      connectionTimeout: patienceMs,
      greetingTimeout: patienceMs,
      socketTimeout: patienceMs,
      dnsTimeout: patienceMs,
    });
    try {
      const { response, rejected } = await transport.sendMail({
        from: config.alarmEmailFrom || `fuelmark@${hostname}`,
        to: config.alarmEmailTo,
        subject,
        text,
        messageId: `<${id}@${hostname}>`,
        // Prevents automatic answers.
        headers: { "Auto-Submitted": "auto-generated" },
      });
      const refused = `refused ${rejected.length} of the addresses`;
      return { answer: response, fault: rejected.length > 0 ? refused : null };
    } finally {
      transport.close();
    }
  },
});
const gapMs = 1000;

/** Posts alarms as JSON, with the headers of Standard Webhooks. Any status of 2xx means that they were taken. */
const webhookChannel = (
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
    return { answer: `HTTP ${response.status}`, fault: null };
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
