import { releaseHeld } from "#test/harness/leaks.ts";

// mocha passes with exit 0 when a promise that nobody awaits is rejected.
process.on("unhandledRejection", (reason) => {
  throw reason;
});

export const mochaHooks = {
  async afterAll(this: Mocha.Context): Promise<void> {
    this.timeout(30_000);
    const left = await releaseHeld();
    if (left.length > 0) throw new Error(`tests left behind:\n  ${left.join("\n  ")}`);
  },
};
