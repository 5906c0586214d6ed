import type { Channel } from "#src/alarms/channels.ts";
import type { Config } from "#src/infrastructure/config.ts";

/** Time-out of each step of a conversation with a mail server. */
const patienceMs = 10_000;

/** Mails alarms through any SMTP server. */
export const emailChannel = (
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
      const refused = rejected.length > 0 ? `, refused ${rejected.length} of the addresses` : "";
      return `${response}${refused}`;
    } finally {
      transport.close();
    }
  },
});
