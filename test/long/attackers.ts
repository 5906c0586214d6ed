import { slices } from "#src/infrastructure/lists.ts";
import { grades, type Status } from "#src/domain/vocabulary.ts";
import {
  addressOf,
  blockSize,
  type Ground,
  type Request,
  type Said,
  serving,
} from "#test/long/attack-country.ts";
import { inBatches } from "#test/long/attack-stage.ts";

/**
 * Conditions of a rollback. `time`: received from the first lie to the last; `first seen`: by people first seen between
 * the first and the last of the attacker's.
 */
export type Condition = "secret key" | "network" | "city" | "status" | "time" | "first seen";

export interface Attack {
  name: string;
  ground: Ground;
  /** Marks of the day before, by which the attacker's users become known. */
  dayBefore?: () => Request[];
  /** Each is sent ten and a half minutes after the one before: devices first seen together count as one. */
  waves: readonly ((ground: Ground) => Request[])[];
  /** The most stations that the rules let it move. */
  movedMost: number;
  /** The alarm that it raises; `marks-held` where it crosses a limit of the review. */
  alarm: "marks-held" | "first-statuses" | null;
  /**
   * How an operator undoes it: three conditions, and the highest share of honest marks that may go along. The goal is one
   * in a hundred; it is missed where newcomers say the same in the same city or through the same key meanwhile.
   */
  undo: { by: readonly Condition[]; status: Status; honestMost: number };
}

const users = 500;
const networks = 26;
const ofTwenty = 20;

/** The users of a stolen key become known, each by a `yes` in a block of its own. */
const madeOnDayZero = (): Request[] =>
  inBatches(
    Array.from({ length: users }, (_, n) => ({
      ...{ station: n * blockSize, who: `army-${n}`, address: null, atStation: true },
      said: { status: "yes" },
    })),
  );

/** Each user says `no` at the six stations of its block: 3,000 marks in 12 requests. */
const armySaysNo = (): Request[] => [
  ...slices(
    Array.from({ length: users * blockSize }, (_, n) => ({
      ...{ station: (n % users) * blockSize + Math.floor(n / users), who: `army-${n % users}` },
      ...{ address: null, atStation: true, said: { status: "no" as const } },
    })),
    250,
  ),
];

/** A `no` at every station of city 0, each from a new device, through addresses in turn. */
const cityWave =
  (wave: number, atStation: boolean) =>
  ({ stationsOfCity }: Ground): Request[] =>
    Array.from({ length: stationsOfCity }, (_, station) => {
      const bot = wave * stationsOfCity + station;
      const who = `bot-${bot}`;
      return [
        { station, who, address: addressOf(bot % networks), atStation, said: { status: "no" } },
      ];
    });

/** Every grade out, a litre a person, cards only, and a price that nobody pays. */
const useless: Said = {
  status: "yes",
  fuels_no: grades,
  limit_l: 1,
  no_cash: true,
  fuel_cards_only: true,
  prices: Object.fromEntries(grades.map((grade) => [grade, 999.99])),
};

/** 24 marks of 20 devices at one address; who marks twice does so within two kilometres. */
const uselessDetails = (atStation: boolean) => (): Request[] =>
  Array.from({ length: 24 }, (_, station) => {
    const who = `bot-${station < ofTwenty ? station : 18 + (station % 2)}`;
    return [{ station, who, address: addressOf(1), atStation, said: useless }];
  });

/** 500 new users in one request, each with a `yes` at a station that serves this. */
const newUsersSayYes =
  (where: "nodata" | "no") =>
  (ground: Ground): Request[] =>
    inBatches(
      serving(ground, where)
        .slice(0, users)
        .map((station, n) => ({
          ...{ station, who: `zero-${n}`, address: null, atStation: true },
          said: { status: "yes" },
        })),
    );

const city181: Ground = { cities: 3, stationsOfCity: 181, yes: 0.4, no: 0.15 };
const allHaveFuel: Ground = { cities: 2, stationsOfCity: 120, yes: 1, no: 0 };
const citiesOf150 = { cities: 4, stationsOfCity: 150 };
const threeWaves = [0, 1, 2];

/**
 * The attacks that are carried out against running processes. One is elsewhere: 2,000 live marks at one station and then a
 * late one (`test/workers/busy-station.test.ts`).
 */
export const attacks: readonly Attack[] = [
  {
    name: "one key: 500 users made on day 0 say `no` at 3,000 stations on day 1, 12 requests",
    ground: { cities: 20, stationsOfCity: 150, yes: 0.4, no: 0.15 },
    dayBefore: madeOnDayZero,
    waves: [armySaysNo],
    movedMost: 20,
    alarm: "marks-held",
    undo: { by: ["secret key", "first seen", "time"], status: "no", honestMost: 0.01 },
  },
  ...[false, true].map((atStation): Attack => ({
    name: `the map: 543 made-up devices on 26 addresses say \`no\` at a city's 181 stations, ${atStation ? "positions claimed" : "no positions"}`,
    ground: city181,
    waves: threeWaves.map((wave) => cityWave(wave, atStation)),
    movedMost: 20,
    alarm: "marks-held",
    undo: { by: ["city", "first seen", "status"], status: "no", honestMost: 0.02 },
  })),
  {
    name: "one address: 20 devices make 24 stations useless by details, no positions",
    ground: allHaveFuel,
    waves: [uselessDetails(false)],
    movedMost: 0,
    alarm: null,
    undo: { by: ["network", "first seen", "status"], status: "yes", honestMost: 0.01 },
  },
  {
    name: "one address: 20 devices make 24 stations useless by details, positions claimed",
    ground: allHaveFuel,
    waves: [uselessDetails(true)],
    movedMost: 20,
    alarm: "marks-held",
    undo: { by: ["network", "first seen", "status"], status: "yes", honestMost: 0.01 },
  },
  {
    name: "one key on its day 0: 500 `yes` at stations without a status, positions claimed",
    ground: { ...citiesOf150, yes: 0.05, no: 0.05 },
    waves: [newUsersSayYes("nodata")],
    // No rule holds what brings a station its first status (decisions 4.3, 4.19).
    movedMost: users,
    alarm: "first-statuses",
    undo: { by: ["secret key", "first seen", "status"], status: "yes", honestMost: 0.1 },
  },
  {
    name: "one key on its day 0: 500 `yes` at stations that serve `no`, positions claimed",
    ground: { ...citiesOf150, yes: 0.05, no: 0.9 },
    waves: [newUsersSayYes("no")],
    movedMost: 20,
    alarm: "marks-held",
    undo: { by: ["secret key", "first seen", "status"], status: "yes", honestMost: 0.1 },
  },
];
