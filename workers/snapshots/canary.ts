import { formatTime, parseTime } from "#src/domain/time.ts";
import { hourMs, minuteMs } from "#src/domain/units.ts";
import { servedStatuses } from "#src/domain/vocabulary.ts";
import { raiseAlarms } from "#src/alarms/raise.ts";
import type { Follower } from "#src/feed/follower.ts";
import type { IdTable } from "#src/feed/id-table.ts";
import { canaryMs } from "#src/infrastructure/schedule.ts";
import { canaryText } from "#src/keys/canary-key.ts";
import { filtersKey } from "#snapshots/model/filters.ts";
import { type Format, forms, makeCursor } from "#snapshots/model/forms.ts";
import type { ReadModel } from "#snapshots/model/model.ts";
import { type Duty, leftOut, type RoleDeps } from "#workers/role.ts";

const formats = ["json", "csv", "geojson", "ndjson"] as const;
/** Every way to ask, in the order of the turns: `kept` may be a stored dump, `made` is written for each caller. */
export const asks = ["identity", "gzip", "br"].flatMap((coding) => [
  ...formats.flatMap((format) =>
    (["kept", "made"] as const).map((way) => ({ way, format, coding })),
  ),
  { way: "delta" as const, format: formats[0], coding },
]);

const answerMs = 2 * minuteMs;
const deltaMs = 47 * hourMs;
/** Stations that are looked at again in the end: they may have changed meanwhile. */
const doubtedMost = 1000;

type CanaryDeps = Pick<RoleDeps, "config" | "db" | "log" | "redis" | "clock" | "peers">;
const statuses = [...servedStatuses];
/** The query of each way. A filter that all pass, from before the first station: no dump is looked for, or made. */
const queries = (now: number, asOfMs: number) => ({
  kept: { limit: "30000" },
  made: {
    ...{ limit: "30000", status: statuses.join() },
    cursor: makeCursor({ after: "-", asOfMs }, filtersKey({ statuses })),
  },
  delta: { updated_since: formatTime(now - deltaMs) },
});

/**
 * Asks a web process, each in turn, for the whole country as a partner would, reads the answer whole and compares it with
 * this process's own copy of the database. What is broken twice in a row raises an alarm (decisions 16.41). Gives the
 * number of alarms. Its memory: a few pieces of the answer, and a byte for each station.
 */
export function createCanary(
  deps: CanaryDeps & { model: ReadModel; follower: Follower; ids: IdTable },
): (turn?: number) => ReturnType<Duty> {
  const { config, db, log, redis, clock, peers, model, follower, ids } = deps;
  const doubtKey = `${config.redisPrefix}:canary`;

  /** Those of these stations that are not so in the model. */
  const differing = (format: Format, some: readonly Station[]): readonly Station[] => {
    const numbers = some.map(([id]) => ids.find(id));
    const found = model.changesOf(numbers, clock()).pieces();
    const bytes = Buffer.concat(found.map((piece) => piece.bytes));
    const wanted = bytes.length === 0 ? "" : forms[format].write(bytes).toString();
    if (some.map(([, text]) => text).join(`${forms[format].separator}`) === wanted) return [];
    return some.length === 1 ? some : some.flatMap((one) => differing(format, [one]));
  };

  /** The fault of an answer; null without one. Rejects when the process cannot be asked. */
  const faultOf = async (web: string, ask: (typeof asks)[number]): Promise<string | null> => {
    const now = clock();
    const list = ask.format === "json" ? "all" : `all.${ask.format}`;
    const query = new URLSearchParams(queries(now, follower.asOf(now))[ask.way]);
    const Authorization = `Bearer ${canaryText(config, now)}`;
    const headers = { Authorization, "Accept-Encoding": ask.coding };
    const seen = new Uint8Array(ids.size());
    const doubted: Station[] = [];
    const take = (stations: readonly Station[]): void => {
      for (const [id] of stations)
        if (seen[ids.find(id)] === 1) throw new Error(`${id} comes twice`);
        else seen[ids.find(id)] = 1;
      if (doubted.length < doubtedMost) doubted.push(...differing(ask.format, stations));
    };
    let page: Page;
    let asOfMs = Infinity;
    do {
      const url = `${web}/api/v1/partner/stations/${ask.way === "delta" ? "delta" : list}?${query}`;
      const answer = await fetch(url, { headers, signal: AbortSignal.timeout(answerMs) });
      // An error of the server is an answer that a partner gets; a refusal is none.
      if (answer.status !== 200 && answer.status !== 500) throw new Error(`${answer.status}`);
      try {
        page = await readPage(answer, ask.format, take);
      } catch (error) {
        return (error as Error).message;
      }
      asOfMs = Math.min(asOfMs, parseTime(page.as_of)!);
      query.set("cursor", page.next_cursor ?? "");
    } while (page.next_cursor);
    await follower.refresh();
    // What has changed since its time may be in an answer, and need not.
    const changed = new Set(model.changedSince(asOfMs, clock()));
    const still = doubted.filter(([id]) => !changed.has(ids.find(id)));
    const [other] = differing(ask.format, still);
    if (other !== undefined) return `${other[0]} is another than in the database`;
    const due = model.changedSince(ask.way === "delta" ? now - deltaMs : 0, clock());
    const unseen = due.filter((station) => seen[station] !== 1 && !changed.has(station));
    const missing = model.changesOf(unseen, clock()).count;
    if (missing > 0) return `${missing} stations are missing`;
    const isOther = page.digest !== undefined && page.digest !== model.whole(clock()).sum;
    return isOther && changed.size === 0 ? "the digest is another than the database's" : null;
  };

  return async (due = Math.floor(clock() / canaryMs)) => {
    await Promise.all([peers.look(), follower.refresh()]);
    const doubted = await redis.get(doubtKey);
    const turn = Number(doubted ?? due);
    const ask = asks[turn % asks.length]!;
    const webs = peers.others().flatMap(({ urls }) => (urls === undefined ? [] : [urls]));
    webs.sort(([a = ""], [b = ""]) => (a < b ? -1 : 1));
    // After each round of asks the next process begins, so that each gets all of them.
    const first = (turn + Math.floor(turn / asks.length)) % Math.max(1, webs.length);
    for (const web of [...webs.slice(first), ...webs.slice(0, first)].flat()) {
      const fault = await faultOf(web, ask).catch((error: Error) =>
        log.warn({ err: `${web}: ${error.message}` }, "the canary cannot ask this process"),
      );
      if (fault === undefined) continue;
      if (fault === null) return void (await redis.del(doubtKey));
      const reason = `${web} ${ask.way} ${ask.format} ${ask.coding}: ${fault}`;
      log.error({ reason }, "the canary got a broken answer");
      await redis.set(doubtKey, turn, "PX", 3 * canaryMs);
      // Once it may be a process that was stopping, or of another version in an upgrade.
      if (doubted === null) return 0;
      const subject = { code: "answer", answer: `${ask.way} ${ask.format}` } as const;
      const details = { process: web, coding: ask.coding, fault };
      await raiseAlarms(db, [{ kind: "answers-broken", subject, at: clock(), details }]);
      return 1;
    }
    return leftOut;
  };
}

/** A station of an answer, with its text in that form, made anew of what was parsed; of CSV its line. */
type Station = [id: string, text: string];
type Page = { count: number; as_of: string; next_cursor?: string; digest?: string };

const ends = { json: '},{"id":"', geojson: '},{"type":"Feature"', ndjson: "\n", csv: "\n" };

/** Reads a page to its end, its stations in pieces. Rejects when anything of it is not as it should be. */
async function readPage(
  answer: Response,
  format: Format,
  take: (stations: readonly Station[]) => void,
): Promise<Page> {
  const head = forms[format].head.toString();
  const isLines = format === "ndjson" || format === "csv";
  let [text, count] = ["", 0];
  const takeUpTo = (end: number): void => {
    const stations = stationsIn(format, text.slice(head.length, end));
    take(stations);
    count += stations.length;
  };
  for await (const more of answer.body!.pipeThrough(new TextDecoderStream())) {
    text += more;
    if (!text.startsWith(head.slice(0, text.length))) throw new Error("another beginning");
    const end = text.lastIndexOf(ends[format]) + (isLines ? 0 : 1);
    if (end <= head.length || (format === "csv" && isOpen(text.slice(0, end)))) continue;
    takeUpTo(end);
    text = head + text.slice(end + 1);
  }
  const said = (name: string): string => answer.headers.get(`x-${name}`) ?? "";
  if (isLines && text !== head) throw new Error("another end");
  const page = isLines
    ? { count: +said("count"), as_of: said("as-of"), next_cursor: said("next-cursor") }
    : (JSON.parse(text) as Page);
  if (!isLines) takeUpTo(text.lastIndexOf("]", text.lastIndexOf('"count":')));
  if (page.count !== count) throw new Error(`${count} stations, and says ${page.count}`);
  if (parseTime(page.as_of ?? "") === null) throw new Error("no as_of");
  return page;
}

function stationsIn(format: Format, text: string): Station[] {
  if (format === "csv")
    return linesOf(text).map((line) => [line.slice(0, line.indexOf(",")), line]);
  const list = format === "ndjson" ? text.replaceAll("\n", ",") : text;
  const stations = JSON.parse(`[${list}]`) as { id: string }[];
  return stations.map((one) => [one.id, JSON.stringify(one)]);
}

/** True within the quotes of a field of CSV, which may have line feeds. */
const isOpen = (text: string): boolean => text.split('"').length % 2 === 0;

const linesOf = (text: string): string[] => text.match(/(?:"[^"]*"|[^"\n])+/g) ?? [];
