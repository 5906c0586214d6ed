import type { ChanceMark } from "#src/domain/chance/mark.ts";
import { family } from "#src/domain/vocabulary.ts";
import type { Answered } from "#bench/trust/simulate.ts";
import type { Acquaintance } from "#bench/trust/traffic.ts";

/** The counted marks as the model hears them: only what the product knows of each, in their order. */
export function heardOf(
  answered: readonly Answered[],
  known: readonly Acquaintance[],
): ChanceMark[] {
  const people = new Map<string, { id: number; firstSeen: number }>();
  const meet = (name: string, firstSeen: number): { id: number; firstSeen: number } => {
    const person = people.get(name) ?? { id: people.size + 1, firstSeen };
    people.set(name, person);
    return person;
  };
  for (const { reporter, firstSeen } of known) meet(reporter.name, firstSeen);
  return answered.flatMap(({ sent, admission }) => {
    if (admission.kind !== "accepted") return [];
    const { id: reporterId, firstSeen } = meet(sent.reporter.name, sent.at);
    if (admission.review !== "none") return [];
    const { partnerId, keyId, viewer } = sent.reporter;
    return {
      at: admission.effectiveAt,
      id: admission.id,
      stationId: admission.incomingMark.stationId,
      fuel: family(sent.status) === "has",
      remote: admission.remote,
      sourceId: partnerId === null ? null : keyId,
      reporterId,
      firstSeen,
      network: admission.sharedNetwork ? null : viewer,
    };
  });
}
