import type { Drawn } from "#test/fuzz/requests.ts";

/** The bytes of a request. A header of its own wins over the one that would be right. */
export function bytesOf({ method, target, headers, body }: Drawn, authorization: string): Buffer {
  const own = new Set(headers.map(([name]) => name.toLowerCase()));
  const framed = own.has("content-length") || own.has("transfer-encoding");
  const usual: [string, string][] = [
    ["Host", "127.0.0.1"],
    ["Authorization", authorization],
    ["Connection", "close"],
    ...(body === null || framed
      ? []
      : [["Content-Length", String(body.length)] as [string, string]]),
  ];
  const all = [...usual.filter(([name]) => !own.has(name.toLowerCase())), ...headers];
  const lines = all.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  const chunked = headers.some(
    ([name, value]) => name === "Transfer-Encoding" && value === "chunked",
  );
  const head = Buffer.concat([
    // A target in Cyrillic goes out in UTF-8, headers in one byte each.
    Buffer.from(`${method} ${target} HTTP/1.1\r\n`),
    Buffer.from(`${lines}\r\n`, "latin1"),
  ]);
  if (body === null) return head;
  return chunked
    ? Buffer.concat([
        head,
        Buffer.from(`${body.length.toString(16)}\r\n`),
        body,
        Buffer.from("\r\n0\r\n\r\n"),
      ])
    : Buffer.concat([head, body]);
}
