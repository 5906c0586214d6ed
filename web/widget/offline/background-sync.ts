import { allEntries, attempt } from "#web/widget/offline/waiting-marks.ts";
import type { WaitingEntry } from "#web/widget/offline/waiting-entry.ts";
import { refusalOf, type Report } from "#web/widget/told.ts";

/** The name under which the browser wakes the worker when it is connected again. */
export const syncTag = "marks";
/** A mark that the worker has sent, and the answer. */
export interface Arrived {
  entry: WaitingEntry;
  report: Report;
}

/** The channel on which pages hear what the worker has sent. */
export const channelName = "fuelmark-marks";

/** Sends waiting marks without a page. Rejects when one goes on waiting, so that the browser tries again. */
export async function sendFromWorker(): Promise<void> {
  const open = (await allEntries()).filter(({ refused }) => refused === null);
  let waits = false;
  const arrived: Arrived[] = [];
  for (const { id, notBefore } of open) {
    if (notBefore > Date.now()) {
      waits = true;
      continue;
    }
    const told = await attempt<Report>(id, async (entry, { path, body }) => {
      const { api, key } = entry;
      try {
        const response = await fetch(api + path, {
          method: "POST",
          headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
          body: JSON.stringify(body),
        });
        if (!response.ok) return await refusalOf(response);
        // What is said of a station itself has no answer.
        const report = (await response.json().catch(() => null)) as Report;
        if (report !== null || entry.status === null) arrived.push({ entry, report });
        return { kind: "ok", body: report, etag: null };
      } catch {
        return { kind: "offline" };
      }
    });
    if (told !== undefined && told.kind !== "ok" && told.kind !== "refused") waits = true;
  }
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has but one origin
  new BroadcastChannel(channelName).postMessage(arrived);
  if (waits) throw new Error("Marks are still waiting.");
}
