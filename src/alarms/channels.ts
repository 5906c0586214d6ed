import { emailChannel } from "#src/alarms/email.ts";
import type { Message } from "#src/alarms/message.ts";
import { webhookChannel } from "#src/alarms/webhook.ts";
import type { Clock } from "#src/infrastructure/clock.ts";
import type { Config } from "#src/infrastructure/config.ts";

export type ChannelName = "email" | "webhook";

/** A way to tell the operator. */
export interface Channel {
  name: ChannelName;
  /** Shortest time between two messages, ms. */
  gapMs: number;
  /** Sends a message. Resolves with its receiver's answer; rejects when the receiver did not take it. */
  send(message: Message): Promise<string>;
}

/** The channels in the settings; none by default. */
export const channelsOf = (config: Config, clock: Clock): Channel[] => [
  ...(config.alarmEmailTo.length > 0 ? [emailChannel(config)] : []),
  ...(config.alarmWebhookUrl !== "" ? [webhookChannel(config, clock)] : []),
];

/** The reason why a message was not sent, for an operator who reads the log. */
export function faultOf(error: unknown): string {
  const { message, cause } = error as Error;
  // The error of `fetch` has no details, but its cause has.
  const words = cause instanceof Error ? cause.message || (cause as { code?: string }).code : "";
  return (words || message).slice(0, 300);
}
