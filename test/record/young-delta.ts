import type { RecordedAnswer } from "#test/record/recording.ts";

const youngMs = 60_000;
const hidden = "<of the last minute>";

/**
 * What stations have changed within the last minute is a matter of how fast a test is: of an answer of
 * /stations/delta that begins there, the stations are hidden, and whether it was worth packing. Any other is left.
 *
 * @param line the request's first line, not masked
 * @param date the answer's header Date
 */
export function hideYoungDelta(
  line: string,
  date: string | undefined,
  answer: RecordedAnswer,
): RecordedAnswer {
  const [, since] = /\/stations\/delta\?(?:\S*&)?updated_since=([^&\s]+)/.exec(line) ?? [];
  if (since === undefined || date === undefined || !answer.status.startsWith("200")) return answer;
  if (!(momentOf(since) > Date.parse(date) - youngMs)) return answer;
  const { "content-encoding": _, ...headers } = answer.headers;
  return { ...answer, headers, body: answer.body === null ? null : withoutStations(answer.body) };
}

/** Milliseconds since 1970; NaN when it is no time. */
function momentOf(encoded: string): number {
  try {
    const text = decodeURIComponent(encoded.replaceAll("+", " ")).replace(" ", "T");
    return Date.parse(/[Zz]|[+-]\d\d:\d\d$/.test(text) ? text : `${text}Z`);
  } catch {
    return Number.NaN;
  }
}

/** The envelope of a JSON list; nothing of any other form. */
function withoutStations(body: string): string {
  try {
    const list = JSON.parse(body) as Record<string, unknown>;
    for (const name of ["stations", "features", "removed", "count"])
      if (name in list) list[name] = hidden;
    return JSON.stringify(list);
  } catch {
    return body === "" ? "" : hidden;
  }
}
