import type { Condition } from "#src/infrastructure/parts.ts";
import { Ajv, type ValidateFunction } from "ajv";
import { type TSchema, Type } from "typebox";
import { firstYearMs, lastYearMs } from "#src/domain/time.ts";
import type { Log } from "#src/infrastructure/log.ts";

/** Gives the fault of a value that has not the shape, with its place but without the value; null when it has. */
export type Shape = (value: unknown) => string | null;

const ajv = new Ajv({ strict: false, strictNumbers: true });

/** A check of stored values. It is compiled for the first value and takes about a microsecond for each. */
export function compileShape(schema: TSchema): Shape {
  let validate: ValidateFunction | undefined;
  return (value) => {
    validate ??= ajv.compile(schema);
    if (validate(value)) return null;
    const [error] = validate.errors ?? [];
    return `${error?.instancePath.slice(1) || "it"} ${error?.message ?? "is wrong"}`.slice(
      0,
      faultMax,
    );
  };
}
const faultMax = 200;

/** Parts of shapes of stored values. */
export const stored = {
  time: Type.Number({ minimum: firstYearMs, maximum: lastYearMs }),
  /** No stored text should be longer: a longer one would be served thousands of times. */
  text: Type.String({ maxLength: 10_000 }),
  orNull: <T extends TSchema>(schema: T) => Type.Union([Type.Null(), schema]),
  word: <const T extends readonly string[]>(values: T) =>
    Type.Unsafe<T[number]>({ type: "string", enum: [...values] }),
} as const;

export type Quarantine = ReturnType<typeof createQuarantine>;

const namedMax = 5;

/**
 * The rows that this process has read and cannot use, by table and id (decisions 21.34). It goes on without them, logs
 * the beginning and the end, and calls `alarm` for the table, which may reject.
 */
export function createQuarantine(
  log: Log,
  alarm: (table: string, rows: number) => Promise<void> = async () => {},
) {
  const tables = new Map<string, Map<string, string>>();

  /** Sets rows aside. Gives the new ones among them. */
  const add = (table: string, faults: ReadonlyMap<string, string>): string[] => {
    const known = tables.get(table) ?? new Map<string, string>();
    const fresh = [...faults.keys()].filter((id) => !known.has(id));
    for (const [id, fault] of faults) known.set(id, fault);
    if (fresh.length === 0) return fresh;
    tables.set(table, known);
    const reason = faults.get(fresh[0]!);
    const rows = fresh.slice(0, namedMax).map((id) => id.slice(0, faultMax));
    log.error(
      { table, count: fresh.length, rows, reason },
      "rows cannot be read, set aside; will say when they can",
    );
    alarm(table, known.size).catch((error: Error) =>
      log.debug({ table, err: error.message }, "alarm not raised"),
    );
    return fresh;
  };
  /** These rows were read and are well, or are gone. */
  const release = (table: string, ids: Iterable<string>): void => {
    const known = tables.get(table);
    if (known === undefined) return;
    const healed = [...ids].filter((id) => known.delete(id));
    if (healed.length > 0)
      log.info({ table, count: healed.length, rows: healed.slice(0, namedMax) }, "rows read again");
    if (known.size === 0) tables.delete(table);
  };

  return {
    add,
    release,
    /** Gives the rows that have the shape, out of all rows of a table. Exactly the others are set aside afterwards. */
    sift<Row>(
      table: string,
      found: readonly Row[],
      idOf: (row: Row) => string,
      shape: Shape,
    ): Row[] {
      const faults = new Map<string, string>();
      const good = found.filter((row) => {
        const fault = shape(row);
        if (fault !== null) faults.set(idOf(row), fault);
        return fault === null;
      });
      add(table, faults);
      const before = tables.get(table)?.keys() ?? [];
      release(
        table,
        [...before].filter((id) => !faults.has(id)),
      );
      return good;
    },
    /** Takes one row with its fault, or null; true when it can be used. */
    take(table: string, id: string, fault: string | null): boolean {
      if (fault === null) release(table, [id]);
      else add(table, new Map([[id, fault]]));
      return fault === null;
    },
    has: (table: string, id: string): boolean => tables.get(table)?.has(id) === true,
    /** Rows that are set aside, by table. */
    counts: (): Record<string, number> =>
      Object.fromEntries([...tables].map(([table, { size }]) => [table, size])),
    /** For `/readyz`. It names no rows, because ids of keys and browsers are private. */
    condition(): Condition {
      const counts = [...tables].map(([table, { size }]) => `${table}: ${size}`);
      if (counts.length === 0) return { ok: true, says: [{ code: "rows-readable" }] };
      return { ok: false, says: [{ code: "rows-set-aside", rows: counts.join(", ") }] };
    },
  };
}
