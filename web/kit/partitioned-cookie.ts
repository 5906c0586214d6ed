import { dayS } from "#src/domain/units.ts";

const keptS = 400 * dayS;
// Browsers drop larger ones, and each goes along with every load of the page.
const longest = 3000;

/**
 * A frame's value under `name` where the browser forbids it a storage. Such a cookie belongs to this frame on
 * this website alone (CHIPS): the same viewer on another website has another, so nobody can be followed by it. It
 * goes along with the page's own folder only, and only over https.
 */
export function recallCookie(name: string): string | null {
  const start = `${name}=`;
  const found = document.cookie.split("; ").find((one) => one.startsWith(start));
  return found === undefined ? null : decodeURIComponent(found.slice(start.length));
}

/** Null forgets the value; a value that is too long is not kept. */
export function rememberCookie(name: string, value: string | null): void {
  const text = encodeURIComponent(value ?? "");
  const kept = value !== null && text.length <= longest;
  const folder = location.pathname.slice(0, location.pathname.lastIndexOf("/") + 1);
  document.cookie = `${name}=${kept ? text : ""}; Max-Age=${kept ? keptS : 0}; Path=${folder}; Secure; SameSite=None; Partitioned`;
}
