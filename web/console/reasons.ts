import type { ConsoleMark } from "#src/contract/console.ts";
import type { MarkStep, Step, TimeStep } from "#src/domain/explain.ts";
import type { Rule } from "#src/domain/vocabulary.ts";
import { statusWord } from "#web/console/parts/status.tsx";

/** Why a mark needs so many devices. */
export const ruleWords: Record<Rule, string> = {
  "key-threshold": "the key has its own threshold",
  remote: "sent without a position at the station",
  "no-nearby-marks": "“no” with other live marks nearby",
  caution: "a new reporter against reporters known for longer",
  geolocated: "made at the station",
};

/** One step of the fold in a sentence. */
export function stepWords(step: Step): string {
  if (step.kind === "time") return timeWords(step);
  if (step.kind === "seed")
    return step.taken
      ? `An import set “${statusWord(step.status)}”.`
      : `An import of “${statusWord(step.status)}” was ignored: drivers’ marks or a newer import take precedence.`;
  return markWords(step);
}

const devices = (n: number): string => `${n} ${n === 1 ? "device" : "devices"}`;

function markWords(step: MarkStep): string {
  const { status, have, versionNeeded, needed, reporters, effect, rule, replaces } = step;
  const word = `“${statusWord(status)}”`;
  const had = `${devices(have)}${reporters > have ? ` (${reporters} reporters)` : ""}`;
  const instead =
    replaces === null
      ? ""
      : replaces === status
        ? " again"
        : ` instead of “${statusWord(replaces)}”`;
  const said = `Reporter #${step.reporterId} said ${word}${instead} (${ruleWords[rule]})`;
  const then: Record<MarkStep["effect"], string> = {
    published: `${had} of ${versionNeeded} needed, so it was published.`,
    renewed: `now supported by ${had}, so the status was renewed.`,
    counted: `now supported by ${had}. This did not renew the status: it needs ${devices(needed)}, or a newer mark exists.`,
    pending: `${had} of ${versionNeeded} needed, so it waits.`,
    disputed: `${had} of ${versionNeeded} needed, but recent devices with at least the same weight disagree: a dispute.`,
    older: "a newer published status says otherwise.",
  };
  return `${said}: ${then[effect]}`;
}

function timeWords({ effect, status }: TimeStep): string {
  const word = `“${statusWord(status)}”`;
  const words: Record<TimeStep["effect"], string> = {
    "status-expired": `24 hours without a fresh mark: ${word} expired.`,
    "import-expired": `The imported ${word} expired.`,
    "pending-expired": `${word} waited 24 hours without another mark and was dropped.`,
    "dispute-published": `The marks of the other side of the dispute became too old: ${word} was published.`,
    "dispute-ended": `The dispute about ${word} ended: too few recent devices support it.`,
  };
  return words[effect];
}

/** What became of a mark, in a word or two. */
export function outcomeWords({ review, outcome, failure }: ConsoleMark): string {
  if (failure !== null) return "failed";
  if (review === "withdrawn" || review === "rejected" || review === "expired") return review;
  if (review === "held" && outcome === "held") return "held";
  return outcome ?? "queued";
}
