import type { MeasuredChance } from "#bench/trust/chance/report.ts";
import type { Tenth } from "#bench/trust/chance/score.ts";

/** Pixels of the square in which both axes go from 0 to 100 %, and the space around it. */
const side = 360;
const margin = { left: 56, top: 36, bottom: 52, right: 310 };

const colours = ["#0f766e", "#b45309", "#be123c", "#1d4ed8"];
const ticks = [0, 20, 40, 60, 80, 100];

const x = (percent: number): string => (margin.left + (percent / 100) * side).toFixed(1);
const y = (percent: number): string => (margin.top + side - (percent / 100) * side).toFixed(1);

/**
 * An SVG of what was said against how often it came true, all seeds together: a line for each
 * case, a point for each tenth that was said, as large as its share of all looks. A chance that
 * means what it says lies on the dashed line.
 */
export function calibrationPicture(measured: readonly MeasuredChance[]): string {
  const width = margin.left + side + margin.right;
  const height = margin.top + side + margin.bottom;
  const grid = ticks.map(
    (tick) =>
      `<path d="M${x(tick)} ${y(0)}V${y(100)}M${x(0)} ${y(tick)}H${x(100)}" stroke="#e5e7eb"/>` +
      `<text x="${x(tick)}" y="${margin.top + side + 18}" text-anchor="middle">${tick} %</text>` +
      `<text x="${margin.left - 8}" y="${y(tick)}" dy="4" text-anchor="end">${tick} %</text>`,
  );
  const lines = measured.map(({ of, rows }, at) => {
    const colour = colours[at % colours.length]!;
    const points = tenthsOf(rows.map(({ tenths }) => tenths));
    const path = points.map(({ said, came }) => `${x(said)} ${y(came)}`).join("L");
    const dots = points.map(
      ({ said, came, share }) =>
        `<circle cx="${x(said)}" cy="${y(came)}" r="${(3 + 12 * Math.sqrt(share)).toFixed(1)}"/>`,
    );
    const left = margin.left + side + 20;
    const top = margin.top + 14 + at * 22;
    return (
      `<g fill="${colour}"><path d="M${path}" fill="none" stroke="${colour}" stroke-width="1.5"/>` +
      `<g fill-opacity="0.55">${dots.join("")}</g><circle cx="${left}" cy="${top - 4}" r="5"/>` +
      `<text x="${left + 12}" y="${top}">${of.name.replaceAll("`", "")}</text></g>`
    );
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="system-ui, sans-serif" font-size="12" fill="#374151" role="img" aria-label="Chance of fuel that was said, against the share of looks at which the station had fuel">`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    ...grid,
    `<path d="M${x(0)} ${y(0)}L${x(100)} ${y(100)}" stroke="#6b7280" stroke-dasharray="5 4"/>`,
    ...lines,
    `<text x="${margin.left + side / 2}" y="${height - 12}" text-anchor="middle">chance that was said</text>`,
    `<text x="${margin.left}" y="20">share of looks at which the station had fuel</text>`,
    "</svg>",
    "",
  ].join("\n");
}

/** Tenths of all seeds together, as per cents; those that were never said are left out. */
function tenthsOf(seeds: readonly (readonly Tenth[])[]) {
  const sums = Array.from({ length: 10 }, (_, at) =>
    seeds.reduce(
      (sum, tenths) => ({
        count: sum.count + tenths[at]!.count,
        said: sum.said + tenths[at]!.said,
        came: sum.came + tenths[at]!.came,
      }),
      { count: 0, said: 0, came: 0 },
    ),
  );
  const all = sums.reduce((total, { count }) => total + count, 0);
  return sums
    .filter(({ count }) => count > 0)
    .map(({ count, said, came }) => ({
      said: (100 * said) / count,
      came: (100 * came) / count,
      share: count / all,
    }));
}
