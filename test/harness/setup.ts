import { releaseHeld } from "#test/harness/leaks.ts";
import { takeBroken, watchFetch } from "#test/harness/watched.ts";

// mocha passes with exit 0 when a promise that nobody awaits is rejected.
process.on("unhandledRejection", (reason) => {
  throw reason;
});

watchFetch();

export const mochaHooks = {
  async afterAll(this: Mocha.Context): Promise<void> {
    this.timeout(30_000);
    const left = await releaseHeld();
    if (left.length > 0) throw new Error(`tests left behind:\n  ${left.join("\n  ")}`);
    // A test that catches errors has not seen these.
    const broken = takeBroken();
    if (broken.length > 0) throw new Error(broken.join("\n"));
  },
};
