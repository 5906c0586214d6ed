import { fromGeojsonVt } from "@maplibre/vt-pbf";
import type { Page } from "playwright-core";

/** What the host does with every request: answers, keeps silent, or answers 404, or with a page. */
export type StyleHostMood = "well" | "silent" | "missing" | "page" | "no-tiles";

/** The ground of the light and the dark style: colours that nothing else on the map has. */
export const styleColours = { light: [250, 128, 114], dark: [72, 61, 139] } as const;

const ring = [
  [0, 0],
  [4096, 0],
  [4096, 4096],
  [0, 4096],
  [0, 0],
];
const ground = fromGeojsonVt(
  {
    ground: {
      features: [{ type: 3, tags: { name: "Тула" }, geometry: [ring] }],
    } as never,
  },
  { version: 2 },
);

/**
 * Stands for a host of MapLibre styles, `/styles/light` and `/styles/dark`, that has ground everywhere, in what a page
 * asks for. Gives the paths that were asked for, oldest first.
 */
export async function serveStyles(
  page: Page,
  origin: string,
  mood: StyleHostMood = "well",
): Promise<string[]> {
  const style = (theme: keyof typeof styleColours): object => ({
    version: 8,
    sources: { planet: { type: "vector", url: `${origin}/planet` } },
    glyphs: `${origin}/fonts/{fontstack}/{range}.pbf`,
    sprite: `${origin}/sprite`,
    layers: [
      {
        id: "ground",
        type: "fill",
        source: "planet",
        "source-layer": "ground",
        paint: { "fill-color": `rgb(${styleColours[theme].join()})` },
      },
      {
        id: "names",
        type: "symbol",
        source: "planet",
        "source-layer": "ground",
        layout: { "text-field": "{name}", "icon-image": "dot", "text-font": ["Noto Sans Regular"] },
      },
    ],
  });
  const answers: [path: RegExp, body: () => string | Buffer][] = [
    [/^\/styles\/(light|positron)$/, () => JSON.stringify(style("light"))],
    [/^\/styles\/dark$/, () => JSON.stringify(style("dark"))],
    [
      /^\/planet$/,
      () =>
        JSON.stringify({
          tiles: [`${origin}/tiles/{z}/{x}/{y}`],
          maxzoom: 14,
          attribution: '<a href="https://maps.example/">© Mapmakers</a>',
        }),
    ],
    [/^\/tiles\//, () => Buffer.from(ground)],
  ];
  const asked: string[] = [];
  await page.route(`${origin}/**`, async (route) => {
    const path = new URL(route.request().url()).pathname;
    asked.push(path);
    if (mood === "silent") return;
    const headers = { "Access-Control-Allow-Origin": "*" };
    const found = answers.find(([pattern]) => pattern.test(path));
    const isMissing = mood === "missing" || (mood === "no-tiles" && path.startsWith("/tiles/"));
    if (mood === "page")
      await route.fulfill({
        headers,
        contentType: "text/html",
        body: "<!doctype html><title>Sign in</title>",
      });
    else if (found === undefined || isMissing) await route.fulfill({ status: 404, headers });
    else await route.fulfill({ headers, body: found[1]() });
  });
  return asked;
}
