import type { Report } from "#src/contract/present.ts";

export type Waiters = ReturnType<typeof createWaiters>;

interface Entry {
  report: Report | null;
  waiting: Set<(report: Report | null) => void>;
  /** True between a request's announcement that it will wait and its wait. */
  expected: boolean;
}

/**
 * Requests of this process that wait for the outcome of a mark. `expect` is called before the mark is committed,
 * `wait` after it; the follower reads `ids()` and calls `settle`.
 */
export function createWaiters() {
  const entries = new Map<number, Entry>();
  let ended = false;
  const entryOf = (id: number): Entry => {
    const entry = entries.get(id) ?? { report: null, waiting: new Set(), expected: false };
    entries.set(id, entry);
    return entry;
  };
  const tidy = (id: number, entry: Entry): void => {
    if (!entry.expected && entry.waiting.size === 0) entries.delete(id);
  };
  return {
    expect: (ids: readonly number[]): void => ids.forEach((id) => (entryOf(id).expected = true)),
    forget: (ids: readonly number[]): void =>
      ids.forEach((id) => {
        const entry = entries.get(id);
        if (entry === undefined) return;
        entry.expected = false;
        tidy(id, entry);
      }),
    /** The mark's report, or null when it is not there within `ms` or the wait is given up. */
    wait: (id: number, ms: number) =>
      new Promise<Report | null>((resolve) => {
        const entry = entryOf(id);
        entry.expected = false;
        if (entry.report !== null || ms <= 0 || ended) {
          tidy(id, entry);
          return resolve(entry.report);
        }
        const done = (report: Report | null): void => {
          clearTimeout(timer);
          entry.waiting.delete(done);
          tidy(id, entry);
          resolve(report);
        };
        const timer = setTimeout(() => done(null), ms);
        entry.waiting.add(done);
      }),
    /** Ends all current and future waits, because the process stops. */
    giveUp(): void {
      ended = true;
      for (const { waiting } of entries.values()) [...waiting].forEach((done) => done(null));
    },
    ids: (): number[] => [...entries].flatMap(([id, entry]) => (entry.report === null ? id : [])),
    settle(reports: readonly Report[]): void {
      for (const report of reports) {
        const entry = entries.get(report.id);
        if (entry === undefined || report.outcome === null) continue;
        entry.report = report;
        [...entry.waiting].forEach((done) => done(report));
      }
    },
  };
}
