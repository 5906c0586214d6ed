import { createChances } from "#src/domain/chance/chances.ts";
import { shippedNumbers } from "#src/domain/chance/numbers.ts";
import { dayMs, hourMs } from "#src/domain/units.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { fifthFalse } from "#bench/trust/attackers/fifth.ts";
import type { Case } from "#bench/trust/cases.ts";
import { play, type Played } from "#bench/trust/chance/measure.ts";
import { createScore } from "#bench/trust/chance/score.ts";
import { median, tableOf } from "#bench/trust/report.ts";
import { hadFuel, localHours } from "#bench/trust/truth.ts";
import type { HonestKind } from "#bench/trust/world.ts";

const stations = 100;
const lookEveryMs = hourMs;
const busy: HonestKind = "twice the refills, fuel for twice as long";

const honest = (kind: HonestKind): Case => ({
  name: `${kind}, honest`,
  honest: kind,
  attack: null,
});
const lies = (kind: HonestKind, status: "no" | "yes", old: boolean): Case => ({
  name: `${kind}, 20 % false \`${status}\`, ${old ? "old accounts" : "newcomers"}`,
  honest: kind,
  attack: (scene) => fifthFalse(scene, { status, old, positions: true }),
});
const cases = [
  honest("usual"),
  honest("twice the refills, fuel for half as long"),
  honest(busy),
  ...[true, false].map((old) => lies("usual", "no", old)),
  lies("usual", "yes", true),
  lies(busy, "no", true),
];

interface Day {
  brier: number;
  calibration: number;
  /** Mean share of lies that was believed of honest marks as they came. */
  none: number;
  fuel: number;
}

/** The chance over weeks, in one memory: what is learnt of lies must not drift. A row for each case, figures by day. */
export function monthOf(
  seeds: readonly number[],
  days: number,
  config: Config,
  tell: (line: string) => void,
): string {
  const shown = [1, 3, 6, 10, 15, 20, 25, 30].filter((day) => day <= days);
  const lines = cases.map((one): string[] => {
    const startedAt = performance.now();
    const rows = seeds.map((seed) =>
      daysOf(play(seed, { stations, hours: 24 * days }, config, one), days),
    );
    tell(`${one.name}: ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
    const column = (of: keyof Day): string =>
      shown
        .map((day) => (median(rows.map((row) => row[day - 1]![of])) ?? NaN).toFixed(3))
        .join(" ");
    return [one.name, column("brier"), column("calibration"), column("none"), column("fuel")];
  });
  const head = ["Brier", "calibration error", "honest `no` taken for lies", "honest fuel"];
  return tableOf(["case", ...head.map((what) => `${what}, day ${shown.join(" ")}`)], lines);
}

function daysOf({ country, truth, window, sent, counted }: Played, days: number): Day[] {
  const sentKey = (at: number, id: string): string => `${at} ${id}`;
  const lied = new Set(
    sent.flatMap((mark) =>
      mark.honest ? [] : sentKey(mark.at, country.stations[mark.station]!.id),
    ),
  );
  let share: number | null = null;
  const ahead = (): number => localHours * hourMs;
  const chances = createChances(shippedNumbers, ahead, undefined, undefined, (_, heard) => {
    share = heard.share;
  });
  const taken = Array.from({ length: days }, () => ({
    score: createScore(),
    none: { marks: 0, lies: 0 },
    fuel: { marks: 0, lies: 0 },
  }));
  const dayOf = (at: number) => taken[Math.floor((at - window.from) / dayMs)];
  let next = 0;
  for (let at = window.from; at < window.until; at += lookEveryMs) {
    for (; (counted[next]?.at ?? Infinity) <= at; next += 1) {
      const mark = counted[next]!;
      share = null;
      chances.take([mark]);
      const day = dayOf(mark.at);
      if (share === null || day === undefined || lied.has(sentKey(mark.at, mark.stationId)))
        continue;
      const sum = day[mark.fuel ? "fuel" : "none"];
      sum.marks += 1;
      sum.lies += share;
    }
    country.stations.forEach(({ id }, station) => {
      const chance = chances.chanceAt(id, at);
      if (chance !== null) dayOf(at)!.score.note(chance, hadFuel(truth, station, at));
    });
  }
  return taken.map(({ score, none, fuel }) => ({
    brier: score.brier(),
    calibration: score.calibration(),
    none: none.lies / none.marks,
    fuel: fuel.lies / fuel.marks,
  }));
}
