import { allEntries, attempt } from "#web/widget/offline/waiting-marks.ts";
import { refusalOf, type Told } from "#web/widget/told.ts";

/** The name under which the browser wakes the worker when it is connected again. */
export const syncTag = "marks";
/** The channel on which pages hear of changes. */
export const channelName = "fuelmark-marks";

/** Sends waiting marks without a page. Rejects when one goes on waiting, so that the browser tries again. */
export async function sendFromWorker(): Promise<void> {
  const open = (await allEntries()).filter(({ refused }) => refused === null);
  let waits = false;
  for (const { id, notBefore } of open) {
    if (notBefore > Date.now()) {
      waits = true;
      continue;
    }
    const told = await attempt(id, async ({ api, key }, { path, body }) => {
      try {
        const response = await fetch(api + path, {
          method: "POST",
          headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
          body: JSON.stringify(body),
        });
        return response.ok ? arrived : await refusalOf(response);
      } catch {
        return { kind: "offline" };
      }
    });
    if (told !== undefined && told.kind !== "ok" && told.kind !== "refused") waits = true;
  }
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has but one origin
  new BroadcastChannel(channelName).postMessage("changed");
  if (waits) throw new Error("Marks are still waiting.");
}

const arrived: Told<null> = { kind: "ok", body: null, etag: null };
