import { minuteMs } from "#src/domain/units.ts";
import { signal } from "@preact/signals";
import type { ShownAlerts } from "#src/contract/shapes/alert-radii.ts";
import type { Grade } from "#src/domain/vocabulary.ts";
import { recall } from "#web/kit/storage.ts";
import { deviceId } from "#web/widget/device.ts";
import { page } from "#web/widget/page.ts";
import type { Origin } from "#web/widget/place.ts";
import { language } from "#web/widget/words.ts";

/** The alerts of this device; null before the service has listed them. */
export const alerts = signal<ShownAlerts | null>(null);

/** The reason why a driver cannot get notifications. */
export type NotAsked = "forbidden" | "offline" | "browser" | "full" | "unavailable";

/** Asks for the alerts of a device that the service knows already. */
export async function loadAlerts(): Promise<void> {
  const device = recall("device");
  if (device !== null) await learn("mine", { device });
}

/** Has the service tell this browser when a station around gets the grade. Null when it will. */
export async function askToBeTold(
  grade: Grade,
  { lat, lon }: Pick<Origin, "lat" | "lon">,
  { radius_km, likely }: { radius_km: number; likely: boolean },
): Promise<NotAsked | null> {
  // First, while the browser still knows that somebody has pressed a button.
  if ((await Notification.requestPermission()) !== "granted") return "forbidden";
  const device = deviceId();
  const status = await learn("mine", { device });
  const known = alerts.peek();
  if (status === 0) return "offline";
  if (status !== 200 || known === null) return "unavailable";
  // A private window, or a browser whose push service is blocked or away.
  const subscription = await subscribe(known.key).catch((error: unknown) => console.warn(error));
  if (subscription === undefined) return "browser";
  const { timeZone: time_zone } = Intl.DateTimeFormat().resolvedOptions();
  const asked = await learn("ask", {
    ...{ device, grade, lat, lon, radius_km, likely, time_zone, lang: language },
    subscription: subscription.toJSON(),
  });
  return asked === 201 ? null : asked === 409 ? "full" : asked === 0 ? "offline" : "unavailable";
}

/** Ends an alert. False when the service does not answer. */
export async function stopTelling(id: number, token: string): Promise<boolean> {
  const ended = await call("stop", { id, token });
  if (ended === null || (!ended.ok && ended.status !== 404)) return false;
  const known = alerts.peek();
  if (known !== null)
    alerts.value = { ...known, alerts: known.alerts.filter((one) => one.id !== id) };
  return true;
}

/** Takes the browser's subscription back: a forgotten device gets no notifications (decisions 19.12). */
export async function endSubscription(): Promise<void> {
  alerts.value = null;
  if (!("serviceWorker" in navigator)) return;
  try {
    const registration = await navigator.serviceWorker.getRegistration(page.root);
    const subscription = await registration?.pushManager?.getSubscription();
    await subscription?.unsubscribe();
  } catch {
    // The service has forgotten it: nothing comes any more.
  }
}

async function subscribe(key: string): Promise<PushSubscription> {
  const registration = await worker();
  const before = await registration.pushManager.getSubscription();
  // One for another key, of a service that was set up anew, is of no use.
  if (before !== null && !isFor(before, key)) await before.unsubscribe();
  return registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
}

/** The map's own worker, once it is at work. */
async function worker(): Promise<ServiceWorkerRegistration> {
  const { serviceWorker } = navigator;
  const known = await serviceWorker.getRegistration(page.root);
  if (known === undefined)
    await serviceWorker.register(new URL("service-worker.js", page.root), { scope: page.root });
  // It never is where a file of it does not come: longer it does not take.
  const late = new Promise<never>((_, fail) => setTimeout(fail, minuteMs, new Error("no worker")));
  return Promise.race([serviceWorker.ready, late]);
}

function isFor({ options }: PushSubscription, key: string): boolean {
  const bytes = new Uint8Array(options.applicationServerKey ?? new ArrayBuffer(0));
  const text = btoa(String.fromCharCode(...bytes));
  return text.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "") === key;
}

/** The status of the answer, which is noted; 0 without one. */
async function learn(path: "mine" | "ask", body: object): Promise<number> {
  const answer = await call(path, body);
  if (answer?.ok === true) alerts.value = (await answer.json()) as ShownAlerts;
  return answer?.status ?? 0;
}

const call = (path: string, body: object): Promise<Response | null> =>
  fetch(new URL(`alerts/${path}`, page.root), {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  }).catch(() => null);
