/** What a caller prefers (RFC 7240): an answer before the outcome is known, or a shorter wait for it. */
export interface Preference {
  respondAsync: boolean;
  /** Seconds, a whole number; null when nothing readable was said. */
  waitS: number | null;
}

/** Reads a `Prefer` header. What is not understood is ignored, as the RFC has it; of repeated ones the first counts. */
export function parsePrefer(header: string | undefined): Preference {
  const parts = (header ?? "").split(",").map((part) => part.split(";")[0]!.trim().toLowerCase());
  const wait = parts
    .map((part) => /^wait\s*=\s*"?(\d{1,9})"?$/.exec(part)?.[1])
    .find((seconds) => seconds !== undefined);
  return {
    respondAsync: parts.includes("respond-async"),
    waitS: wait === undefined ? null : Number(wait),
  };
}
