import { writeFileSync } from "node:fs";
import Mocha from "mocha";

/**
 * Mocha's own report, and the counts as a file for the run's last line. Ends a process that the tests left
 * running, and says what keeps it: `--exit` would hide that.
 */
export default function report(runner: Mocha.Runner, options: Mocha.MochaOptions): void {
  const spec = new Mocha.reporters.Spec(runner, options);
  runner.once("end", () => {
    const { passes, failures, pending } = spec.stats;
    const counts = { passed: passes, failed: failures, skipped: pending };
    if (process.env.TEST_RESULT) writeFileSync(process.env.TEST_RESULT, JSON.stringify(counts));
    setTimeout(() => {
      console.error("The tests have ended, and this keeps the process alive:");
      console.error(process.getActiveResourcesInfo().join(", "));
      // Mocha sets the exit code in a listener of its own, from the failures alone.
      process.on("exit", () => {
        process.exitCode = 99;
      });
      process.exit();
    }, 10_000).unref();
  });
}
