import { dashboardCall } from "#api/dashboard/viewer.ts";
import type { Services } from "#api/services.ts";
import type { SentMarks } from "#src/domain/dashboard.ts";
import { countSentMarks } from "#src/marks-sent.ts";

const days = 7;
const countedMax = 200_000;

/** What became of the marks that the partner's servers and pages have sent. */
export const marksCall = ({ db, clock }: Services) =>
  dashboardCall({
    method: "GET",
    path: "/marks",
    async handle({ viewer: { key } }) {
      const body: SentMarks = {
        days: await countSentMarks(db, key.partnerId, clock(), days, countedMax),
        counted_max: countedMax,
      };
      return { body };
    },
  });
