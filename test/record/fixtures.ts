import type { RawExchange } from "#test/record/recording.ts";

interface Said {
  file?: string;
  title?: string;
  /** Lines of the head after the first; `request` is that first line. */
  request: string;
  sent?: readonly string[];
  status?: string;
  headers?: readonly string[];
  body?: string;
  poll?: RawExchange["poll"];
  startedAt?: number;
  endedAt?: number;
}

let moment = 0;

/** An exchange as the recorder writes it, after the ones made before unless it says otherwise. */
export function exchange({
  file = "test/a.test.ts",
  title = "a test",
  request,
  sent = [],
  status = "200 OK",
  headers = [],
  body = "{}",
  poll = null,
  ...moments
}: Said): RawExchange {
  moment += 2;
  const text = [`HTTP/1.1 ${status}`, ...headers, `Content-Length: ${Buffer.byteLength(body)}`];
  return {
    file,
    title,
    poll,
    startedAt: moment,
    endedAt: moment + 1,
    sent: base64([request, ...sent, "", ""].join("\r\n")),
    more: false,
    heard: base64([...text, "", body].join("\r\n")),
    closed: false,
    ...moments,
  };
}

const base64 = (text: string): string => Buffer.from(text).toString("base64");
