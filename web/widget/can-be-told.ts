import { page } from "#web/widget/page.ts";

/** Browsers take notifications over https alone, and on iPhones only where the page is on the home screen. */
export const canBeTold = (): boolean =>
  page.isOwnMap &&
  !page.framed &&
  "serviceWorker" in navigator &&
  "PushManager" in window &&
  "Notification" in window;

/** True on an iPhone whose owner has not put the page on the home screen yet, from where it could tell. */
export const isForHomeScreen = (): boolean =>
  page.isOwnMap &&
  !page.framed &&
  !canBeTold() &&
  (/iPhone|iPad/.test(navigator.userAgent) ||
    (navigator.userAgent.includes("Macintosh") && navigator.maxTouchPoints > 1));
