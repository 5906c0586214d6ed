import { relative } from "node:path";
import { takeCoverage } from "node:v8";
import fc from "fast-check";
import { releaseHeld } from "#test/harness/leaks.ts";
import { activeResources, newResources } from "#test/harness/active.ts";
import { pauseAfterSetUp, pauseAtHoursEnd } from "#test/harness/pause.ts";
import { takeBroken, watchFetch } from "#test/harness/watched.ts";

const throwIt = (reason: unknown): never => {
  throw reason;
};

// The launcher chooses (demo/testrun.ts); a failure that fast-check reports names its own seed.
const seed = process.env["TEST_SEED"];
if (seed) fc.configureGlobal({ seed: Number(seed) });

watchFetch();
await pauseAtHoursEnd();
let before: string[] = [];

// Once per test file, but `beforeEach`.
export const mochaHooks = {
  beforeAll(): void {
    // mocha passes with exit 0 when a promise that nobody awaits is rejected, and between two files of one process it
    // takes all listeners away.
    if (!process.listeners("unhandledRejection").includes(throwIt))
      process.on("unhandledRejection", throwIt);
    before = activeResources();
  },
  async beforeEach(this: Mocha.Context): Promise<void> {
    await pauseAfterSetUp(relative(".", this.currentTest?.file ?? ""));
  },
  async afterAll(this: Mocha.Context): Promise<void> {
    this.timeout(240_000);
    // A parallel job is ended sooner than it could write it.
    if (process.env["NODE_V8_COVERAGE"]) takeCoverage();
    const left = await releaseHeld();
    if (left.length > 0) throw new Error(`tests left behind:\n  ${left.join("\n  ")}`);
    // A test that catches errors has not seen these.
    const broken = takeBroken();
    if (broken.length > 0) throw new Error(broken.join("\n"));
    const running = await newResources(before);
    if (running.length > 0)
      throw new Error(`${fileOf(this)} left these running: ${running.join(", ")}`);
    // A parallel job may load another file now.
    if (process.env["MOCHA_WORKER_ID"]) await pauseAtHoursEnd();
  },
};

const fileOf = ({ test }: Mocha.Context): string => test?.parent?.suites[0]?.file ?? "a test";
