import fc, { type Arbitrary } from "fast-check";
import type { Drawn } from "#test/fuzz/requests.ts";

type Change = (request: Drawn) => Drawn;

/** The same requests with one thing wrong with each: traps of bodies, headers, targets and methods. */
export const spoiltRequests = (good: Arbitrary<Drawn>): Arbitrary<Drawn> =>
  fc.tuple(good, fc.oneof(...spoilers)).map(([request, change]) => change(request));

const named =
  (spoilt: string, change: (request: Drawn) => Partial<Drawn>): Change =>
  (request) => ({ ...request, ...change(request), spoilt });

const header = (request: Drawn, name: string, value: string): Partial<Drawn> => ({
  headers: [
    ...request.headers.filter(([one]) => one.toLowerCase() !== name.toLowerCase()),
    [name, value],
  ],
});

/** A body where there is none would go unread: such requests become marks. */
const withBody = (spoilt: string, bytes: (old: Buffer) => Buffer): Change =>
  named(spoilt, (request) => ({
    ...(request.body === null ? mark : {}),
    body: bytes(request.body ?? markBody),
  }));

const markBody = Buffer.from('{"status":"yes","user_ref":"spoilt"}');
const mark: Partial<Drawn> = {
  method: "POST",
  target: "/api/v1/partner/stations/n1000/report",
  headers: [["Content-Type", "application/json"]],
  key: "secret",
};

const text = (value: string) => (): Buffer => Buffer.from(value);
const big = "x".repeat(1_000_000);

/** Changes one place in the parsed body. */
const inBody = (spoilt: string, value: unknown): Arbitrary<Change> =>
  fc.nat(20).map((place) =>
    withBody(spoilt, (old) => {
      const parsed: unknown = JSON.parse(old.toString());
      const places = placesOf(parsed);
      const at = places[place % Math.max(1, places.length)];
      if (at === undefined) return Buffer.from(JSON.stringify(value));
      at.holder[at.name] = value;
      return Buffer.from(JSON.stringify(parsed));
    }),
  );

interface Place {
  holder: Record<string, unknown>;
  name: string;
}

function placesOf(value: unknown): Place[] {
  if (typeof value !== "object" || value === null) return [];
  const holder = value as Record<string, unknown>;
  return Object.keys(holder).flatMap((name) => [{ holder, name }, ...placesOf(holder[name])]);
}

const bodies: Arbitrary<Change>[] = [
  ...[
    null,
    0,
    -1,
    1e308,
    1.5,
    true,
    "",
    [],
    {},
    [[]],
    "\0",
    "\ud800",
    "\ude00x",
    "ж".repeat(1000),
  ].map((value) => inBody(`body: ${JSON.stringify(value).slice(0, 20)}`, value)),
  inBody("body: a string of 1 MB", big),
  ...[
    withBody("body: empty", text("")),
    withBody("body: blank", text(" \r\n\t")),
    withBody("body: 5,000 arrays deep", text("[".repeat(5000) + "]".repeat(5000))),
    withBody("body: 5,000 objects deep", text('{"a":'.repeat(5000) + "1" + "}".repeat(5000))),
    withBody("body: deep inside", (old) =>
      Buffer.from(`{"x":${"[".repeat(5000)}${"]".repeat(5000)},${old.toString().slice(1)}`),
    ),
    withBody("body: 2 MB", () => Buffer.alloc(2_000_000, 0x20)),
    withBody("body: a byte order mark", (old) => Buffer.concat([Buffer.from("\ufeff"), old])),
    withBody("body: bytes that are no UTF-8", () =>
      Buffer.concat([
        Buffer.from('{"status":"yes","user_ref":"'),
        Buffer.from([0xff, 0xc0, 0x80]),
        Buffer.from('"}'),
      ]),
    ),
    withBody("body: half a character", () =>
      Buffer.concat([
        Buffer.from('{"status":"yes","user_ref":"'),
        Buffer.from([0xd0]),
        Buffer.from('"}'),
      ]),
    ),
    withBody("body: UTF-16", (old) => Buffer.from(old.toString(), "utf16le")),
    withBody("body: NUL escaped", text('{"status":"yes","user_ref":"\\u0000"}')),
    withBody("body: NUL", text('{"status":"yes","user_ref":"\0"}')),
    withBody("body: lone surrogate", text('{"status":"yes","user_ref":"\\ud800"}')),
    withBody(
      "body: the other lone surrogate",
      text('{"status":"yes","user_ref":"a","text":"\\udc00"}'),
    ),
    withBody("body: __proto__", text('{"__proto__":{"status":"yes","user_ref":"a"}}')),
    withBody("body: constructor", text('{"constructor":{"prototype":{"status":"yes"}}}')),
    withBody("body: a scalar", text("1")),
    withBody(
      "body: huge number",
      text(`{"status":"yes","user_ref":"a","lat":1${"0".repeat(400)},"lon":1}`),
    ),
    withBody("body: NaN", text('{"status":"yes","user_ref":"a","lat":NaN,"lon":1}')),
    withBody("body: broken off", (old) => old.subarray(0, Math.max(1, old.length - 2))),
    withBody("body: garbage behind it", (old) => Buffer.concat([old, Buffer.from("}x")])),
    withBody("body: a form", text("status=yes&user_ref=a")),
    withBody("body: many names", () =>
      Buffer.from(`{${Array.from({ length: 3000 }, (_, n) => `"a${n}":${n}`).join(",")}}`),
    ),
  ].map((change) => fc.constant(change)),
];

const headerValues: [name: string, values: string[]][] = [
  [
    "Content-Type",
    [
      "text/plain",
      "application/json; charset=utf-16",
      "application/jsonp",
      "",
      "multipart/form-data; boundary=x",
      "application/problem+json",
    ],
  ],
  ["Content-Encoding", ["br", "gzip", "deflate", "zstd", "identity, br", "x", ""]],
  ["Accept", ["text/html", "*/*;q=", ";;,,", "application/geo+json;q=9", "application/*;q=0"]],
  ["Accept-Encoding", ["br;q=x", "*;q=0", "identity;q=0", ";;", "zstd"]],
  ["If-None-Match", ["*", '"', 'W/"', 'W/"a,b", ,', "\u00ff\u00fe", '"'.repeat(3000)]],
  ["Prefer", ["wait=99999999999", "wait=-1", "respond-async;;;wait", "wait=1, wait=2", "="]],
  ["X-Dry-Run", ["2", "TRUE", " 1", "1, 1", ""]],
  ["X-Forwarded-For", ["256.1.1.1", "::ffff:1.2.3.4, x", "a".repeat(2000)]],
  [
    "Authorization",
    [
      "",
      "Bearer",
      "Bearer x",
      "Basic eDp4",
      "Bearer svc_live_",
      `Bearer ${"a".repeat(4000)}`,
      "\u00ff",
    ],
  ],
  ["Origin", ["null", "https://evil.example", "http://a@b", "\u00ff", "https://"]],
  ["Referer", ["about:blank", "https://evil.example/x", "::::"]],
  ["Range", ["bytes=0-1", "bytes=9999999-"]],
  ["Cookie", ["=;=", "a".repeat(4000)]],
  ["X-Request-Id", ["mine", "\u00ff"]],
  ["Content-Length", ["+1", "-1", "1e3", "99999999999999999999"]],
  ["Transfer-Encoding", ["chunked", "gzip", "chunked, identity"]],
  ["Expect", ["100-continue", "200-ok"]],
  ["Upgrade", ["websocket", "h2c"]],
  ["Connection", ["upgrade", "x, close"]],
];
const headers: Arbitrary<Change>[] = headerValues.map(([name, values]) =>
  fc
    .constantFrom(...values)
    .map((value) =>
      named(`${name}: ${value.slice(0, 30)}`, (request) => header(request, name, value)),
    ),
);

const target = (spoilt: string, change: (target: string) => string): Arbitrary<Change> =>
  fc.constant(named(spoilt, (request) => ({ target: change(request.target) })));
const also = (search: string) => (old: string) => `${old}${old.includes("?") ? "&" : "?"}${search}`;
const targets: Arbitrary<Change>[] = [
  ...[
    "%",
    "%zz",
    "%ff",
    "%c3%28",
    "q=%ff",
    "q=%00",
    "limit=%00",
    "city=%ed%a0%80",
    "__proto__=1",
    "&&&=&",
    "q=%F0%9F",
  ].map((search) => target(`query: ${search}`, also(search))),
  ...[
    "limit=1&limit=1",
    "q=a&q=b",
    "bbox=1,2,3,4&bbox=1,2,3,4",
    "days=1&days=2",
    "city=&city=",
    "updated_since=1&updated_since=2",
  ].map((search) => target(`query twice: ${search}`, also(search))),
  ...[
    "limit=0",
    "limit=1e1",
    "limit= 1",
    "limit=0x1",
    "limit=-0",
    "limit=30001",
    "limit=9999999999999999",
    "days=366",
    "radius_km=0",
    "radius_km=NaN",
    "radius_km=1e1",
    "fresh_h=25",
    "has_price=yes",
    "sort=name",
    "offset=-1",
    "fuel=93",
    "sells=93",
    "opened=maybe",
    "status=maybe",
    "queue=30",
    "cursor=x",
    "bbox=x",
    "bbox=91,0,92,1",
    "updated_since=2026-01-31",
  ].map((search) => target(`query: ${search}`, also(search))),
  target("query: a value of 1 MB cannot be sent, 12 KB can", also(`q=${"x".repeat(12_000)}`)),
  ...["/", "//", "/..", "/.", "%2f", "%00", "%ff", "%", ";a", "%20", "/%2e%2e", "ж"].map((end) =>
    target(`path: …${end}`, (old) => old.replace(/(\?|$)/, `${end}$1`)),
  ),
  target("path: in capitals", (old) => old.toUpperCase()),
  target("path: absolute", (old) => `http://elsewhere.example${old}`),
  target("path: of another version", (old) => old.replace("v1", "v2")),
  target("path: of 10 KB", (old) => old.replace("/stations", `/${"s".repeat(10_000)}`)),
  target("Cyrillic as it is", (old) => `${old.split("?")[0]}?city=Новосибирск`),
];

const methods: Arbitrary<Change>[] = [
  "PUT",
  "DELETE",
  "PATCH",
  "OPTIONS",
  "HEAD",
  "GET",
  "POST",
  "TRACE",
  "PROPFIND",
  "get",
  "SOURCE",
].map((method) => fc.constant(named(`method ${method}`, () => ({ method }))));

const spoilers: Arbitrary<Change>[] = [
  fc.oneof(...bodies),
  fc.oneof(...headers),
  fc.oneof(...targets),
  fc.oneof(...methods),
];
