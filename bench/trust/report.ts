import type { Case } from "#bench/trust/cases.ts";
import type { Row } from "#bench/trust/row.ts";

/** A case with its row of each seed. */
export interface Measured {
  of: Case;
  rows: readonly Row[];
}

/** The middle value; of an even number the lower one, so that it is a value that was measured. Null sorts last. */
export function median(values: readonly (number | null)[]): number | null {
  const sorted = values
    .map((value) => (value === null || Number.isNaN(value) ? Number.POSITIVE_INFINITY : value))
    .sort((a, b) => a - b);
  const middle = sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.POSITIVE_INFINITY;
  return middle === Number.POSITIVE_INFINITY ? null : middle;
}

export const percent = (value: number | null): string =>
  value === null ? "–" : `${(value * 100).toFixed(1)} %`;
export const whole = (value: number | null): string => (value === null ? "–" : value.toFixed(0));
export const tableOf = (head: readonly string[], lines: readonly (readonly string[])[]): string =>
  [head, head.map(() => "---"), ...lines].map((cells) => `| ${cells.join(" | ")} |`).join("\n");

/** Tables of what the rules do to honest people and to attackers, medians over the seeds. */
export const reportOf = (measured: readonly Measured[]): string =>
  [
    "What is served, and what becomes of honest marks:",
    served(measured),
    "What attackers reach:",
    reached(measured.filter(({ of }) => of.attack !== null)),
  ].join("\n\n");

const served = (measured: readonly Measured[]): string =>
  tableOf(
    [
      "case",
      "agreement",
      "false `no`",
      "false fuel",
      "lag of `no` p50 / p90 min",
      "`no` never published",
      "honest marks",
      "held",
      "refused",
      "last mark wins: agreement / false `no` / false fuel",
    ],
    measured.map(({ of, rows }) => {
      const middle = (pick: (row: Row) => number | null): number | null => median(rows.map(pick));
      return [
        of.name,
        percent(middle((row) => row.agreement)),
        percent(middle((row) => row.falseNo)),
        percent(middle((row) => row.falseFuel)),
        `${whole(middle((row) => row.lag.p50))} / ${whole(middle((row) => row.lag.p90))}`,
        percent(middle((row) => row.lag.never)),
        whole(middle((row) => row.honest.sent)),
        percent(middle((row) => row.honest.held / row.honest.sent)),
        percent(middle((row) => row.honest.refused / row.honest.sent)),
        [
          percent(middle((row) => row.rival.agreement)),
          percent(middle((row) => row.rival.falseNo)),
          percent(middle((row) => row.rival.falseFuel)),
        ].join(" / "),
      ];
    }),
  );

const reached = (measured: readonly Measured[]): string =>
  tableOf(
    [
      "case",
      "marks sent",
      "counted",
      "held",
      "stations moved",
      "any field of them",
      "min to the alarm",
      "rollback takes of the lies",
      "honest marks along",
    ],
    measured.map(({ of, rows }) => {
      const middle = (pick: (attack: NonNullable<Row["attack"]>) => number | null) =>
        median(rows.map((row) => pick(row.attack!)));
      return [
        of.name,
        whole(middle((attack) => attack.sent)),
        whole(middle((attack) => attack.counted)),
        whole(middle((attack) => attack.held)),
        whole(middle((attack) => attack.moved.acted)),
        whole(middle((attack) => attack.moved.anyField)),
        alarm(middle((attack) => attack.alarmMin)),
        percent(middle((attack) => attack.rolledBack.lies)),
        `${whole(middle((attack) => attack.rolledBack.honest))} (${percent(middle((attack) => attack.rolledBack.honestShare))})`,
      ];
    }),
  );

const alarm = (min: number | null): string => (min === null ? "never" : min.toFixed(1));
