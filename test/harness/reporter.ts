import { writeFileSync } from "node:fs";
import { relative } from "node:path";
import Mocha from "mocha";

const slowestShown = 12;
/** So often a pending file is waited for. */
const looksMost = 12;

/**
 * Mocha's own report, the slowest files, and the counts as a file for the run's last line. Ends a process that the tests
 * left running, and says what keeps it: `--exit` would hide that.
 */
export default function report(runner: Mocha.Runner, options: Mocha.MochaOptions): void {
  const spec = new Mocha.reporters.Spec(runner, options);
  const msByFile = new Map<string, number>();
  const note = ({ file, duration = 0 }: Mocha.Runnable): void => {
    if (file !== undefined) msByFile.set(file, (msByFile.get(file) ?? 0) + duration);
  };
  runner.on("test end", note);
  runner.on("hook end", note);
  runner.once("end", () => {
    const { passes, failures, pending } = spec.stats;
    const counts = { passed: passes, failed: failures, skipped: pending };
    if (process.env["TEST_RESULT"])
      writeFileSync(process.env["TEST_RESULT"], JSON.stringify(counts));
    tellSlowest(msByFile);
    let looks = 0;
    const look = (): void => {
      const active = process.getActiveResourcesInfo();
      // A file that is read or written ends by itself, however late on a busy machine.
      if (active.some((kind) => kind.startsWith("FSReq")) && (looks += 1) < looksMost) return;
      console.error("The tests have ended, and this keeps the process alive:");
      console.error(active.join(", "));
      // Mocha sets the exit code in a listener of its own, from the failures alone.
      process.on("exit", () => {
        process.exitCode = 99;
      });
      process.exit();
    };
    setInterval(look, 10_000).unref();
  });
}

function tellSlowest(msByFile: ReadonlyMap<string, number>): void {
  if (msByFile.size < slowestShown) return;
  const slowest = [...msByFile].sort(([, a], [, b]) => b - a).slice(0, slowestShown);
  console.log("The slowest files:");
  for (const [file, ms] of slowest)
    console.log(`  ${(ms / 1000).toFixed(1).padStart(6)} s  ${relative(".", file)}`);
}
