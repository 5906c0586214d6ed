import {
  connection,
  secret,
  setting,
  settingsOf,
  shaped,
} from "#src/infrastructure/settings/setting.ts";

const isAddress = (text: string): boolean => /^[^\s@<>,;]+@[^\s@<>,;]+$/.test(text);

const emails = (value: string): string[] => {
  const all = value.split(",").map((address) => address.trim());
  if (!all.every(isAddress)) throw new Error("e-mail addresses separated by commas");
  return all;
};

const sender = (value: string): string => {
  const [, named] = /^[^<>\p{C}]*<([^<>]+)>$/u.exec(value) ?? [];
  if (!isAddress(named ?? value))
    throw new Error("an e-mail address, or a name and an address like Fuelmark <fuel@example.org>");
  return value;
};

const webhook = (value: string): string => {
  const url = /^https?:\/\//.test(value) && URL.canParse(value) ? new URL(value) : null;
  if (url === null || /\s/.test(value) || url.username !== "")
    throw new Error("an address like https://chat.example/hooks/1");
  return value;
};

/** The channels of alarms to the operator. Without an address nothing is sent. */
export const alarmSettings = settingsOf({
  alarmEmailTo: setting([] as string[], emails)`
    addresses that alarms are mailed to, separated by commas; needs ALARM_SMTP_URL`,
  alarmSmtpUrl: secret("", connection(["smtp", "smtps"], "smtps://user:password@mail.example:465"))`
    mail server that takes the e-mails of alarms; smtp:// uses TLS where the server offers it, with ?requireTLS=true always`,
  alarmEmailFrom: setting("", sender)`
    sender of the e-mails; default fuelmark@ and the host of BASE_URL`,
  alarmWebhookUrl: secret("", webhook)`
    address that alarms are sent to by POST, as JSON`,
  alarmWebhookSecret: secret(
    "",
    shaped(
      /^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/,
      "whsec_ and 24 to 64 bytes in base64 (echo whsec_$(openssl rand -base64 32))",
    ),
  )`
    key for the signature of these requests (Standard Webhooks); without it they are not signed`,
});
