import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { unpackPackages } from "#demo/servers/debian.ts";
import { findPlace } from "#demo/servers/place.ts";
import { dayMs, hourMs, minuteMs } from "#src/domain/units.ts";
import { type RoleProcess, startRoleProcess } from "#test/harness/processes.ts";
import { provided } from "#test/harness/provided.ts";

/** What a skipped test says. */
const noFaketime = "libfaketime is missing: install Debian's package libfaketime";

/** The wall clock of one process, or of several that share it. Monotonic clocks, timers and sockets go on normally. */
export interface FakeClock {
  /** From now on the wall clock is `offsetMs` ahead of the machine's; negative: behind. */
  set(offsetMs: number): void;
  offsetMs(): number;
  /** The environment of a process under this clock. */
  env: Record<string, string>;
}

const [second, year] = [1000, 365 * dayMs];

/** The steps that tests of clocks take, in ms. */
export const clockSteps = {
  "+5 s": 5 * second,
  "-5 s": -5 * second,
  "+5 min": 5 * minuteMs,
  "-5 min": -5 * minuteMs,
  "+25 h": 25 * hourMs,
  "-25 h": -25 * hourMs,
  "+1 year": year,
  "-1 year": -year,
} as const;

let library: Promise<string | null> | undefined;

/** libfaketime of the system, else of Debian's package, unpacked; null where neither can be had. */
export const findFaketime = (): Promise<string | null> => (library ??= lookForLibrary());

/** For a `before`: skips what needs a clock to set where there is none. */
export async function skipWithoutFaketime(test: Mocha.Context): Promise<void> {
  if ((await findFaketime()) !== null) return;
  console.log(`      ${noFaketime}: skipped`);
  test.skip();
}

async function lookForLibrary(): Promise<string | null> {
  const installed = libraryBelow("/usr/lib");
  if (installed !== null) return installed;
  const place = await findPlace(join(provided("TEST_DATA"), "..", "faketime"));
  const root = join(place.folder, `unpacked-${process.arch}`);
  const found = libraryBelow(join(root, "usr", "lib"));
  if (found !== null) return found;
  mkdirSync(place.folder, { recursive: true });
  return (await unpackPackages(["libfaketime"], root))
    ? libraryBelow(join(root, "usr", "lib"))
    : null;
}

function libraryBelow(folder: string): string | null {
  if (process.platform !== "linux" || !existsSync(folder)) return null;
  const files = ["", ...readdirSync(folder)].map((each) =>
    join(folder, each, "faketime", "libfaketimeMT.so.1"),
  );
  return files.find((file) => existsSync(file)) ?? null;
}

/** The files of all clocks, which are deleted at the end. */
const files: string[] = [];

/** A clock to start processes under. Throws where libfaketime is missing: ask `findFaketime` first. */
export async function createFakeClock(offsetMs = 0): Promise<FakeClock> {
  const preload = await findFaketime();
  if (preload === null) throw new Error(noFaketime);
  const folder = join(provided("TEST_DATA"), "fake-clocks");
  mkdirSync(folder, { recursive: true });
  const file = join(folder, randomBytes(6).toString("hex"));
  let offset = offsetMs;
  const set = (ms: number): void => {
    offset = ms;
    const seconds = `${ms < 0 ? "-" : "+"}${(Math.abs(ms) / 1000).toFixed(3)}s`;
    // Renamed, so that nobody reads half a file.
    writeFileSync(`${file}.new`, `${seconds}\n`);
    renameSync(`${file}.new`, file);
  };
  set(offsetMs);
  if (files.push(file) === 1)
    process.once("exit", () => files.forEach((each) => rmSync(each, { force: true })));
  return {
    set,
    offsetMs: () => offset,
    env: {
      LD_PRELOAD: preload,
      FAKETIME_TIMESTAMP_FILE: file,
      // The file is read at each call: a step takes effect at once.
      FAKETIME_NO_CACHE: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
    },
  };
}

/**
 * Starts a role as `startRoleProcess` does, under a wall clock that the test sets while it runs.
 *
 * @param clock an offset in ms to start with, or the clock of another process, to share it
 */
export async function startRoleUnderClock(
  role: string,
  env: Record<string, string>,
  clock: FakeClock | number = 0,
): Promise<RoleProcess & { clock: FakeClock }> {
  const fake = typeof clock === "number" ? await createFakeClock(clock) : clock;
  return { ...(await startRoleProcess(role, { ...env, ...fake.env })), clock: fake };
}
