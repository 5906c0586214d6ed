const base = "/api/v1/partner";

/** What no client sends, by name: the bytes, and how the only answer must begin. `{auth}` is a line with a key. */
export const rawRequests: [what: string, bytes: string | Buffer, answer: string][] = [
  ["garbage", "GARBAGE\r\n\r\n", "422 validation-failed"],
  ["a TLS hello", Buffer.from("160301020001000001fc0303", "hex"), "422 validation-failed"],
  ["the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "422 validation-failed"],
  ["HTTP/3.0 on the line", `GET ${base}/cities HTTP/3.0\r\n\r\n`, "422 validation-failed"],
  ["a NUL in the URL", `GET ${base}/cities\0 HTTP/1.1\r\n\r\n`, "422 validation-failed"],
  ["a NUL in a header", `GET ${base}/cities HTTP/1.1\r\nX: a\0b\r\n\r\n`, "422 validation-failed"],
  ["a header without a colon", "GET / HTTP/1.1\r\nno colon\r\n\r\n", "422 validation-failed"],
  ["a header without a name", "GET / HTTP/1.1\r\n: x\r\n\r\n", "422 validation-failed"],
  ["a folded header", `GET ${base}/cities HTTP/1.1\r\nX: a\r\n b\r\n\r\n`, "422 validation-failed"],
  [
    "headers of 64 KB",
    `GET / HTTP/1.1\r\n${`X: ${"x".repeat(1000)}\r\n`.repeat(64)}\r\n`,
    "422 validation-failed",
  ],
  [
    "5,000 headers, of which Node keeps 2,000",
    `GET ${base}/cities HTTP/1.1\r\n{auth}Connection: close\r\n${"X: y\r\n".repeat(5000)}\r\n`,
    "200",
  ],
  ["a URL of 64 KB", `GET /${"x".repeat(65_000)} HTTP/1.1\r\n\r\n`, "422 validation-failed"],
  [
    "a URL of 1 MB",
    `GET ${base}/cities?q=${"x".repeat(1_000_000)} HTTP/1.1\r\n\r\n`,
    "422 validation-failed",
  ],
  [
    "bad UTF-8 in the URL",
    Buffer.from(`GET ${base}/cities?q=\xff\xfe HTTP/1.1\r\n\r\n`, "latin1"),
    "422 validation-failed",
  ],
  [
    "a city in Windows-1251",
    Buffer.from(`GET ${base}/stations?city=\xcc\xee\xf1 HTTP/1.1\r\n\r\n`, "latin1"),
    "401 invalid-key",
  ],
  [
    "a city in Cyrillic",
    `GET ${base}/stations?city=Москва HTTP/1.1\r\n{auth}\r\n`,
    "404 city-not-found",
  ],
  ["no Host", `GET ${base}/cities HTTP/1.1\r\n{auth}Connection: close\r\n\r\n`, "200"],
  [
    "two Hosts",
    `GET ${base}/cities HTTP/1.1\r\nHost: a\r\nHost: b\r\n{auth}Connection: close\r\n\r\n`,
    "422 validation-failed",
  ],
  ["HTTP/1.0", `GET ${base}/cities HTTP/1.0\r\n{auth}\r\n`, "200"],
  ["bare line feeds", `GET ${base}/cities HTTP/1.1\n{auth}\n\n`, "422 validation-failed"],
  ["CONNECT", "CONNECT x:80 HTTP/1.1\r\nHost: x:80\r\n\r\n", "422 validation-failed"],
  ["OPTIONS *", "OPTIONS * HTTP/1.1\r\nConnection: close\r\n\r\n", "404 not-found"],
  [
    "an Expect nobody knows",
    `GET ${base}/cities HTTP/1.1\r\nExpect: cake\r\n\r\n`,
    "422 validation-failed",
  ],
  [
    "two lengths",
    "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
    "422 validation-failed",
  ],
  [
    "length and chunks",
    "POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
    "422 validation-failed",
  ],
  [
    "a chunk of no size",
    `POST ${base}/reports HTTP/1.1\r\n{auth}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`,
    "422 validation-failed",
  ],
  [
    "a chunk of 2^64 bytes",
    `POST ${base}/reports HTTP/1.1\r\n{auth}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n`,
    "422 validation-failed",
  ],
  [
    "chunk extensions of 1 MB",
    `POST ${base}/reports HTTP/1.1\r\n{auth}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1;${"x".repeat(1_000_000)}\r\n`,
    "422 validation-failed",
  ],
  [
    "a body of 2 MB where 1 MB may be",
    `POST ${base}/reports HTTP/1.1\r\n{auth}Connection: close\r\nContent-Type: application/json\r\nContent-Length: 2000000\r\n\r\n${" ".repeat(2_000_000)}`,
    "413 body-too-large",
  ],
  [
    "5,000 levels in 1 MB",
    `POST ${base}/reports HTTP/1.1\r\n{auth}Connection: close\r\nContent-Type: application/json\r\nContent-Length: 10013\r\n\r\n{"reports":[${"[".repeat(5000)}${"]".repeat(4999)}]}`,
    "422 validation-failed",
  ],
];
