/** Puts placeholders where two recordings of the same service differ by right. */
export interface Masker {
  /** A header of a request or an answer, its name in lower case. */
  header(name: string, value: string): string;
  /** An answer's body. */
  body(text: string): string;
}

/** What a test file's answers have shown so far. */
export interface Seen {
  /** ETags, cookies and ids of reports, by what they are to be called from now on. */
  names: Map<string, string>;
  /** By caller: how many requests were left today. */
  left: Map<string, number>;
}

export const createSeen = (): Seen => ({ names: new Map(), left: new Map() });

/**
 * A masker for one request and its answers. Masked text is left as it is.
 *
 * Masked: keys, passwords, UUIDs (request ids), moments and days (their form stays: `0000-00-00 00:00:00`), ports of this
 * machine, cursors (but for the station they stand at), ETags, cookies, the counters of the minute, seconds to wait,
 * ages, samples of /metrics, figures that are counted a moment after the answer.
 *
 * What must stay visible is whether two values are the same: an ETag that is new in its file is `<new etag>`, one that
 * was there before is called by the request that it came with. So are cookies and reports.
 *
 * @param line the request's first line, masked
 */
export function createMasker(line: string, seen: Seen = createSeen()): Masker {
  const named = (kind: string, value: string): string => {
    const name = seen.names.get(value) ?? `<new ${kind}>`;
    if (!seen.names.has(value)) seen.names.set(value, `<${kind} of ${line}>`);
    return name;
  };
  const recognised = (value: string): string => seen.names.get(value) ?? value;
  const headers: Record<string, (value: string) => string> = {
    etag: (value) => value.replace(/"([^"<]{8,})"/, (_, tag: string) => `"${named("etag", tag)}"`),
    "if-none-match": (value) =>
      value.replace(/"([^"]+)"/g, (_, tag: string) => `"${recognised(tag)}"`),
    "set-cookie": (value) =>
      value.replace(
        /^([^=]+)=([^;<]{16,})/,
        (_, name: string, cookie: string) => `${name}=${named("cookie", cookie)}`,
      ),
    cookie: (value) => value.replace(/=([^;]+)/g, (_, cookie: string) => `=${recognised(cookie)}`),
    "x-ratelimit-reset": (value) => value.replace(/^\d+$/, "<s>"),
    // It depends on when the minute began. None left is seen by the status.
    "x-ratelimit-remaining": (value) => value.replace(/^\d+$/, "<n>"),
    "retry-after": (value) => value.replace(/^\d+$/, "<s>"),
  };
  return {
    header: (name, value) => maskText(headers[name]?.(value) ?? value),
    body: (text) =>
      maskText(
        text.replace(
          /"report_id":"(\d{10,})"/g,
          (_, id: string) => `"report_id":"${named("report", id)}"`,
        ),
      ),
  };
}

/** Masks what can be told by its form. */
export const maskText = (plain: string): string =>
  isExposition(plain) ? maskExposition(plain) : patterns.reduce((text, mask) => mask(text), plain);

const zeros = (text: string): string =>
  text.replace(/\.\d+/, ".000").replace(/%\w\w|\d/g, (part) => (part.length > 1 ? part : "0"));

/** Those of JSON numbers are JSON strings: masked JSON is JSON. */
const patterns: ((text: string) => string)[] = [
  // A whole key, or one with its end spoilt; a shorter one is a fixed text of a test.
  (text) => text.replace(/(svc|pk|op)_live_[0-9a-z]{40,49}/gi, "$1_live_<random>"),
  (text) => text.replace(/(svc|pk|op)_live_[0-9a-z]{4}(?![0-9a-z])/gi, "$1_live_<start>"),
  // One that the command line has made.
  (text) => text.replace(/"password":"[0-9A-Za-z]{20}"/g, '"password":"<random>"'),
  (text) => text.replace(/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, "<uuid>"),
  (text) => text.replace(/\b[MTWFS]\w\w, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT/g, "<HTTP date>"),
  (text) =>
    text.replace(
      /\b20\d\d-\d\d-\d\d(?:(?:[T +]|%20)\d\d(?::|%3A)\d\d(?:(?::|%3A)\d\d(?:\.\d+)?)?)?/gi,
      zeros,
    ),
  (text) => text.replace(/(127\.0\.0\.1|localhost|\[::1\])(:|%3A)\d+/g, "$1$2<port>"),
  (text) => text.replace(/\bM[\w-]{22,}/g, cursorAt),
  // Ids of reports begin with the day.
  (text) => text.replace(/\/reports\/\d{10,}/g, "/reports/<report>"),
  (text) => text.replace(/ in \d+ s\b/g, " in <s> s"),
  // Milliseconds since 1970, and ages.
  (text) => text.replace(/":[12]\d{12}(?=[,}\]])/g, '":"<ms>"'),
  (text) => text.replace(/"age_ms":\d+/g, '"age_ms":"<ms>"'),
  // How far an import has come.
  (text) => text.replace(/"step":"\w*","done":\d+/g, '"step":"<step>","done":"<n>"'),
  // What the queues' page tells of Redis.
  (text) =>
    text.includes('"fragmentationRatio"')
      ? text.replace(/":(?:[\d.]+|"[^"]*")(?=[,}])/g, '":"<figure>"')
      : text,
  (text) => text.replace(/("minute":\{[^{}]*"remaining":)\d+/g, '$1"<n>"'),
  // Errors of today are counted when the answer has gone.
  (text) => text.replace(/"errors":[1-9]\d*/g, '"errors":"<n>"'),
];

/** A cursor of /stations/all holds the moment of the first page, the station it stands at, and a digest. */
function cursorAt(token: string): string {
  const [, station] =
    /^[12]\d{9}\.(.+)\.[\w-]{11}$/.exec(Buffer.from(token, "base64url").toString()) ?? [];
  return station === undefined ? token : `<cursor at ${station}>`;
}

const isExposition = (text: string): boolean => text.startsWith("# HELP ");

/** Which metrics there are, and which labels those of the service have. */
const maskExposition = (text: string): string =>
  [
    ...new Set(
      text
        .split("\n")
        .filter((line) => !/^(process|nodejs)_/.test(line))
        .map((line) => line.replace(/^([^#].*) \S+$/, "$1 <n>")),
    ),
  ].join("\n");
