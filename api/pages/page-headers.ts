/** Rights of a page. By default nobody may frame it, and it may not ask for the viewer's place. */
export interface PageRights {
  /** Sources of `frame-ancestors`. */
  ancestors?: readonly string[];
  /** The page shows the map, or frames it: it may ask where the viewer is. */
  located?: boolean;
}

/**
 * The headers of every page (decisions 15.10).
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
  ...(ancestors.includes("'none'") ? {} : isolatedHeaders),
});

/**
 * Lets pages that are cross-origin isolated show ours in a frame, or use our files (decisions 21.33): browsers
 * demand both of a framed page, and the second of the worker scripts that it runs.
 */
export const isolatedHeaders = {
  "Cross-Origin-Resource-Policy": "cross-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
} as const;

/** Browser features that none of our pages uses. The pages use `fullscreen` and the clipboard. */
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
