import { dayMs } from "#src/domain/units.ts";
import type { Attack, Scene } from "#bench/trust/attackers/attack.ts";
import { type Fifth, fifthFalse } from "#bench/trust/attackers/fifth.ts";
import { atPumps, type SentMark } from "#bench/trust/traffic.ts";
import { hadFuel } from "#bench/trust/truth.ts";

/** True marks of each account on its first day, in slots of a half. */
const trueMarks = 2;
const slotMs = dayMs / trueMarks;

/** Accounts that are made and tell the truth on the day before, as often as they lie afterwards: a fifth of all marks. */
export function sleepers(scene: Scene, status: Fifth["status"]): Attack {
  const { random, country, truth, from } = scene;
  const { traffic, selectors } = fifthFalse(scene, { status, old: true, positions: true });
  const asleep = traffic.known.flatMap(({ reporter }) =>
    Array.from({ length: trueMarks }, (_, n): SentMark => {
      const station = random.int(0, country.stations.length - 1);
      const at = Math.floor(from - dayMs + (n + random.between(0, 0.5)) * slotMs);
      return {
        at,
        station,
        status: hadFuel(truth, station, at) ? "yes" : "no",
        reporter,
        position: atPumps(random, country.stations[station]!),
        honest: false,
      };
    }),
  );
  const marks = [...asleep, ...traffic.marks].sort((a, b) => a.at - b.at);
  return { traffic: { marks, known: [] }, selectors };
}
