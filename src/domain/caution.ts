import { devices, type FirstSeen } from "#src/domain/devices.ts";
import { advance, type Folded, supportersOf } from "#src/domain/fold.ts";
import type { FoldRules } from "#src/domain/rules.ts";
import type { Mark } from "#src/domain/state.ts";
import { family } from "#src/domain/vocabulary.ts";

const neededForFuel = 2;
const neededForNo = 3;

/**
 * The two lines `caution` of decisions 2.1: the mark of a newcomer who contradicts what older reporters say, with
 * the devices that it then needs; any other mark as it is. `before`: the station just before the mark, in the order of
 * marks. Judged once, when the mark is first processed.
 */
export function withCaution(
  mark: Mark,
  before: Folded,
  firstSeen: FirstSeen,
  rules: FoldRules,
): Mark {
  const { at } = mark;
  const isNew = (one: Mark): boolean => at - firstSeen(one.reporterId) < rules.newcomerMs;
  if (mark.rule === "key-threshold" || !isNew(mark)) return mark;
  const state = advance(before.state, at, rules);
  if (state.served === null || family(state.served.status) === family(mark.status)) return mark;
  const live = before.opinions.filter((one) => at < one.at + rules.statusLifetimeMs);
  const cautious = (needed: number): Mark => ({ ...mark, needed, rule: "caution" });
  if (mark.status === "no") {
    const denied = live.some((one) => family(one.status) === "has" && !isNew(one));
    return denied ? cautious(neededForNo) : mark;
  }
  if (mark.remote) return mark;
  const deniers = supportersOf("no", live, state);
  const isFresh = deniers.some((one) => at - one.at < rules.cautionFreshMs);
  const enough = devices(deniers, at, firstSeen, rules).length >= 2;
  return enough && isFresh && deniers.some((one) => !isNew(one)) ? cautious(neededForFuel) : mark;
}
