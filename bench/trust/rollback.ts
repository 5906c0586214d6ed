import type { Selection } from "#src/marks/mark-selection.ts";
import type { Answered } from "#bench/trust/simulate.ts";

/** A selector that an operator would try first; conditions on stations and persons need somebody who looked long. */
export type Selector = Pick<Selection, "key" | "status" | "since" | "until">;

export interface RolledBack {
  /** Share of the attacker's stored marks that go. */
  lies: number;
  /** Honest marks that go along, and their share of all honest marks stored within the same time. */
  honest: number;
  honestShare: number;
}

/**
 * What a rollback by these selectors takes along. The conditions are those of `whereSelected` (src/marks/mark-selection.ts),
 * which is SQL: said here again for the four that are used.
 */
export function rollBackBy(
  selectors: readonly Selector[],
  answered: readonly Answered[],
): RolledBack {
  const stored = answered.filter(
    ({ admission }) => admission.kind === "accepted" && admission.review !== "expired",
  );
  const selected = stored.filter((one) => selectors.some((selector) => isIn(selector, one)));
  const since = Math.min(...selectors.map((selector) => selector.since ?? -Infinity));
  const until = Math.max(...selectors.map((selector) => selector.until ?? Infinity));
  const count = (among: readonly Answered[], honest: boolean): number =>
    among.filter(({ sent }) => sent.honest === honest && sent.at >= since && sent.at < until)
      .length;
  const share = (part: number, of: number): number => (of === 0 ? NaN : part / of);
  const honest = count(selected, true);
  return {
    lies: share(count(selected, false), count(stored, false)),
    honest,
    honestShare: share(honest, count(stored, true)),
  };
}

const isIn = ({ key, status, since, until }: Selector, { sent }: Answered): boolean =>
  (key === undefined || sent.reporter.keyId === key) &&
  (status === undefined || sent.status === status) &&
  (since === undefined || sent.at >= since) &&
  (until === undefined || sent.at < until);
