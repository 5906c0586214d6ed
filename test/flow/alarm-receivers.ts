import { once } from "node:events";
import { SMTPServer } from "smtp-server";
import { somePort } from "#demo/servers/port.ts";
import { startReceiver } from "#test/flow/webhook-receivers.ts";
import { hold } from "#test/harness/leaks.ts";

export interface Mail {
  from: string;
  to: string[];
  subject: string;
  messageId: string;
  text: string;
}

/** A real mail server that keeps what it gets; it can go away and come back on its port. */
export async function startMailbox() {
  const mails: Mail[] = [];
  const port = await somePort();
  let server: SMTPServer;
  const up = async (): Promise<void> => {
    server = new SMTPServer({
      // Its own certificate is one that nobody trusts.
      disabledCommands: ["STARTTLS"],
      allowInsecureAuth: true,
      onAuth: ({ username, password }, _, answer) =>
        username === "fuel" && password === "hunter2"
          ? answer(null, { user: username })
          : answer(new Error("wrong password")),
      onRcptTo: ({ address }, _, answer) =>
        address.startsWith("gone@") ? answer(new Error("no such mailbox")) : answer(),
      onData: (stream, { envelope }, answer) => {
        const pieces: Buffer[] = [];
        stream.on("data", (piece: Buffer) => pieces.push(piece));
        stream.on("end", () => {
          const { mailFrom, rcptTo } = envelope;
          mails.push({
            ...read(Buffer.concat(pieces).toString("latin1")),
            from: mailFrom === false ? "" : mailFrom.address,
            to: rcptTo.map(({ address }) => address),
          });
          answer();
        });
      },
    });
    // A client that is killed in the middle.
    server.on("error", () => undefined);
    await once(server.listen(port, "127.0.0.1"), "listening");
  };
  const down = (): Promise<void> => new Promise((resolve) => server.close(resolve));
  await up();
  const letGo = hold("a mail server", down);
  return {
    mails,
    url: `smtp://fuel:hunter2@127.0.0.1:${port}`,
    up,
    down,
    close: async (): Promise<void> => {
      letGo();
      await down();
    },
  };
}

/** A real receiver of webhooks, at an address with a secret in it. */
export async function startHook() {
  const receiver = await startReceiver();
  return Object.assign(receiver, { url: receiver.url.replace(/hook$/, "hooks/1?token=s3cret") });
}

/** A message of one part in UTF-8, as mail servers carry it. */
function read(raw: string): Pick<Mail, "subject" | "messageId" | "text"> {
  const end = raw.indexOf("\r\n\r\n");
  const head = raw.slice(0, end).replace(/\r\n[ \t]+/g, " ");
  const header = (name: string): string =>
    new RegExp(`^${name}: (.*)$`, "im").exec(head)?.[1]?.trim() ?? "";
  const body = raw.slice(end + 4);
  const bytes =
    header("Content-Transfer-Encoding") === "base64"
      ? Buffer.from(body, "base64")
      : Buffer.from(unquoted(body.replace(/=\r\n/g, "")), "latin1");
  const subject = header("Subject")
    .replace(/\?= =\?/g, "?==?")
    .replace(/=\?UTF-8\?([BQ])\?([^?]*)\?=/gi, (_, how: string, text: string) =>
      how.toUpperCase() === "B"
        ? Buffer.from(text, "base64").toString("latin1")
        : unquoted(text.replaceAll("_", " ")),
    );
  return {
    subject: Buffer.from(subject, "latin1").toString("utf8"),
    messageId: header("Message-ID"),
    text: bytes.toString("utf8").replaceAll("\r\n", "\n"),
  };
}

const unquoted = (text: string): string =>
  text.replace(/=([0-9A-F]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
