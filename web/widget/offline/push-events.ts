import { isMapPage } from "#web/widget/offline/page-shell.ts";
import type { AlertMessage } from "#src/contract/alert-text.ts";

// Parts of a service worker's scope that the types of pages lack.
interface WorkerEvent extends Event {
  waitUntil(work: Promise<unknown>): void;
}
interface PushEvent extends WorkerEvent {
  data: { json(): unknown } | null;
}
interface ClickEvent extends WorkerEvent {
  action: string;
  notification: Notification;
}
interface PageClient {
  url: string;
  focus(): Promise<unknown>;
  navigate(url: string): Promise<unknown>;
}
interface PushScope {
  registration: ServiceWorkerRegistration;
  clients: {
    matchAll(options: { type: "window" }): Promise<PageClient[]>;
    openWindow(url: string): Promise<unknown>;
  };
  addEventListener(type: "push", listener: (event: PushEvent) => void): void;
  addEventListener(type: "notificationclick", listener: (event: ClickEvent) => void): void;
}

const stopAction = "stop";

/** Shows the service's messages to this driver, opens the station, and ends the alert by one tap (decisions 15.25). */
export function takePushes(scope: PushScope): void {
  const root = scope.registration.scope;
  scope.addEventListener("push", (event) => event.waitUntil(show(scope, event)));
  scope.addEventListener("notificationclick", (event) => {
    event.notification.close();
    const message = event.notification.data as AlertMessage;
    event.waitUntil(
      event.action === stopAction ? stop(root, message.stop) : open(scope, root + message.path),
    );
  });
}

async function show({ registration }: PushScope, event: PushEvent): Promise<void> {
  const message = event.data?.json() as AlertMessage;
  const { title, body, lang, tag } = message;
  // `actions` is not in the types of pages, and not in every browser: there a tap opens the map, which stops it too.
  const options = {
    ...{ body, lang, tag, data: message },
    actions: [{ action: stopAction, title: message.stop.label }],
  };
  await registration.showNotification(title, options);
}

async function stop(root: string, { id, token }: AlertMessage["stop"]): Promise<void> {
  await fetch(`${root}alerts/stop`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ id, token }),
  });
}

/** Opens `url` in an open map if the browser allows that, else in a new window. */
async function open({ clients, registration }: PushScope, url: string): Promise<void> {
  const root = new URL(registration.scope);
  const pages = await clients.matchAll({ type: "window" });
  // Other pages of the service may have a form that is half filled in.
  const page = pages.find((one) => isMapPage(root, new URL(one.url)));
  try {
    if (page === undefined) throw new Error("no page is open");
    await page.navigate(url);
    await page.focus();
  } catch {
    await clients.openWindow(url);
  }
}
