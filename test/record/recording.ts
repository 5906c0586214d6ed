import { hash } from "node:crypto";
import { isUtf8 } from "node:buffer";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Poll } from "#test/harness/polls.ts";
import { headerOf, methodsIn, readAnswers, unpack, type WireAnswer } from "#test/record/answers.ts";
import { groups } from "#test/record/groups.ts";
import { createMasker, createSeen, type Masker, maskText, type Seen } from "#test/record/mask.ts";
import { hideYoungDelta } from "#test/record/young-delta.ts";

/** What the recorder writes, a line each: an exchange of a test, its bytes in base64. */
export interface RawExchange {
  file: string;
  title: string;
  /** Set while a test asked until something had happened. */
  poll: Poll | null;
  startedAt: number;
  endedAt: number;
  sent: string;
  more: boolean;
  heard: string;
  closed: boolean;
}

/** Names in lower case, in alphabetical order; the values of a repeated header in theirs. */
export type HeaderLists = Record<string, string[]>;

export interface RecordedAnswer {
  status: string;
  headers: HeaderLists;
  /** Unpacked and masked; null when the caller did not read it whole. */
  body: string | null;
}

/** One request and its answers, masked: several where several were asked for in one go, none when none came. */
export interface Recorded {
  file: string;
  title: string;
  request: { line: string; headers: HeaderLists; body: string };
  answers: RecordedAnswer[];
}

/**
 * What is kept of raw exchanges. Of a test that asked until something had happened only the last round: how many there
 * were, and what they were answered, is a matter of time. Requests that were under way at the same time have no order of their own: they are put
 * into that of their texts.
 */
export function keep(raws: readonly RawExchange[]): Recorded[] {
  const files = new Map<string, Seen>();
  const inOrder = lastRounds(raws).sort((a, b) => a.startedAt - b.startedAt);
  const tests = groups(inOrder, ({ file, title }) => JSON.stringify([file, title]));
  return [...tests.values()].flatMap((exchanges) => {
    const { file } = exchanges[0] as RawExchange;
    const seen = files.get(file) ?? createSeen();
    files.set(file, seen);
    return waves(exchanges).flatMap((wave) => {
      const ordered = wave.length === 1 ? wave : inOrderOfText(wave, seen);
      const before = new Map(seen.left);
      return ordered.map((raw) => {
        const one = recorded(raw, seen);
        countLeft(one, callerOf(raw), before, seen);
        return one;
      });
    });
  });
}

function recorded({ file, title, sent, heard, more, closed }: RawExchange, seen: Seen): Recorded {
  const bytes = Buffer.from(sent, "base64");
  const { first, lines, body } = splitRequest(bytes);
  const line = maskText(first);
  const masker = createMasker(line, seen);
  const request = {
    line,
    headers: requestHeaders(lines, body.length, masker),
    body: maskText(plainText(body)),
  };
  const answers = readAnswers(Buffer.from(heard, "base64"), methodsIn(bytes), closed);
  return {
    file,
    title,
    request: more ? { ...request, body: `${request.body}…` } : request,
    answers: answers.map((answer) =>
      hideYoungDelta(first, valueOf(answer, "date"), answerOf(answer, masker)),
    ),
  };
}

/** What every `fetch` sends, and tells nothing. */
const usual = new Set([
  ...["accept: */*", "accept-language: *", "sec-fetch-mode: cors", "user-agent: node"],
  ...["accept-encoding: gzip, deflate", "connection: keep-alive", "host: 127.0.0.1:<port>"],
]);

function splitRequest(bytes: Buffer): { first: string; lines: string[]; body: Buffer } {
  const headEnd = bytes.indexOf("\r\n\r\n");
  const head = headEnd < 0 ? bytes : bytes.subarray(0, headEnd);
  const [first = "", ...lines] = plainText(head).split("\r\n");
  const body = headEnd < 0 ? Buffer.alloc(0) : bytes.subarray(headEnd + 4);
  return { first, lines, body };
}

/** A length that is right goes without saying. */
const requestHeaders = (
  lines: readonly string[],
  bodyLength: number,
  masker: Masker,
): HeaderLists =>
  headerLists(
    lines
      .map(headerOf)
      .map(([name, value]): [string, string] => [name, masker.header(name, value)])
      .filter(
        ([name, value]) =>
          !usual.has(`${name}: ${value}`) &&
          `${name}: ${value}` !== `content-length: ${bodyLength}`,
      ),
  );

function answerOf(answer: WireAnswer, masker: Masker): RecordedAnswer {
  const id = valueOf(answer, idHeader) ?? "";
  // A body that names the request by another id than its header is to be seen.
  const withId = (plain: string): string =>
    id.length < 36 ? plain : plain.replaceAll(id, "<request id>");
  const unpacked = unpack(answer.body, valueOf(answer, "content-encoding"));
  const headers = answer.headers.map(([name, plain]): [string, string] => [
    name,
    name === "content-length"
      ? lengthOf(Number(plain), answer)
      : masker.header(name, name === idHeader ? withId(plain) : plain),
  ]);
  const text = (bytes: Buffer | null): string =>
    bytes === null || !isUtf8(bytes)
      ? digestOf(answer.body)
      : masker.body(withId(bytes.toString()));
  return {
    status: `${answer.status} ${answer.reason}`,
    headers: headerLists(headers),
    body: answer.whole ? text(unpacked) : null,
  };
}

const valueOf = ({ headers }: WireAnswer, wanted: string): string | undefined =>
  headers.find(([name]) => name === wanted)?.[1];

const idHeader = "x-request-id";

/** A length changes with what is masked: what counts is that it is there and right. */
const lengthOf = (length: number, { body, whole }: WireAnswer): string =>
  length === 0 || (whole && body.length > 0 && body.length !== length) ? `${length}` : "<length>";

const digestOf = (bytes: Buffer): string =>
  `<${bytes.length} bytes, sha256 ${hash("sha256", bytes, "hex")}>`;

/** Bytes that are no UTF-8 are shown one by one. */
const plainText = (bytes: Buffer): string =>
  isUtf8(bytes) ? bytes.toString() : bytes.toString("latin1");

function headerLists(headers: readonly [string, string][]): HeaderLists {
  const lists: HeaderLists = {};
  for (const [name, value] of [...headers].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
    (lists[name] ??= []).push(value);
  return lists;
}

function lastRounds(raws: readonly RawExchange[]): RawExchange[] {
  const pollOf = ({ file, poll }: RawExchange): string => JSON.stringify([file, poll?.id]);
  const rounds = new Map<string, number>();
  for (const raw of raws)
    rounds.set(pollOf(raw), Math.max(rounds.get(pollOf(raw)) ?? 0, raw.poll?.round ?? 0));
  return raws.filter((raw) => (raw.poll?.round ?? 0) === rounds.get(pollOf(raw)));
}

/** Exchanges cut where nothing was under way. */
function waves(exchanges: readonly RawExchange[]): RawExchange[][] {
  const found: RawExchange[][] = [];
  let until = -1;
  for (const exchange of exchanges) {
    if (exchange.startedAt > until) found.push([]);
    found.at(-1)?.push(exchange);
    until = Math.max(until, exchange.endedAt);
  }
  return found;
}

function inOrderOfText(wave: readonly RawExchange[], seen: Seen): RawExchange[] {
  return wave
    .map((raw) => ({
      raw,
      text: JSON.stringify(recorded(raw, { ...seen, names: new Map(seen.names) })),
    }))
    .sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0))
    .map(({ raw }) => raw);
}

const leftHeader = "x-ratelimit-daily-remaining";
/** No test sends as many within a minute. */
const manyPerMinute = 1000;

/**
 * Says of each answer whether its request was counted: how many are left today goes down, or stays as it was at the
 * caller's answer `before` those that were under way together. The number itself depends on how often a test before had
 * to ask; and a refused caller's on the minute, whose few requests may be used up.
 */
function countLeft(
  { answers }: Recorded,
  caller: string,
  before: ReadonlyMap<string, number>,
  { left }: Seen,
): void {
  for (const { status, headers } of answers) {
    const value = headers[leftHeader]?.[0];
    if (value === undefined || !/^\d+$/.test(value)) continue;
    const now = Number(value);
    left.set(caller, Math.min(left.get(caller) ?? now, now));
    const then = before.get(caller);
    const isSure = status < "4" || Number(headers["x-ratelimit-limit"]?.[0]) >= manyPerMinute;
    headers[leftHeader] = [
      then === undefined || !isSure ? "<n>" : now < then ? "<fewer>" : "<as many>",
    ];
  }
}

/** Whose requests are counted together, as far as a request shows it. */
const callerOf = ({ sent }: RawExchange): string =>
  (
    Buffer.from(sent, "base64")
      .toString("latin1")
      .match(/^(authorization|x-forwarded-for|origin):.*/gim) ?? []
  )
    .sort()
    .join();

/** What the recorder's processes have written into a folder. */
export const readRaw = (folder: string): RawExchange[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith(".jsonl"))
    .flatMap((name) => linesOf<RawExchange>(join(folder, name)));

const longChars = 4000;
const bodiesFolder = "bodies";
const answersFolder = "answers";
type Stored = string | null | { chars: number; sha256: string; begins: string };

/** Writes `answers/TEST-FILE.jsonl` for each test file; long bodies once each, into `bodies/`. */
export function writeRecording(folder: string, recording: readonly Recorded[]): void {
  mkdirSync(join(folder, bodiesFolder), { recursive: true });
  const store = (body: string | null): Stored => {
    if (body === null || body.length <= longChars) return body;
    const sha256 = hash("sha256", body, "hex");
    writeFileSync(join(folder, bodiesFolder, sha256), body);
    return { chars: body.length, sha256, begins: body.slice(0, longChars) };
  };
  for (const [file, all] of groups(recording, ({ file }) => file)) {
    const path = join(folder, answersFolder, `${file}.jsonl`);
    mkdirSync(dirname(path), { recursive: true });
    const lines = all.map(({ title, request, answers }) =>
      JSON.stringify({
        title,
        request: { ...request, body: store(request.body) },
        answers: answers.map((answer) => ({ ...answer, body: store(answer.body) })),
      }),
    );
    writeFileSync(path, `${lines.join("\n")}\n`);
  }
}

/** Reads what `writeRecording` has written. Throws ENOENT when there is none. */
export function readRecording(folder: string): Recorded[] {
  const bodies = new Map<string, string>();
  const fetched = (body: Stored): string | null => {
    if (body === null || typeof body === "string") return body;
    const text =
      bodies.get(body.sha256) ?? readFileSync(join(folder, bodiesFolder, body.sha256), "utf8");
    bodies.set(body.sha256, text);
    return text;
  };
  const root = join(folder, answersFolder);
  const names = readdirSync(root, { recursive: true, encoding: "utf8" });
  return names
    .filter((name) => name.endsWith(".jsonl"))
    .flatMap((name) => {
      const file = name.replaceAll("\\", "/").slice(0, -".jsonl".length);
      return linesOf<Recorded>(join(root, name)).map(({ title, request, answers }) => ({
        file,
        title,
        request: { ...request, body: fetched(request.body) ?? "" },
        answers: answers.map((answer) => ({ ...answer, body: fetched(answer.body) })),
      }));
    });
}

const linesOf = <T>(path: string): T[] =>
  readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as T);
