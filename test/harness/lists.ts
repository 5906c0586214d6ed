import { parse } from "csv-parse/sync";

/** A station, a feature or a line of a list, by its id. */
type Item = Record<string, unknown> & { id: string };

/** A list as a caller reads it: its items, and how many it says that it has. */
interface ReadList {
  items: Item[];
  said: number | null;
}

/** Lists of the envelopes, each beside a `count`. */
const listNames = ["stations", "features", "cities", "reports"];

/**
 * Reads a whole answer in the form of its content type, as a strict caller does. Throws for what cannot be parsed, and
 * for a list of another length than it says. Null for what is no list.
 *
 * @param saidByHead `X-Count`, where the form has no envelope
 */
export function readWhole(type: string, body: string, saidByHead: string | null): ReadList | null {
  const read = listOf(type, body, saidByHead);
  if (read === null) return null;
  const { items, said } = read;
  if (said !== items.length) throw new Error(`it says ${said}, and has ${items.length}`);
  const ids = new Set(items.map(({ id }) => id));
  if (items.length > 0 && items[0]!.id !== undefined && ids.size < items.length)
    throw new Error(`it has ${ids.size} different ids in ${items.length} items`);
  return read;
}

function listOf(type: string, body: string, saidByHead: string | null): ReadList | null {
  const said = saidByHead === null ? null : Number(saidByHead);
  if (type === "application/x-ndjson") {
    const lines = body.split("\n");
    if (lines.pop() !== "") throw new Error("its last line has no end");
    return { items: lines.map((line) => JSON.parse(line) as Item), said };
  }
  if (type === "text/csv") {
    if (!body.endsWith("\n")) throw new Error("its last line has no end");
    return { items: parse<Item>(body, { columns: true, bom: true }), said };
  }
  if (type === "text/event-stream") {
    for (const data of eventsOf(body)) readWhole("application/json", data, null);
    return null;
  }
  if (!/[/+]json$/.test(type)) return null;
  const value = JSON.parse(body) as Record<string, unknown> | null;
  const name = listNames.find((one) => Array.isArray(value?.[one]));
  if (name === undefined || value!["count"] === undefined) return null;
  return { items: value![name] as Item[], said: value!["count"] as number };
}

/** The data of each event of a stream that has ended in order. */
function eventsOf(body: string): string[] {
  const events = body.split("\n\n");
  if (events.pop() !== "") throw new Error("its last event has no end");
  return events.flatMap((event) => /^data: (.*)$/m.exec(event)?.[1] ?? []);
}
