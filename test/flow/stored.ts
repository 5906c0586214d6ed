import { type Db, rows } from "#src/infrastructure/db.ts";

/** The tables that a decision about marks touches, with what they must hold again when it is taken back. */
const tables = {
  marks: ["to_jsonb(t)", "id"],
  // `updated_at` says when it was folded.
  station_status: ["to_jsonb(t) - 'updated_at'", "station_id"],
  opinions: ["to_jsonb(t)", "station_id, reporter_id"],
  status_runs: ["to_jsonb(t)", "station_id, from_at"],
  review_changes: ["to_jsonb(t)", "mark_id"],
} as const;

export type Stored = Record<keyof typeof tables, string[]>;

/** All that is stored of marks and what came of them, a line for each row. */
export async function storedOf(db: Db): Promise<Stored> {
  const found: [string, string[]][] = [];
  for (const [table, [row, order]] of Object.entries(tables)) {
    const sql = `select (${row})::text as line from ${table} t order by ${order}`;
    found.push([table, (await rows<{ line: string }>(db, sql)).map(({ line }) => line)]);
  }
  return Object.fromEntries(found) as Stored;
}

/** Lines that only one of the two has. */
export function differences(before: Stored, after: Stored): string[] {
  return Object.keys(tables).flatMap((name) => {
    const [was, is] = [before, after].map((all) => new Set(all[name as keyof Stored]));
    const gone = [...was!].filter((line) => !is!.has(line)).map((line) => `- ${name} ${line}`);
    const come = [...is!].filter((line) => !was!.has(line)).map((line) => `+ ${name} ${line}`);
    return [...gone, ...come];
  });
}
