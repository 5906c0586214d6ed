import type { Admitted } from "#src/domain/admit.ts";
import { decide, type Facts } from "#src/domain/decide.ts";
import { advance, supportersOf } from "#src/domain/fold.ts";
import { type Refusal, refuse } from "#src/contract/refusals.ts";
import type { FoldRules } from "#src/domain/rules.ts";
import type { Mark } from "#src/domain/state.ts";
import type { Status } from "#src/domain/vocabulary.ts";

/** A station's facts together with its marks that no worker has processed yet. */
export interface PendingStatus {
  facts: Facts;
  /** Marks that are not in `facts`; those of the batch are added as they are accepted. */
  waiting: Mark[];
  /** First-seen times (ms) of everyone in them, by reporter id. */
  firstSeen: Map<number, number>;
  /** Stand-ins for the row ids of reporters without a row, by identity. */
  strangers: Map<string, number>;
}

/**
 * The refusal of a widget's confirmation of `status`; null if it is valid (decisions 6): the status must be pending at
 * `now` (ms), and the reporter must not be one of its supporters.
 */
export function refuseConfirmation(
  pendingStatus: PendingStatus,
  { status, identity }: { status: Status; identity: string },
  now: number,
  rules: FoldRules,
): Refusal | null {
  const { facts, waiting, firstSeen } = pendingStatus;
  const seenAt = (id: number): number => firstSeen.get(id) ?? 0;
  const folded = decide(facts, { marks: waiting, seeds: [] }, seenAt, now, rules);
  const state = advance(folded.state, now, rules);
  if (!state.versions.some((version) => version.status === status)) {
    return refuse(
      "nothing-pending",
      `No mark with status "${status}" waits for a confirmation at this station now. Read the station again.`,
    );
  }
  const live = [...folded.opinions.values()].filter(
    (mark) => now < mark.at + rules.statusLifetimeMs,
  );
  const reporterId = numberOf(pendingStatus, identity);
  if (!supportersOf(status, live, state).some((mark) => mark.reporterId === reporterId))
    return null;
  return refuse(
    "own-mark",
    `This device has itself marked "${status}" here. Another person must confirm it.`,
  );
}

/** Adds a mark that was just accepted, so that the next mark of the batch may confirm it. */
export function addToPending(
  pendingStatus: PendingStatus,
  { id, effectiveAt: at, remote, needed, rule, incomingMark: { status } }: Admitted,
  { identity, firstSeen }: { identity: string; firstSeen: number },
): void {
  const reporterId = numberOf(pendingStatus, identity);
  pendingStatus.waiting.push({ id, at, reporterId, status, remote, needed, rule });
  pendingStatus.firstSeen.set(reporterId, firstSeen);
}

/** `identity` is a row id, or a hash without a row. Strangers get negative numbers, because row ids are above 0. */
function numberOf({ strangers }: PendingStatus, identity: string): number {
  if (/^\d{1,16}$/.test(identity)) return Number(identity);
  const number = strangers.get(identity) ?? -1 - strangers.size;
  strangers.set(identity, number);
  return number;
}
