/** What a page may be framed by and may use; without it nobody frames it, and it uses nothing. */
export interface PageRights {
  /** Sources of `frame-ancestors`. */
  ancestors?: readonly string[];
  /** The page shows the map, or frames it: it may ask where the viewer is. */
  located?: boolean;
}

/**
 * The headers of every page (docs/decisions.md 15.10).
 *
 * @param policy the content security policy, without `frame-ancestors`
 */
export const pageHeaders = (
  policy: string,
  { ancestors = ["'none'"], located = false }: PageRights = {},
): Record<string, string> => ({
  "Content-Security-Policy": `${policy}; frame-ancestors ${ancestors.join(" ")}`,
  "Permissions-Policy": `${unused.map((feature) => `${feature}=()`).join(", ")}, geolocation=${located ? "(self)" : "()"}`,
  // A page in a frame is not affected.
  "Cross-Origin-Opener-Policy": "same-origin",
});

/** What no page of ours uses. `fullscreen` and the clipboard are not among it. */
const unused = [
  "camera",
  "display-capture",
  "hid",
  "microphone",
  "midi",
  "payment",
  "serial",
  "usb",
];
