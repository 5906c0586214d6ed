import { createHash } from "node:crypto";
import { parseTime } from "#src/domain/time.ts";
import { isKept, type Sent } from "#test/fault/load.ts";

/** One answer to a read, as its reader saw it. */
export interface Read {
  /** Which process answered, and since which start: what it knows ends with it. */
  from: string;
  /** Path and query, without the host. */
  path: string;
  /** The name of the key that was sent. */
  key: string;
  startedAt: number;
  endedAt: number;
  /** 0: no answer, or one that ended before its end. */
  status: number;
  etag: string | null;
  /** What was sent as If-None-Match. */
  sentEtag: string | null;
  /** Text of the body, decoded; null where there is none. */
  body: string | null;
  /** `X-As-Of`, for answers whose body has none. */
  asOf: string | null;
  /** Why the answer, which came to its end, cannot be read; null when it can. */
  broken: string | null;
}

/** A promise that was not kept, with the answers that show it. */
export interface Violation {
  invariant: string;
  evidence: unknown;
}

/** What happened in a test, as its callers saw it, and what of it may not be. */
export interface History {
  note(read: Read): void;
  /** From this moment on the key is revoked: the operator's act has been acknowledged. */
  revoked(key: string, atMs: number): void;
  /** From now on a decision is being taken back, which may bring back what was shown before it. Call what it gives at the end. */
  takesBack(): () => void;
  /** All that was found so far. */
  readonly violations: readonly Violation[];
  /** Answers noted, by status. */
  readonly reads: ReadonlyMap<number, number>;
}

const revocationMs = 60_000;
/** The dump may be as old as this when nothing changes (decisions 7.1), and one process may serve dump and model in turn. */
const dumpAgeMs = 75_000;
/** Clocks of one machine, and one of them as Postgres is asked for it. */
const skewMs = 1000;
/** A process that was cut off may show so much later what was decided. */
const lateMs = 20_000;
const kept = 500;

/** Collects answers, and looks at each of them against those before. */
export function createHistory(): History {
  const violations: Violation[] = [];
  const reads = new Map<number, number>();
  const revocations = new Map<string, number>();
  const contents = new Map<string, { hash: string; read: Read }>();
  const cursors = new Map<string, Ended[]>();
  const shown = new Map<string, Shown>();
  const takenBack: { fromMs: number; toMs: number }[] = [];
  const violate = (invariant: string, ...evidence: unknown[]): void =>
    void violations.push({ invariant, evidence });

  const lookAtKey = (read: Read): void => {
    const at = revocations.get(read.key);
    if (at === undefined || read.startedAt <= at + revocationMs) return;
    violate("a revoked key is refused after a minute", { revokedAt: at }, read);
  };

  const lookAtEtag = (read: Read, content: string): void => {
    if (read.etag === null) return;
    const name = `${read.path} ${read.etag}`;
    const hash = createHash("sha256").update(content).digest("base64");
    const before = contents.get(name);
    if (before === undefined) contents.set(name, { hash, read: shortened(read) });
    else if (before.hash !== hash) violate("an ETag has one content", before.read, read);
  };

  /** An ETag that a process has left for another one is not the right one any more. */
  const lookAtReturn = (read: Read): void => {
    const { etag } = read;
    // A dump from Redis may be older than what the process answered before.
    if (etag === null || read.path.startsWith("/stations/all")) return;
    const name = `${read.from} ${read.key.split(" ")[0]} ${read.path}`;
    const seen = shown.get(name) ?? { current: null, left: new Map<string, Read>() };
    shown.set(name, seen);
    const after = seen.left.get(etag);
    const isEarlier = after !== undefined && after.endedAt < read.startedAt;
    // What a decision was taken back for is served again, with its ETag.
    const mayReturn = takenBack.some(
      ({ fromMs, toMs }) => fromMs <= read.endedAt && toMs >= (after?.endedAt ?? 0) - lateMs,
    );
    if (read.status === 304 && isEarlier && !mayReturn)
      violate("a 304 says that the content is still the same", after, read);
    if (read.status === 200) seen.left.delete(etag);
    // Of two answers at the same time neither is the later one.
    const { current } = seen;
    if (current !== null && read.startedAt <= current.endedAt) return;
    if (current !== null && current.etag !== etag) seen.left.set(current.etag!, read);
    seen.current = read;
  };

  const lookAtCursor = (read: Read, asOfMs: number): void => {
    if (asOfMs > read.endedAt + skewMs) violate("as_of is not in the future", read);
    // A rectangle that all processes share is as old as its entry.
    if (read.path.includes("bbox=")) return;
    const isDump = read.path.startsWith("/stations/all");
    const name = `${read.from} ${isDump ? "dump" : "model"}`;
    const ended = cursors.get(name) ?? [];
    cursors.set(name, ended);
    const before = ended.findLast(({ endedAt }) => endedAt < read.startedAt);
    if (before !== undefined && asOfMs < before.asOfMs - (isDump ? dumpAgeMs : 0))
      violate("as_of of one process does not go back", before.read, read);
    if (before === undefined || asOfMs >= (ended.at(-1)?.asOfMs ?? -Infinity)) {
      ended.push({ endedAt: read.endedAt, asOfMs, read });
      if (ended.length > kept) ended.splice(0, ended.length - kept / 2);
    }
  };

  const lookAtTimes = (read: Read, body: string): void => {
    for (const [, time] of body.matchAll(/"updated":"([^"]+)"/g))
      if ((parseTime(time!) ?? Infinity) > read.endedAt + skewMs)
        return violate("`updated` is not in the future", { updated: time }, read);
  };

  return {
    violations,
    reads,
    revoked: (key, atMs) => void revocations.set(key, atMs),
    takesBack: () => {
      const act = { fromMs: Date.now(), toMs: Infinity };
      takenBack.push(act);
      return () => (act.toMs = Date.now());
    },
    note: (whole) => {
      const read = shortened(whole);
      reads.set(read.status, (reads.get(read.status) ?? 0) + 1);
      if (read.broken !== null) violate("every answer can be read", read);
      if (read.status !== 200 && read.status !== 304) return;
      lookAtKey(read);
      lookAtReturn(read);
      const { content, asOf } = partsOf(whole);
      if (asOf !== null) lookAtCursor(read, parseTime(asOf) ?? NaN);
      if (read.status === 304 && read.etag !== null && !matches(read))
        violate("a 304 answers an ETag that was sent", read);
      if (content === null) return;
      lookAtEtag(read, content);
      lookAtTimes(read, whole.body ?? "");
    },
  };
}

interface Ended {
  endedAt: number;
  asOfMs: number;
  read: Read;
}

interface Shown {
  /** The latest answer. */
  current: Read | null;
  /** ETags that another one has followed, and the answer that did. */
  left: Map<string, Read>;
}

const matches = ({ etag, sentEtag }: Read): boolean =>
  sentEtag !== null && sentEtag.split(/, */).includes(etag ?? "");

/**
 * The content that a weak ETag stands for: which stations there are, and in which state. Not `as_of`, nor the cursor of a
 * page, which holds it, nor the order of a list, which no answer promises unless it is asked for one.
 */
function partsOf({ body, asOf }: Read): { content: string | null; asOf: string | null } {
  if (body === null) return { content: body, asOf };
  // Lines of JSON and CSV have no envelope.
  if (!body.startsWith("{") || /^\{.*\}\n\{/.test(body))
    return { content: body.split("\n").sort().join("\n"), asOf };
  const { as_of: within, next_cursor: _, ...rest } = JSON.parse(body) as Record<string, unknown>;
  const content = Object.entries(rest).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.map((one) => JSON.stringify(one)).sort() : value,
  ]);
  return {
    content: JSON.stringify(content),
    asOf: typeof within === "string" ? within : asOf,
  };
}

/** Enough of an answer for a person who looks for the reason: an hour has many answers. */
const shortened = (read: Read): Read => ({ ...read, body: read.body?.slice(0, 600) ?? null });

/** A mark as it is stored. */
export interface StoredMark {
  id: number | string;
  external_id: string | null;
  /** Processed or withdrawn, and not failed. */
  done: boolean;
}

/** A refusal that says that nothing was stored. 408 is none: the answer may have been late. */
const isRefused = ({ status }: Sent): boolean => status >= 400 && status < 500 && status !== 408;

/**
 * What was acknowledged against what is stored: each mark exactly once, under the id that was answered, and in effect; none
 * that was refused each time.
 */
export function checkMarks(sent: readonly Sent[], stored: readonly StoredMark[]): Violation[] {
  const found: Violation[] = [];
  const violate = (invariant: string, evidence: readonly unknown[], of: number): void => {
    if (evidence.length > 0)
      found.push({
        invariant: `${invariant} (${evidence.length} of ${of})`,
        evidence: evidence.slice(0, 5),
      });
  };
  const byName = new Map<string, StoredMark[]>();
  for (const row of stored.filter((one) => one.external_id !== null))
    byName.set(row.external_id!, [...(byName.get(row.external_id!) ?? []), row]);
  const doubled = [...byName.values()].filter((rows) => rows.length > 1);
  violate("no mark is stored twice", doubled, stored.length);
  const kept = sent.filter(isKept);
  const rowOf = ({ externalId }: Sent): StoredMark | undefined => byName.get(externalId)?.[0];
  violate(
    "no acknowledged mark is lost",
    kept.filter((one) => rowOf(one) === undefined),
    kept.length,
  );
  const other = kept.filter((one) => {
    const row = rowOf(one);
    return row !== undefined && String(row.id) !== one.body.report_id;
  });
  violate("an acknowledged mark has the id that was answered", other, kept.length);
  const idle = kept.filter((one) => rowOf(one)?.done === false);
  violate("every acknowledged mark is in effect", idle, kept.length);
  const maybe = new Set(sent.filter((one) => !isRefused(one)).map((one) => one.externalId));
  const refused = sent.filter((one) => !maybe.has(one.externalId));
  violate(
    "no refused mark is stored",
    refused.filter((one) => rowOf(one) !== undefined),
    refused.length,
  );
  return found;
}

/** One process's, or one mirror's, stations by id, as text. */
export type Copy = ReadonlyMap<string, string>;

/** Each copy, by its owner's name, against what the rows say. */
export function checkCopies(truth: Copy, copies: ReadonlyMap<string, Copy>): Violation[] {
  return [...copies].flatMap(([owner, copy]) => {
    const ids = new Set([...truth.keys(), ...copy.keys()]);
    const differing = [...ids].filter((id) => truth.get(id) !== copy.get(id));
    if (differing.length === 0) return [];
    const evidence = differing
      .slice(0, 3)
      .map((id) => ({ id, stored: truth.get(id) ?? null, shown: copy.get(id) ?? null }));
    return [
      { invariant: `${owner} shows what is stored (${differing.length} stations)`, evidence },
    ];
  });
}
