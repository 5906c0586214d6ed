/**
 * Reads a `Prefer` header (RFC 7240): `respond-async` waits for nothing, `wait=N` waits so many seconds, at most
 * `longestMs`; without it the wait is `usualMs`. What is not understood is ignored, as the RFC has it; of repeated ones
 * the first counts. `applied` is what to echo.
 */
export function readPrefer(
  header: string | undefined,
  longestMs: number,
  usualMs = longestMs,
): { waitMs: number; applied: string | null } {
  const parts = (header ?? "").split(",").map((part) => part.split(";")[0]!.trim().toLowerCase());
  if (parts.includes("respond-async")) return { waitMs: 0, applied: "respond-async" };
  const waits = parts.flatMap((part) => /^wait\s*=\s*"?(\d{1,9})"?$/.exec(part)?.[1] ?? []);
  if (waits[0] === undefined) return { waitMs: usualMs, applied: null };
  const waitS = Number(waits[0]);
  if (waitS * 1000 > longestMs) return { waitMs: longestMs, applied: null };
  return { waitMs: waitS * 1000, applied: `wait=${waitS}` };
}
