import { hasFuel, stationAnswer } from "#src/domain/grade-answer.ts";
import { fadingOf } from "#web/widget/age.ts";
import { grade } from "#web/widget/grade.ts";
import {
  badgeOf,
  filled,
  noDataPx,
  ringGap,
  ringsPx,
  ringSteps,
  ringWidthPx,
  signGrowth,
  stationPx,
} from "#web/widget/looks.ts";
import { shownStatuses, signs } from "#web/widget/signs.ts";
import type { Sketched } from "#web/widget/sketch.ts";
import { now } from "#web/widget/state.ts";

interface Drawn {
  group: Sketched;
  zoom: number;
}

/** Width of the drawing, pixels. */
export const widthOf = (group: Sketched, zoom: number): number =>
  group.stations.length === 1 ? stationPx * growthAt(zoom) : ringOf(group.stations.length);

/** Size of signs at that zoom, as a part of their full size. */
function growthAt(zoom: number): number {
  const { from, size, to } = signGrowth;
  const share = Math.min(1, Math.max(0, (zoom - from) / (to - from)));
  return size + share * (1 - size);
}

/** Diameter of a ring; with a grade the number in it is longer. */
function ringOf(count: number): number {
  const least = grade.value === null ? 0 : 1;
  return ringsPx[Math.min(3, Math.max(least, String(count).length - 1 + least)) as 0 | 1 | 2 | 3];
}

/** A station, around its middle. */
export const SketchedSign = ({ group, zoom }: Drawn) => {
  const station = group.stations[0]!;
  const { fuel } = station;
  const status = stationAnswer(station, grade.value);
  const { outline, mark, colour } = signs[status];
  const inner = status === "nodata" ? noDataPx : stationPx;
  const fading = fadingOf(station, grade.value, now.value);
  const isEmpty = filled[fading] < 0.5;
  const badge = badgeOf(fuel);
  const onRim = inner * (status === "nodata" ? 0.33 : 0.4);
  return (
    <g transform={`scale(${growthAt(zoom)})`}>
      <g transform={`scale(${inner / 24}) translate(-12 -12)`}>
        <path class="rim" d={outline} />
        <path
          d={outline}
          fill={`var(${colour})`}
          fill-opacity={filled[fading]}
          stroke={isEmpty ? `var(${colour})` : "none"}
          stroke-width={fading === 3 ? 1.2 : 2}
        />
        <path class="line" d={mark} stroke={`var(${isEmpty ? colour : "--on-status"})`} />
      </g>
      {badge === "" ? null : (
        <g class={`doubt ${badge}`} transform={`translate(${onRim} ${-onRim})`}>
          <circle r="7" />
          <text>{badge === "conflict" ? "!" : "?"}</text>
        </g>
      )}
    </g>
  );
};

/** Several stations as a ring of their answers, around its middle. */
export const SketchedRing = ({ group: { stations } }: Drawn) => {
  const answers = stations.map((station) => stationAnswer(station, grade.value));
  const shares = shownStatuses.map((status) => {
    const count = answers.filter((one) => one === status).length;
    return Math.max(Math.min(1, count), Math.round((ringSteps * count) / stations.length));
  });
  const whole = shares.reduce((sum, share) => sum + share, 0);
  const size = ringOf(stations.length);
  const count = shortly(stations.length);
  let before = 0;
  return (
    <>
      <circle class="plate" r={size / 2 + 1} />
      {shownStatuses.map((status, at) => {
        const share = shares[at]!;
        if (share === 0) return null;
        const from = (before / whole) * 2 * Math.PI;
        const long = (share / whole) * 2 * Math.PI;
        before += share;
        const gap = share === whole ? 0 : ringGap;
        const r = size / 2 - ringWidthPx / 2;
        return (
          <circle
            key={status}
            class="part"
            r={r}
            stroke={`var(${signs[status].colour})`}
            stroke-width={ringWidthPx}
            stroke-dasharray={`${(long - 2 * gap) * r} ${2 * Math.PI * r}`}
            stroke-dashoffset={-(from + gap) * r}
          />
        );
      })}
      <text class="count" font-size={grade.value === null ? sizeOf(stations.length) : 12}>
        {grade.value === null ? count : `${answers.filter(hasFuel).length}/${count}`}
      </text>
    </>
  );
};

/** The count as the map library writes it: 1.2k. */
const shortly = (count: number): string =>
  count >= 10_000
    ? `${Math.round(count / 1000)}k`
    : count >= 1000
      ? `${Math.round(count / 100) / 10}k`
      : String(count);

const sizeOf = (count: number): number => (count < 100 ? 13 : count < 1000 ? 14 : 15);
