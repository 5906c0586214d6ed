import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { formatTime } from "#src/domain/time.ts";
import { rows } from "#src/infrastructure/db.ts";
import type { History } from "#test/fault/history.ts";
import { isKept } from "#test/fault/load.ts";
import { createReader } from "#test/fault/reader.ts";
import { stationCount } from "#test/fault/stage.ts";
import type { Client } from "#test/flow/client.ts";
import { type Country, placeOf } from "#test/flow/country.ts";
import type { RoleProcess } from "#test/harness/processes.ts";

/** What `/readyz` says of clocks. */
interface Ready {
  ready: boolean;
  degraded: string[];
  checks: { clock: { critical: boolean; detail: { trusted: boolean; off: string[] } } };
}

export const readyOf = async ({ baseUrl }: RoleProcess): Promise<Ready> =>
  (await (await fetch(`${baseUrl}/readyz`)).json()) as Ready;

/** The values of one figure of `/metrics`, by its labels. */
export async function figures(
  { baseUrl }: RoleProcess,
  name: string,
): Promise<Record<string, number>> {
  const text = await (await fetch(`${baseUrl}/metrics`)).text();
  const found = text.matchAll(new RegExp(`^${name}(\\S*) (\\S+)$`, "gm"));
  return Object.fromEntries([...found].map(([, labels, value]) => [labels!, Number(value)]));
}

/** How often the alarm about this clock has been raised. */
export async function clockAlarms({ db }: Country, subject: string): Promise<number> {
  const sql = `select coalesce(sum(count), 0)::int as count from alarms
    where kind = 'clock-off' and subject = ?`;
  return (await rows<{ count: number }>(db, sql, [subject]))[0]!.count;
}

/**
 * Marks every station, each as the load does, so that nothing is in dispute; where the load says `no`, which newcomers
 * cannot, `yes`.
 */
export async function markAll(clients: readonly Client[], name: string): Promise<void> {
  for (let n = 0; n < stationCount; n += 1) {
    const status = ["yes", "low", "queue", "yes"][n % 4];
    const answer = await clients[n % 2]!.mark(placeOf(n), `${name}-${n}`, { status });
    expect(answer, JSON.stringify(answer.body)).to.satisfy(isKept);
  }
}

export const hasBlank = (text: string | null): boolean => /"status":"nodata"/.test(text ?? "");

/**
 * Reads of each process in turn, with cursors and ETags that another one gave, until `done`. Answers the reads in which a
 * station had no status.
 */
export async function readOn(
  webs: readonly { name: string; process(): RoleProcess }[],
  secret: string,
  history: History,
  done: AbortSignal,
): Promise<unknown[]> {
  const reader = createReader(history);
  const etags = new Map<string, string>();
  const key = { name: "secret", text: secret };
  const blank: unknown[] = [];
  let since = formatTime(Date.now() - 60_000);
  for (let n = 0; !done.aborted; n += 1) {
    const paths = [
      ...["/stations/all?limit=30000", "/stations/all.ndjson", "/stations/all?status=yes"],
      `/stations?city=${encodeURIComponent("Тестоград")}&radius_km=20`,
      `/stations/${placeOf(n % stationCount).id}`,
      `/stations/delta?updated_since=${since}`,
    ];
    const path = paths[n % paths.length]!;
    for (const web of webs) {
      const { baseUrl } = web.process();
      const sentEtag = etags.get(path) ?? null;
      const read = await reader.read(web.name, { baseUrl, path, key, sentEtag });
      if (read.etag !== null) etags.set(path, read.etag);
      if (hasBlank(read.body)) blank.push(read);
      if (path.includes("/delta") && read.status === 200)
        since = (JSON.parse(read.body!) as { as_of: string }).as_of;
    }
    await sleep(50);
  }
  reader.close();
  return blank;
}
