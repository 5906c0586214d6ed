import type { ConsoleMark } from "#src/contract/console.ts";
import type { MarkStep, Step, TimeStep, WaitingPrice } from "#src/domain/explain.ts";
import type { Outcome, Rule } from "#src/domain/vocabulary.ts";
import { statusWord } from "#web/console/parts/status.tsx";
import { say } from "#web/console/words.ts";

/** Why a mark needs so many devices. */
export const ruleWords: Record<Rule, string> = {
  "key-threshold": say("the key has its own threshold"),
  remote: say("sent without a position at the station"),
  "no-nearby-marks": say("“no” with other live marks nearby"),
  caution: say("a new reporter against reporters known for longer"),
  geolocated: say("made at the station"),
};

/** One step of the fold in a sentence. */
export function stepWords(step: Step): string {
  if (step.kind === "time") return timeWords(step);
  const status = statusWord(step.status);
  if (step.kind === "seed")
    return step.taken
      ? say("An import set “{status}”.", { status })
      : say(
          "An import of “{status}” was ignored: drivers’ marks or a newer import take precedence.",
          { status },
        );
  return [
    `${saidWords(step)}: ${effectWords(step)}`,
    ...step.waitingPrices.map((waiting) => priceWords(waiting)),
  ].join(" ");
}

/** Why a price of the mark is not served. */
function priceWords({ grade, price, needed, have, isOutOfLine }: WaitingPrice): string {
  const of = { grade, price: price.toFixed(2), have, needed };
  return isOutOfLine
    ? say(
        "The price {grade}={price} is far from those around and waits: {have} of {needed} devices state one like it.",
        of,
      )
    : say("The price {grade}={price} waits: {have} of {needed} devices state it.", of);
}

function saidWords({ reporterId, status, rule, replaces }: MarkStep): string {
  const said = { id: reporterId, status: statusWord(status), rule: ruleWords[rule] };
  if (replaces === null) return say("Reporter #{id} said “{status}” ({rule})", said);
  return replaces === status
    ? say("Reporter #{id} said “{status}” again ({rule})", said)
    : say("Reporter #{id} said “{status}” instead of “{other}” ({rule})", {
        ...said,
        other: statusWord(replaces),
      });
}

const devices = (n: number): string => say("{n} {n|device|devices}", { n });

function effectWords({ have, versionNeeded, needed, reporters, effect }: MarkStep): string {
  const had =
    reporters > have
      ? say("{devices} ({n} {n|reporter|reporters})", { devices: devices(have), n: reporters })
      : devices(have);
  const of = { had, needed: versionNeeded };
  const words: Record<MarkStep["effect"], () => string> = {
    published: () => say("{had} of {needed} needed, so it was published.", of),
    renewed: () => say("now supported by {had}, so the status was renewed.", { had }),
    counted: () =>
      say(
        "now supported by {had}. This did not renew the status: it needs {devices}, or a newer mark exists.",
        { had, devices: devices(needed) },
      ),
    pending: () => say("{had} of {needed} needed, so it waits.", of),
    disputed: () =>
      say(
        "{had} of {needed} needed, but recent devices with at least the same weight disagree: a dispute.",
        of,
      ),
    older: () => say("a newer published status says otherwise."),
  };
  return words[effect]();
}

function timeWords({ effect, status }: TimeStep): string {
  const word = { status: statusWord(status) };
  const words: Record<TimeStep["effect"], string> = {
    "status-expired": say("24 hours without a fresh mark: “{status}” expired.", word),
    "import-expired": say("The imported “{status}” expired.", word),
    "pending-expired": say(
      "“{status}” waited 24 hours without another mark and was dropped.",
      word,
    ),
    "dispute-published": say(
      "The marks of the other side of the dispute became too old: “{status}” was published.",
      word,
    ),
    "dispute-ended": say(
      "The dispute about “{status}” ended: too few recent devices support it.",
      word,
    ),
  };
  return words[effect];
}

/** The outcome of a mark, in a word or two. */
export const outcomeWords = (mark: ConsoleMark): string => say(outcomeOf(mark));

function outcomeOf({
  review,
  outcome,
  failure,
}: ConsoleMark): Outcome | "failed" | "withdrawn" | "rejected" | "queued" {
  if (failure !== null) return "failed";
  if (review === "withdrawn" || review === "rejected" || review === "expired") return review;
  if (review === "held" && outcome === "held") return "held";
  return outcome ?? "queued";
}
