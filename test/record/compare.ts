import { groups } from "#test/record/groups.ts";
import type { HeaderLists, Recorded, RecordedAnswer } from "#test/record/recording.ts";

export interface Change {
  /** `status`, `header etag`, `body.stations[0].fuel.status`, … */
  at: string;
  /** Undefined where there is nothing. */
  was: string | undefined;
  is: string | undefined;
}

export interface Difference {
  kind: "changed" | "missing" | "new";
  file: string;
  title: string;
  /** The first line of the request. */
  request: string;
  /** Which of the equal requests of its test, from 1. */
  nth: number;
  changes: Change[];
}

export interface Comparison {
  equal: number;
  /** Requests that were made another number of times, with the same answer in the end. */
  polled: number;
  differences: Difference[];
}

/**
 * Finds what is answered otherwise in `after` than in `before`. Requests are told apart by the test's title and the
 * whole masked request; equal ones by their order. The order of different requests is the test's own affair, and its
 * file may have moved.
 *
 * A test that asks until something has happened asks as often as time will have it: where one and the same request was
 * made another number of times, only the last answers are compared. Those made as often are compared one by one.
 */
export function compareRecordings(
  before: readonly Recorded[],
  after: readonly Recorded[],
): Comparison {
  const testOf = ({ title }: Recorded): string => title;
  const was = groups(before, testOf);
  const is = groups(after, testOf);
  let equal = 0;
  let polled = 0;
  const differences: Difference[] = [];
  for (const test of new Set([...was.keys(), ...is.keys()])) {
    const { pairs, missing, added } = pairUp(was.get(test) ?? [], is.get(test) ?? []);
    for (const [one, other, isPolled] of pairs) {
      const changes = changesOf(one.recorded, other.recorded);
      if (changes.length === 0 && isPolled) polled += 1;
      else if (changes.length === 0) equal += 1;
      else differences.push(difference("changed", one, changes));
    }
    for (const one of missing) differences.push(difference("missing", one, []));
    for (const one of added) differences.push(difference("new", one, []));
  }
  return { equal, polled, differences };
}

interface Nth {
  recorded: Recorded;
  nth: number;
}

const difference = (
  kind: Difference["kind"],
  { recorded: { file, title, request }, nth }: Nth,
  changes: Change[],
): Difference => ({ kind, file, title, request: request.line, nth, changes });

type Pair = [was: Nth, is: Nth, isPolled: boolean];

interface Pairs {
  pairs: Pair[];
  missing: Nth[];
  added: Nth[];
}

/** Pairs equal requests first, and then what is left by the request's first line. */
function pairUp(was: readonly Recorded[], is: readonly Recorded[]): Pairs {
  const whole = pairBy(({ request }) => JSON.stringify(request), counted(was), counted(is), true);
  const line = pairBy(({ request }) => request.line, whole.missing, whole.added, false);
  return { ...line, pairs: [...whole.pairs, ...line.pairs] };
}

function pairBy(
  nameOf: (recorded: Recorded) => string,
  was: readonly Nth[],
  is: readonly Nth[],
  arePolls: boolean,
): Pairs {
  const found: Pairs = { pairs: [], missing: [], added: [] };
  const before = groups(was, ({ recorded }) => nameOf(recorded));
  const after = groups(is, ({ recorded }) => nameOf(recorded));
  for (const name of new Set([...before.keys(), ...after.keys()])) {
    const ones = before.get(name) ?? [];
    const others = after.get(name) ?? [];
    const [last, lastOther] = [ones.at(-1), others.at(-1)];
    if (arePolls && last && lastOther && ones.length !== others.length) {
      found.pairs.push([last, lastOther, true]);
      continue;
    }
    const pairs = Math.min(ones.length, others.length);
    for (let n = 0; n < pairs; n += 1) found.pairs.push([ones[n]!, others[n]!, false]);
    found.missing.push(...ones.slice(pairs));
    found.added.push(...others.slice(pairs));
  }
  return found;
}

function counted(recording: readonly Recorded[]): Nth[] {
  const counts = new Map<string, number>();
  return recording.map((recorded) => {
    const { line } = recorded.request;
    const nth = (counts.get(line) ?? 0) + 1;
    counts.set(line, nth);
    return { recorded, nth };
  });
}

function changesOf(was: Recorded, is: Recorded): Change[] {
  const changes = fieldChanges(requestFields(was), requestFields(is));
  if (was.answers.length !== is.answers.length)
    changes.push({ at: "answers", was: statuses(was), is: statuses(is) });
  for (const [n, answer] of was.answers.entries()) {
    const other = is.answers[n];
    if (other === undefined) continue;
    const of = was.answers.length > 1 ? `answer ${n + 1}, ` : "";
    for (const change of answerChanges(answer, other))
      changes.push({ ...change, at: `${of}${change.at}` });
  }
  return changes;
}

const statuses = ({ answers }: Recorded): string =>
  answers.map(({ status }) => status).join(", ") || "none";

function answerChanges(was: RecordedAnswer, is: RecordedAnswer): Change[] {
  const changes = fieldChanges(
    new Map([["status", was.status], ...headerFields("header", was.headers)]),
    new Map([["status", is.status], ...headerFields("header", is.headers)]),
  );
  // How much of a body a test has read that did not want it is a matter of time.
  if (was.body === null || is.body === null || was.body === is.body) return changes;
  const inBody = fieldChanges(bodyFields(was.body), bodyFields(is.body));
  return [...changes, ...(inBody.length > 0 ? inBody : [placeOf(was.body, is.body)])];
}

function requestFields({ request }: Recorded): Map<string, string> {
  return new Map([
    ...headerFields("request header", request.headers),
    ["request body", request.body],
  ]);
}

const headerFields = (what: string, headers: HeaderLists): [string, string][] =>
  Object.entries(headers).map(([name, values]) => [`${what} ${name}`, values.join(" | ")]);

/** The fields of a JSON body by their paths; the lines of any other. */
function bodyFields(body: string): Map<string, string> {
  const fields = new Map<string, string>();
  const add = (at: string, value: unknown): void => {
    if (typeof value !== "object" || value === null || Object.keys(value).length === 0) {
      fields.set(at, JSON.stringify(value));
      return;
    }
    for (const [name, part] of Object.entries(value))
      add(Array.isArray(value) ? `${at}[${name}]` : `${at}.${name}`, part);
  };
  try {
    add("body", JSON.parse(body));
  } catch {
    for (const [n, line] of body.split("\n").entries()) fields.set(`body, line ${n + 1}`, line);
  }
  return fields;
}

/** Where two texts part that say the same in another way: other spaces, another order. */
function placeOf(was: string, is: string): Change {
  let at = 0;
  while (was[at] === is[at]) at += 1;
  const around = (text: string): string => text.slice(Math.max(0, at - 40), at + 40);
  return { at: `body, character ${at + 1}`, was: around(was), is: around(is) };
}

const fieldChanges = (was: Map<string, string>, is: Map<string, string>): Change[] =>
  [...new Set([...was.keys(), ...is.keys()])]
    .filter((at) => was.get(at) !== is.get(at))
    .map((at) => ({ at, was: was.get(at), is: is.get(at) }));
