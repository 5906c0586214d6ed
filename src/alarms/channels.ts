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
  /** Sends a message. Resolves with what its receiver answered; rejects when it did not take the message. */
  send(message: Message): Promise<string>;
}

/** The channels that the settings name; none without settings. */
export const channelsOf = (config: Config, clock: Clock): Channel[] => [
  ...(config.alarmEmailTo.length > 0 ? [emailChannel(config)] : []),
  ...(config.alarmWebhookUrl !== "" ? [webhookChannel(config, clock)] : []),
];

/** Why a message was not sent, in words that an operator may read in a log. */
export function faultOf(error: unknown): string {
  const { message, cause } = error as Error;
  // What `fetch` rejects with says nothing; its cause does.
  const words = cause instanceof Error ? cause.message || (cause as { code?: string }).code : "";
  return (words || message).slice(0, 300);
}
