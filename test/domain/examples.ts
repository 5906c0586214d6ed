import { formatTime } from "#src/domain/time.ts";
import { view } from "#src/domain/view.ts";
import type { Mark } from "#src/domain/state.ts";
import { hour, minute, rules } from "#test/domain/marks.ts";
import { deliver } from "#test/domain/marks.ts";

/** A worked example of docs/rules.md: people and what they do, in order of delivery. */
export interface Example {
  title: string;
  why: string;
  /** Minutes before 12:00 at which each was first seen; a week by default. */
  firstSeen?: Record<string, number>;
  steps: Step[];
}

/** A mark at a minute after 12:00, or only a look at what is served then. */
type Step =
  | {
      at: number;
      who: string;
      says: Mark["status"];
      as?: keyof typeof kinds;
      observed?: number;
      more?: Partial<Mark> & { network?: string };
    }
  | { at: number; look: true };

export const noon = Date.UTC(2026, 0, 15, 12);
const day = 24 * hour;
/** In minutes. */
const week = 7 * 24 * 60;

/** What a price of 95 out of line needs. */
const pricesNeeded = { "95": 2 } as const;

export const examples: Example[] = [
  {
    title: "One person at the station is enough",
    why: "A `yes`, `low` or `queue` with a position at the station needs one device.",
    steps: [
      { at: 0, who: "Anna", says: "yes", more: { fuels: ["92", "95"], prices: { "95": 62.5 } } },
      { at: 40, who: "Boris", says: "yes", more: { fuelsNo: ["92"] } },
    ],
  },
  {
    title: "A remote mark waits for a second person",
    why: "A mark without a position at the station is remote and needs two devices. The same person again is still one device.",
    steps: [
      { at: 0, who: "Anna", says: "low", as: "remote" },
      { at: 25, who: "Anna", says: "low", as: "remote" },
      { at: 30, who: "Boris", says: "low", as: "remote" },
    ],
  },
  {
    title: "Phones first seen together are one device",
    why: "Boris was first seen 9 minutes after Anna, and Vera 11 minutes after Anna.",
    firstSeen: { Anna: 7 * 24 * 60, Boris: 7 * 24 * 60 - 9, Vera: 7 * 24 * 60 - 11 },
    steps: [
      { at: 0, who: "Anna", says: "yes", as: "remote" },
      { at: 5, who: "Boris", says: "yes", as: "remote" },
      { at: 10, who: "Vera", says: "yes", as: "remote" },
    ],
  },
  {
    title: "`no` needs two devices where others were active",
    why: "Another person has made a mark here or within 500 m in the last 30 minutes, so a single `no` does not change the status.",
    steps: [
      { at: 0, who: "Anna", says: "yes" },
      { at: 25, who: "Boris", says: "no", as: "near others" },
      { at: 30, who: "Vera", says: "no", as: "near others" },
    ],
  },
  {
    title: "A new person is not enough against a confirmed `no`",
    why: "Dina was first seen an hour before noon. Two devices support `no`, and Anna and Boris have been known for a week, so Dina's `yes` needs two devices. Vera has been known for longer too: her own mark needs one.",
    firstSeen: { Anna: week, Boris: week - 60, Dina: 60, Vera: week - 120 },
    steps: [
      { at: 0, who: "Anna", says: "no" },
      { at: 5, who: "Boris", says: "no", as: "near others" },
      { at: 30, who: "Dina", says: "yes", as: "new against `no`" },
      { at: 40, who: "Vera", says: "yes" },
    ],
  },
  {
    title: "`no` by new people needs three devices against a known person",
    why: "Dina, Egor and Faina were first seen in the last hours, Anna a week ago.",
    firstSeen: { Anna: week, Dina: 60, Egor: 120, Faina: 180 },
    steps: [
      { at: 0, who: "Anna", says: "yes" },
      { at: 20, who: "Dina", says: "no", as: "new against fuel" },
      { at: 25, who: "Egor", says: "no", as: "new against fuel" },
      { at: 30, who: "Faina", says: "no", as: "new against fuel" },
    ],
  },
  {
    title: "New devices of one network are one device",
    why: "All three use the widget in one network. Dina and Egor are in their first day and count as one device, although they were first seen an hour apart. Vera was first seen a week ago and counts as a device of her own.",
    firstSeen: { Dina: 60, Egor: 120, Vera: week },
    steps: [
      { at: 0, who: "Dina", says: "yes", as: "remote", more: { network: "home" } },
      { at: 5, who: "Egor", says: "yes", as: "remote", more: { network: "home" } },
      { at: 10, who: "Vera", says: "yes", as: "remote", more: { network: "home" } },
    ],
  },
  {
    title: "A detail of a remote mark waits for a second device",
    why: "Boris's mark is remote: that 92 is gone, and his price, count only when Vera says the same.",
    steps: [
      { at: 0, who: "Anna", says: "yes", more: { fuels: ["92", "95"], prices: { "95": 62.5 } } },
      {
        at: 20,
        who: "Boris",
        says: "yes",
        as: "remote",
        more: { fuelsNo: ["92"], prices: { "95": 58 } },
      },
      {
        at: 30,
        who: "Vera",
        says: "yes",
        as: "remote",
        more: { fuelsNo: ["92"], prices: { "95": 58 } },
      },
    ],
  },
  {
    title: "A price far from those around waits for a second device",
    why: "The stations around sell 95 for 60 roubles in the median. Boris's 999 is more than 30 % above it, so his mark counts and his price does not, although he is at the station. Gleb's 900 is not within 5 % of 999, Vera's 980 is.",
    steps: [
      { at: 0, who: "Anna", says: "yes", more: { prices: { "95": 62.5 } } },
      { at: 20, who: "Boris", says: "yes", more: { prices: { "95": 999 }, pricesNeeded } },
      { at: 25, who: "Gleb", says: "yes", more: { prices: { "95": 900 }, pricesNeeded } },
      { at: 30, who: "Vera", says: "yes", more: { prices: { "95": 980 }, pricesNeeded } },
    ],
  },
  {
    title: "Two against two is a dispute",
    why: "Both sides have two devices within the last hour, and the new version does not have more weight. With a third device it has.",
    steps: [
      { at: 0, who: "Anna", says: "yes" },
      { at: 1, who: "Boris", says: "yes" },
      { at: 10, who: "Vera", says: "no", as: "near others" },
      { at: 12, who: "Gleb", says: "no", as: "near others" },
      { at: 20, who: "Dina", says: "no", as: "near others" },
    ],
  },
  {
    title: "A dispute ends by itself when the marks of one side get old",
    why: "At 13:00 Anna's mark is an hour old. The served side then has fewer than two devices, and the new version is published at this moment.",
    steps: [
      { at: 0, who: "Anna", says: "yes" },
      { at: 1, who: "Boris", says: "yes" },
      { at: 10, who: "Vera", says: "no", as: "near others" },
      { at: 12, who: "Gleb", says: "no", as: "near others" },
      { at: 59, look: true },
      { at: 60, look: true },
    ],
  },
  {
    title: "A late mark counts from the time when it was made",
    why: "Boris's mark of 12:10 is delivered after Anna's mark of 12:30. Anna's mark is newer and says the opposite, so Boris's mark changes nothing.",
    steps: [
      { at: 30, who: "Anna", says: "no" },
      { at: 45, who: "Boris", says: "yes", observed: 10 },
    ],
  },
  {
    title: "A key with a threshold of three",
    why: "The threshold applies only to marks through that key. It never holds back the mark of another driver.",
    steps: [
      { at: 0, who: "Anna", says: "queue", as: "threshold 3", more: { queue: "10-20" } },
      { at: 2, who: "Boris", says: "queue", as: "threshold 3" },
      { at: 4, who: "Vera", says: "queue" },
    ],
  },
];

const clock = (ms: number): string => {
  const [date, time] = formatTime(ms).split(" ") as [string, string];
  return `${date === "2026-01-15" ? "" : "next day "}${time.slice(0, 5)}`;
};

/** What a mark needs, as the first processing leaves it. */
const kinds = {
  remote: { remote: true, needed: 2, rule: "remote" },
  "near others": { remote: false, needed: 2, rule: "no-nearby-marks" },
  "threshold 3": { remote: false, needed: 3, rule: "key-threshold" },
  "new against `no`": { remote: false, needed: 2, rule: "caution" },
  "new against fuel": { remote: false, needed: 3, rule: "caution" },
  "at the station": { remote: false, needed: 1, rule: "geolocated" },
} as const;

const needsOf = ({ needed, rule, pricesNeeded: prices = {} }: Mark): string =>
  [`${needed} (${rule})`, ...Object.values(prices).map((of) => `price ${of}`)].join("; ");

/** The example as Markdown, with what `decide` says of every step. */
export function render(example: Example): string {
  const people = [...new Set(example.steps.flatMap((step) => ("who" in step ? [step.who] : [])))];
  const seen = (reporterId: number): number => {
    const who = people[reporterId - 1]!;
    const ago = example.firstSeen?.[who];
    return ago === undefined ? noon - 30 * day + reporterId * hour : noon - ago * minute;
  };
  const marks: Mark[] = [];
  const lines = example.steps.map((step) => {
    const now = noon + step.at * minute;
    if (!("look" in step)) {
      const kind = kinds[step.as ?? "at the station"];
      const at = noon + (step.observed ?? step.at) * minute;
      marks.push({
        id: marks.length + 1,
        reporterId: people.indexOf(step.who) + 1,
        at,
        status: step.says,
        ...kind,
        ...step.more,
      });
    }
    const { state, outcomes } = deliver(marks, now, seen);
    const fuel = view(state, now, rules.statusLifetimeMs);
    const outcome = "look" in step ? undefined : outcomes.get(marks.length);
    const said =
      "look" in step
        ? ["(no mark)", "", "", ""]
        : [
            step.who,
            `\`${step.says}\`${step.observed === undefined ? "" : `, made at ${clock(noon + step.observed * minute)}`}`,
            needsOf(marks.at(-1)!),
            `\`${outcome!.outcome}\`, has ${outcome!.have}`,
          ];
    const served = [
      fuel.status,
      fuel.fuels_now && `has ${fuel.fuels_now}`,
      fuel.fuels_no && `out of ${fuel.fuels_no}`,
      fuel.prices,
    ]
      .filter(Boolean)
      .join("; ");
    const pending =
      fuel.pending_status === "" ? "" : `\`${fuel.pending_status}\` ${fuel.pending_count}`;
    const counts = `${fuel.confirmations} / ${fuel.real_count}`;
    return [clock(now), ...said, served, counts, pending];
  });
  const heads = ["Time", "Who", "Mark", "Needs", "Outcome", "Served", "Counts", "Pending"];
  const row = (cells: readonly string[]): string =>
    `| ${cells.filter((_, column) => lines.some((line) => line[column] !== "")).join(" | ")} |`;
  return [
    `### ${example.title}`,
    "",
    example.why,
    "",
    row(heads),
    row(heads.map(() => "---")),
    ...lines.map(row),
  ].join("\n");
}
