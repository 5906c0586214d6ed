import {
  type AdmitFacts,
  type AdmitRules,
  type Admission,
  admit,
  type IncomingMark,
} from "#src/domain/admit.ts";
import type { PriceRules } from "#src/domain/price-line.ts";
import { type Config, loadConfig } from "#src/infrastructure/config.ts";
import { t0 } from "#test/domain/marks.ts";

/** The rules as they are when nothing is set. */
export const defaults: AdmitRules & PriceRules & Pick<Config, "newReportersDaily"> = loadConfig({});

export const station = { lat: 55, lon: 37 };
/** A point `m` metres north of the station. */
export const north = (m: number) => ({ lat: 55 + m / 111_195.08, lon: 37 });

/** What a test says of a mark; the rest is a `yes` at station a by user one through key 1 of partner 1. */
export type Sent = Partial<IncomingMark> & { atMs: number };

export interface Desk {
  facts: AdmitFacts;
  send(sent: Sent): Admission;
  /** The reporter takes the mark of that number back (decisions 15.36). */
  takeBack(reporter: string, id: number): void;
  /** Has an operator block the reporter. */
  block(reporter: string): void;
  /** Marks a reporter as first seen `ms` before t0. */
  meet(reporter: string, ms: number): void;
}

/** Intake over an empty country: each mark that is sent meets what was accepted before it. Times are ms after t0. */
export function openDesk(rules = defaults): Desk {
  const facts: AdmitFacts = {
    now: t0,
    reporters: new Map(),
    externalIds: new Map(),
    newReporters: new Map(),
    nearby: new Map(),
    sharedNetworks: new Set(),
    blocked: new Set(),
    pendingStatus: new Map(),
  };
  const blocked = new Set<string>();
  facts.blocked = blocked;
  let id = 0;
  return {
    facts,
    block: (reporter) => void blocked.add(reporter),
    send: ({ atMs, ...more }) => {
      facts.now = t0 + atMs;
      const incomingMark: IncomingMark = {
        stationId: "a",
        station,
        nearbyIds: ["a"],
        medians: {},
        status: "yes",
        reporter: "one",
        partnerId: 1,
        keyId: 1,
        viewer: null,
        confirms: false,
        externalId: null,
        observedAt: null,
        lat: station.lat,
        lon: station.lon,
        accM: null,
        express: false,
        comment: null,
        confirmMin: 0,
        reports: true,
        acceptRemote: true,
        newUsersLimit: rules.newReportersDaily,
        ...more,
      };
      return admit(facts, incomingMark, (id += 1), rules);
    },
    takeBack: (reporter, of) => {
      const past = facts.reporters.get(reporter)!.recent.find((one) => one.id === of)!;
      past.takenBack = true;
    },
    meet: (reporter, ms) =>
      void facts.reporters.set(reporter, {
        identity: reporter,
        firstSeen: t0 - ms,
        recent: [],
        located: [],
      }),
  };
}

/** An admission in one word: what it is, or the code of the problem. */
export const verdict = (admission: Admission): string =>
  admission.kind === "refused"
    ? admission.problem.code
    : admission.kind === "duplicate"
      ? `duplicate of ${admission.of}`
      : admission.review === "none"
        ? "accepted"
        : admission.review;
