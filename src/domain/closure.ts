import { formatTime } from "#src/domain/time.ts";

/** That a station is closed for now, as its source says (docs/contract.md 2.1). Times as served; null while unknown. */
export interface Closure {
  from: string | null;
  until: string | null;
}

/** The closure in its stored form: "FROM/UNTIL", each of which may be empty; null for "", which is none. */
export function closureIn(text: string): Closure | null {
  const [from, until] = text.split("/");
  return text === "" ? null : { from: from || null, until: until || null };
}

/** Whether it has begun, and is not over, at `now`, ms. */
export const isClosedAt = ({ from, until }: Closure, now: number): boolean =>
  (from ?? "") <= formatTime(now) && formatTime(now) < (until ?? "~");
