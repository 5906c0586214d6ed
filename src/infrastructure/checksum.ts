import { crc32 } from "node:zlib";
import { minuteMs } from "#src/domain/units.ts";
import type { Redis } from "#src/infrastructure/redis.ts";
import type { Resources } from "#src/infrastructure/resources.ts";

export type Part = string | number | Buffer | readonly Buffer[];

/**
 * CRC-32 of parts that belong together in Redis, as eight hexadecimal digits (decisions 21.40). The key is one of the
 * parts, so that nothing passes under another key. Each part counts with its length: bytes cannot move between parts. A
 * list of buffers is one part, as if they were joined.
 */
export function checksumOf(...parts: readonly Part[]): string {
  let sum = 0;
  for (const part of parts) {
    const list = typeof part === "object" && !Buffer.isBuffer(part) ? part : [part];
    const pieces = list.map((piece) => (Buffer.isBuffer(piece) ? piece : String(piece)));
    const length = pieces.reduce((all, piece) => all + Buffer.byteLength(piece), 0);
    sum = crc32(`${length} `, sum);
    // Of an empty Buffer whose `buffer` was read Node makes 0, whatever stood before.
    for (const piece of pieces) if (piece.length > 0) sum = crc32(piece, sum);
  }
  return sum.toString(16).padStart(8, "0");
}

export const checksumLength = 8;

/** The text to store under `key`; `readChecked` reads it. */
export const withChecksum = (key: string, text: string): string => checksumOf(key, text) + text;

/** The text of the value `stored` under `key`; null when the value is damaged. */
export function checkedText(key: string, stored: string): string | null {
  const text = stored.slice(checksumLength);
  return stored === withChecksum(key, text) ? text : null;
}

/**
 * The text under `key`; null when it is missing, or damaged, which is told as damage of this `kind`. Rejects while
 * Redis is away.
 */
export async function readChecked(redis: Redis, key: string, kind: Damage): Promise<string | null> {
  const stored = await orWrongType(redis.get(key));
  if (stored === null) return null;
  const text = stored === undefined ? null : checkedText(key, stored);
  if (text === null) tellDamage(redis, kind);
  return text;
}

/** A command's result; undefined if the stored value has another type. */
export const orWrongType = <T>(answer: Promise<T>): Promise<T | undefined> =>
  answer.catch((error: Error) => {
    if (/WRONGTYPE|not an integer/.test(error.message)) return undefined;
    throw error;
  });

const damageKinds = [
  "dump",
  "set",
  "model",
  "insights",
  "medians",
  "rectangle",
  "figures",
  "asked-sets",
  "peers",
  "keys",
  "chances",
] as const;
export type Damage = (typeof damageKinds)[number];
const damaged = "damaged";

/** Tells the watch of this connection's process that a damaged value of this kind was read. */
export const tellDamage = (redis: Redis, kind: Damage): void => void redis.emit(damaged, kind);

/**
 * Counts the damaged values that this process has found in Redis, by kind. Logs the first one, once a minute while
 * there are more, and the end after a minute without damage.
 */
export function createDamageWatch({ redis, log }: Pick<Resources, "redis" | "log">) {
  const counts = Object.fromEntries(damageKinds.map((kind) => [kind, 0])) as Record<Damage, number>;
  const recent = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;

  const look = (): void => {
    const count = [...recent.values()].reduce((sum, n) => sum + n, 0);
    if (count > 0) {
      const reason = [...recent.keys()].join(", ");
      log.warn({ reason, count }, "damaged data in redis, not used");
      return recent.clear();
    }
    clearInterval(timer);
    timer = undefined;
    log.info("no damaged data in redis for a minute");
  };
  redis.on(damaged, (kind: Damage) => {
    counts[kind] += 1;
    recent.set(kind, (recent.get(kind) ?? 0) + 1);
    if (timer !== undefined) return;
    timer = setInterval(look, minuteMs).unref();
    look();
  });

  return {
    /** Damaged values of each kind since the start. */
    counts: (): Readonly<Record<Damage, number>> => counts,
    /** For `/readyz`: `ok` if the last minute was without damage. */
    condition: (): { ok: boolean; detail: unknown } => ({
      ok: timer === undefined,
      detail: counts,
    }),
  };
}
