import type { Intake } from "#api/marks/intake.ts";
import type { Metrics } from "#api/metrics/metrics.ts";

/** The intake, with every decision counted. */
export const countMarks = (intake: Intake, { marked }: Metrics): Intake => ({
  ...intake,
  submit: async (candidate) => {
    try {
      const admission = await intake.submit(candidate);
      marked(admission);
      return admission;
    } catch (error) {
      marked(null);
      throw error;
    }
  },
});
