import { dashboardCall } from "#api/dashboard/viewer.ts";
import type { Services } from "#api/http/services.ts";
import type { SentDay, SentMarks } from "#src/contract/dashboard.ts";
import { countSentMarks } from "#src/marks/marks-sent.ts";

const days = 7;
const countedMax = 100_000;
const rememberedMs = 5000;

/** What became of the marks that the partner's servers and pages have sent. */
export function marksCall({ db, clock }: Services) {
  // Counting takes up to half a second: however many look, it is done once in this time.
  const counted = new Map<number, { at: number; days: Promise<SentDay[]> }>();
  const count = (partnerId: number, now: number): Promise<SentDay[]> => {
    for (const [id, { at }] of counted) if (now - at >= rememberedMs) counted.delete(id);
    const known = counted.get(partnerId);
    if (known !== undefined) return known.days;
    const fresh = countSentMarks(db, partnerId, now, days, countedMax);
    counted.set(partnerId, { at: now, days: fresh });
    fresh.catch(() => counted.delete(partnerId));
    return fresh;
  };
  return dashboardCall("GET", "/marks", {}, async (ctx) => {
    ctx.body = {
      days: await count(ctx.state.viewer.key.partnerId, clock()),
      counted_max: countedMax,
    } satisfies SentMarks;
  });
}
