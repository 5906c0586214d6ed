import type { Params } from "#web/widget/params.ts";

/** A map in a partner's page, as the partner has chosen it. */
export interface Embedding extends Omit<Params, "gestures" | "station"> {
  /** The map's address, with a slash at its end: `https://fuel.example/widget/`. */
  address: string;
  /** Null leaves it to the map: it shares the wheel and one finger with the page around it. */
  gestures: Params["gestures"] | null;
  /** Pixels (`640`) or a part of the page (`100%`). */
  width: string;
  heightPx: number;
  /** The frame's name for screen readers. */
  title: string;
}

/**
 * The line of HTML that puts the map into a page (docs/contract.md 4.11). A height is always set, the locate and
 * fullscreen buttons are allowed, and the page's origin goes along: the check of the key's domains needs no more.
 */
export function embedLine(embedding: Embedding): string {
  const { width, heightPx, title } = embedding;
  const attributes = {
    src: mapAddress(embedding),
    title,
    width,
    height: String(heightPx),
    allow: "geolocation; fullscreen",
    loading: "lazy",
    referrerpolicy: "strict-origin",
    style: "border:0",
  };
  const written = Object.entries(attributes).map(([name, value]) => `${name}="${escape(value)}"`);
  return `<iframe ${written.join(" ")}></iframe>`;
}

/** The address of the map with its parameters, without those that are at their default. */
export function mapAddress(embedding: Embedding): string {
  const { address, key, city, point, theme, fuel, gestures, language, accent } = embedding;
  const query = new URLSearchParams(key === "" ? {} : { key });
  if (point !== null)
    for (const name of ["lat", "lon", "zoom"] as const) query.set(name, String(point[name]));
  else if (city !== "") query.set("city", city);
  if (theme !== "auto") query.set("theme", theme);
  if (fuel !== null) query.set("fuel", fuel);
  if (!embedding.showFilter) query.set("nofilter", "1");
  if (!embedding.showSearch) query.set("nosearch", "1");
  if (embedding.themeLocked) query.set("themelock", "1");
  if (gestures !== null) query.set("gestures", gestures);
  if (language !== null) query.set("lang", language);
  if (accent !== null) query.set("accent", accent);
  // Every program that may read the line understands a blank as %20.
  return `${address}?${query.toString().replaceAll("+", "%20")}`;
}

const entities: Record<string, string> = {
  "&": "&amp;",
  '"': "&quot;",
  "<": "&lt;",
  ">": "&gt;",
};

const escape = (text: string): string => text.replace(/[&"<>]/g, (one) => entities[one]!);
