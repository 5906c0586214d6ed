import { type Refusal, refuse } from "#src/contract/refusals.ts";

const on: readonly string[] = ["1", "true"];
const off: readonly string[] = ["0", "false"];

/** The values of `X-Dry-Run` (decisions 3.19). */
export const dryRunValues = [...on, ...off];

/** True when the header asks for a dry run. `readDryRun` refuses bad values. */
export const asksDryRun = (headers: Readonly<Record<string, unknown>>): boolean =>
  on.includes(headers["x-dry-run"] as string);

/** Reads the value of `X-Dry-Run`; undefined when the header is absent. */
export function readDryRun(value: string | string[] | undefined): { dry: boolean } | Refusal {
  // Node joins repeated lines by commas.
  const text = String(value ?? "0");
  if (on.includes(text)) return { dry: true };
  if (off.includes(text)) return { dry: false };
  const msg = `Use one of ${dryRunValues.join(", ")}`;
  const fault = { loc: ["header", "X-Dry-Run"], msg, type: "enum", input: text.slice(0, 100) };
  return refuse("validation-failed", [fault]);
}

/**
 * Reads a `Prefer` header (RFC 7240): `respond-async` does not wait, `wait=N` waits N seconds, at most `longestMs`;
 * without it the wait is `usualMs`. Unknown preferences are ignored, as the RFC says; the first of repeated ones
 * counts. `applied` is the value to echo.
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
