import { createHash } from "node:crypto";
import { hourMs } from "#src/domain/units.ts";

let isSetUp = false;
let pauses = 0;

/** Something was set up of which a test could ask how old it is: a database with what stands in it. */
export const noteSetUp = (): void => {
  isSetUp = true;
};

/**
 * Between set-up and test lies as much time as the machine takes: milliseconds or seconds. So that no test counts on
 * either, `npm run test:long` waits here for a time that is drawn from the run's seed and the file's name
 * (demo/testrun.ts).
 */
export async function pauseAfterSetUp(file: string): Promise<void> {
  const range = process.env["TEST_PAUSE_MS"];
  if (!isSetUp || !range) return;
  isSetUp = false;
  const ms = drawPauseMs(range, `${process.env["TEST_SEED"]} ${file} ${pauses++}`);
  await new Promise((resolve) => setTimeout(resolve, ms));
}

/** @param range "LOW-HIGH" in ms, or one number */
export function drawPauseMs(range: string, from: string): number {
  const [low = 0, high = low] = range.split("-").map(Number);
  return low + (createHash("sha256").update(from).digest().readUInt32BE() % (high - low + 1));
}

/** Longer than nearly every file of tests takes. */
const hourEndMs = 90_000;

/** How long to wait before a file is begun at `now`: what is left of an hour of which little is left, else 0. */
export function leftOfHourMs(now: number): number {
  const left = hourMs - (now % hourMs);
  return left > hourEndMs ? 0 : left;
}

/** Alarms are counted by the hour, usage and marks by the day (UTC), and tests count them: no file begins at an hour's end. */
export async function pauseAtHoursEnd(): Promise<void> {
  const ms = leftOfHourMs(Date.now());
  if (ms === 0) return;
  console.log(`      waiting ${Math.ceil(ms / 1000)} s for the next hour`);
  // The clock of a server may be a little behind.
  await new Promise((resolve) => setTimeout(resolve, ms + 1000));
}
