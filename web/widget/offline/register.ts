import { page } from "#web/widget/page.ts";

/** Lets the service worker keep the map for later, once the map itself has been loaded (decisions 15.19). */
export function keepPageForLater(): void {
  // A map in a partner's frame is a part of another page.
  if (page.framed || !page.isOwnMap || !("serviceWorker" in navigator)) return;
  const register = (): void => {
    navigator.serviceWorker
      .register(new URL("service-worker.js", page.root), { scope: page.root })
      .catch((error: unknown) => console.warn(error));
  };
  if (document.readyState === "complete") register();
  else addEventListener("load", register, { once: true });
}
