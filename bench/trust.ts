import { writeFileSync } from "node:fs";
import { loadConfig } from "#src/infrastructure/config.ts";
import { dayMs, hourMs } from "#src/domain/units.ts";
import { cases } from "#bench/trust/cases.ts";
import { chanceCases } from "#bench/trust/chance/cases.ts";
import { costOf } from "#bench/trust/chance/cost.ts";
import { dumpGrowth } from "#bench/trust/chance/dump.ts";
import { measureChance, play } from "#bench/trust/chance/measure.ts";
import { monthOf } from "#bench/trust/chance/month.ts";
import { calibrationPicture } from "#bench/trust/chance/picture.ts";
import { chanceReport, type MeasuredChance } from "#bench/trust/chance/report.ts";
import { frontierOf } from "#bench/trust/frontier.ts";
import { type Measured, reportOf } from "#bench/trust/report.ts";
import { createMeasurer } from "#bench/trust/row.ts";
import { figuresOf } from "#bench/trust/truth.ts";
import { makeWorld, type Size } from "#bench/trust/world.ts";

export interface TrustOptions {
  seeds: readonly number[];
  /** A small country for a day: it shows that everything runs, its figures mean little. */
  quick: boolean;
  /** Only cases whose name holds one of these; all when empty. */
  only: readonly string[];
  /** Where the picture of the calibration goes. */
  picture?: URL;
}

const usual: Size = { stations: 506, hours: 50 };
const small: Size = { stations: 60, hours: 36 };

/** The rules' numbers as a new installation has them; no database is opened. */
const usualConfig = () => loadConfig({ DATABASE_URL: "postgres://127.0.0.1/unused" });

/** What a status is worth: the product's rules on a country whose truth is known. Needs no servers. */
export function benchTrust({ seeds, quick, only }: TrustOptions): string {
  const size = quick ? small : usual;
  const config = usualConfig();
  const chosen = cases.filter(
    ({ name }) => only.length === 0 || only.some((part) => name.includes(part)),
  );
  const measurers = seeds.map((seed) => createMeasurer(seed, size, config));
  const measured = chosen.map((of): Measured => {
    const startedAt = performance.now();
    const rows = measurers.map((measure) => measure(of));
    console.log(`${of.name}: ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
    return { of, rows };
  });
  return [
    `A simulated country of ${size.stations} stations in three cities, ${size.hours} h after a first day, with known truth; honest traffic and attackers as \`bench/trust\` has them; the product's own rules over a simulated clock. *Agreement*: share of station time in which the served family was the true one. *False \`no\`*: share of time with fuel. *False fuel*: share of time without. *Lag*: from the first honest mark of a time without fuel until \`no\` is served. *Moved*: something that a driver acts on (status, grades, prices, queue, limit, flags, dispute) was another than without the attack, for any time; *any field*: counts, pending marks and times, too. *Last mark wins*: no rules at all.`,
    truthOf(seeds, size),
    reportOf(measured),
    commandOf("", { seeds, quick }),
  ].join("\n\n");
}

/** What other numbers in the rules would give and take, where a goal is not reached. `only`: parts of variants' names. */
export function benchFrontier({ seeds, quick, only }: TrustOptions): string {
  const size = quick ? small : usual;
  return [
    `The product's rules with other settings, in the simulated country of the section \`trust\` (${size.stations} stations, ${size.hours} h): each row changes a few numbers towards a goal that is not reached. Without a remark, figures are of honest traffic alone. All attackers are at the stations, or claim it.`,
    frontierOf(seeds, size, usualConfig(), only, console.log),
    commandOf("--frontier", { seeds, quick }),
  ].join("\n\n");
}

/** What a chance beside the status is worth. `only`: parts of cases' names. */
export async function benchChance({ seeds, quick, only, picture }: TrustOptions): Promise<string> {
  const size = quick ? small : usual;
  const config = usualConfig();
  const chosen = chanceCases.filter(
    ({ name }) => only.length === 0 || only.some((part) => name.includes(part)),
  );
  const measured = chosen.map((of): MeasuredChance => {
    const startedAt = performance.now();
    const rows = seeds.map((seed) => measureChance(play(seed, size, config, of)));
    console.log(`${of.name}: ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
    return { of, rows };
  });
  const first = play(seeds[0]!, size, config, chanceCases[0]!);
  const { gzip, brotli } = dumpGrowth(first);
  const share = (of: number): string => `${(100 * of).toFixed(1)} %`;
  if (picture !== undefined) writeFileSync(picture, calibrationPicture(measured.slice(0, 4)));
  return [
    `The chance of \`src/domain/chance\` with its shipped numbers, in the simulated country of the section \`trust\` (${size.stations} stations, ${size.hours} h), beside what is published and what the last mark says. All are believed of the same stations at the same moments: a random one of every ten minutes, stations of which a mark has been counted. *Brier*: mean squared distance to the truth, 1 or 0; a status counts as 1 or 0 too, none as the usual share of time with fuel, 28 %. *Decay*: the last mark, fading to this share. *Calibration error*: mean distance between what was said and how often it came true, by tenths. *Trip*: a driver at a random place in the square around a city takes the first stop, within 6 km; share with fuel on arrival. Where no fuel is shown, the nearest station; *possible*: some station within 6 km has fuel. The model hears counted marks only, and of each what the product knows. Truth and traffic are simulated: no real series stands behind these figures, and the model knows the numbers by which the usual traffic is made.`,
    chanceReport(measured, costOf(first)),
    `A dump of 30,000 stations, of which 60 % have a chance, grows by it by ${share(gzip)} in gzip and ${share(brotli)} in brotli.`,
    commandOf("--chance", { seeds, quick }),
  ].join("\n\n");
}

/** The chance over weeks in a small country. */
export function benchChanceMonth({ seeds, quick }: TrustOptions, days: number): string {
  return [
    `The chance in one memory for ${days} days, 100 stations: what is learnt of lies must not drift. *Taken for lies*: the mean share of lies that is believed of honest marks as they come.`,
    monthOf(seeds, days, usualConfig(), console.log),
    commandOf(`--chance --days ${days}`, { seeds, quick }),
  ].join("\n\n");
}

const commandOf = (option: string, { seeds, quick }: Pick<TrustOptions, "seeds" | "quick">) =>
  `\`npm run bench -- trust${option === "" ? "" : ` ${option}`}${quick ? " --quick" : ""} --seeds ${seeds.join(",")}\`. ${seeds.length === 1 ? "One seed." : `Medians of ${seeds.length} seeds.`}`;

/** Shows how near the simulated truth is to the real series. */
function truthOf(seeds: readonly number[], size: Size): string {
  const lines = seeds.map((seed) => {
    const { truth, from, until } = makeWorld(seed, "usual", size).scene;
    const { yesMedianH, noMedianH, changes, fuelShare } = figuresOf(truth, from, until);
    const perDay = (changes / truth.length / (until - from)) * dayMs;
    return `seed ${seed}: ${yesMedianH.toFixed(1)} h, ${noMedianH.toFixed(1)} h, ${perDay.toFixed(2)}, ${(fuelShare * 100).toFixed(0)} %`;
  });
  const real = ((1556 / 506 / (49.6 * hourMs)) * dayMs).toFixed(2);
  return `Truth: median time with fuel and without, changes per station and day, share of time with fuel. Real series: 1.4 h, 7.9 h, ${real}. ${lines.join("; ")}.`;
}
