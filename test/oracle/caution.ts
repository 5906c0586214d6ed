import { groups, isNewcomer } from "#test/oracle/devices.ts";
import { replay } from "#test/oracle/fold.ts";
import { inOrder, type OracleMark, type OracleStory } from "#test/oracle/story.ts";

export interface Verdict {
  readonly needed: number;
  readonly rule: string;
}

/**
 * What a mark needs after a worker has processed it for the first time (decisions 2.1, `caution`).
 * `mark`: as accepted. `known`: what counted and had been processed then, in any order; of these only what comes
 * before the mark in the order of marks is looked at.
 */
export function judgedFirst(mark: OracleMark, known: OracleStory): Verdict {
  const { at, needed, rule, status, remote, reporter } = mark;
  const { firstSeen } = known;
  const isNew = (one: string) => isNewcomer(firstSeen(one), at);
  if (rule === "key-threshold" || !isNew(reporter)) return { needed, rule };
  const marks = known.marks.filter((one) => inOrder(one, mark) < 0);
  const { served, supporters, opinions } = replay({ ...known, marks }, at).standing;
  if (status === "no") {
    const against = opinions.some(
      (one) => one.status !== "no" && one.reporter !== reporter && !isNew(one.reporter),
    );
    return served !== null && served !== "no" && against
      ? { needed: 3, rule: "caution" }
      : { needed, rule };
  }
  const confirmed =
    served === "no" &&
    groups(supporters, at, firstSeen).length >= 2 &&
    supporters.some((one) => !isNew(one.reporter)) &&
    supporters.some((one) => at - one.at < 2 * 3600e3);
  return confirmed && !remote ? { needed: 2, rule: "caution" } : { needed, rule };
}

/**
 * The marks of one station as the worker makes them, in their order of receipt. `verdicts` are those of earlier first
 * processings: they stay, and the new ones are added. `known`: counted marks that had been processed before all these.
 */
export function judgedInTurn(
  received: readonly OracleMark[],
  known: OracleStory,
  verdicts: Map<number, Verdict>,
): OracleMark[] {
  const judged: OracleMark[] = [];
  for (const mark of [...received].sort((a, b) => a.id - b.id)) {
    const before = { ...known, marks: [...known.marks, ...judged] };
    const verdict = verdicts.get(mark.id) ?? judgedFirst(mark, before);
    verdicts.set(mark.id, verdict);
    judged.push({ ...mark, ...verdict });
  }
  return judged;
}
