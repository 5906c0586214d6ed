import { createServer } from "node:http";
import { fromGeojsonVt } from "@maplibre/vt-pbf";
import { listening } from "#test/harness/listening.ts";

/** What the host does with every request: answers, keeps silent, or answers 404, or with a page. */
export type StyleHostMood = "well" | "silent" | "missing" | "page" | "no-tiles";

export interface StyleHost {
  origin: string;
  mood: StyleHostMood;
  /** Paths that were asked for, oldest first. */
  asked: string[];
  stop(): Promise<void>;
}

/** The ground of the light and the dark style: colours that nothing else on the map has. */
export const styleColours = { light: [250, 128, 114], dark: [72, 61, 139] } as const;

const square = [0, 4096].flatMap((x) =>
  x === 0
    ? [
        [0, 0],
        [4096, 0],
      ]
    : [
        [4096, 4096],
        [0, 4096],
      ],
);
const ground = fromGeojsonVt(
  {
    ground: {
      features: [{ type: 3, tags: { name: "Тула" }, geometry: [[...square, [0, 0]]] }],
    } as never,
  },
  { version: 2 },
);

/** A host of MapLibre styles, `/styles/light` and `/styles/dark`, that has ground everywhere. */
export async function openStyleHost(): Promise<StyleHost> {
  const host: StyleHost = { origin: "", mood: "well", asked: [], stop: () => Promise.resolve() };
  const style = (theme: keyof typeof styleColours): object => ({
    version: 8,
    sources: { planet: { type: "vector", url: `${host.origin}/planet` } },
    glyphs: `${host.origin}/fonts/{fontstack}/{range}.pbf`,
    sprite: `${host.origin}/sprite`,
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
          tiles: [`${host.origin}/tiles/{z}/{x}/{y}`],
          maxzoom: 14,
          attribution: '<a href="https://maps.example/">© Mapmakers</a>',
        }),
    ],
    [/^\/tiles\//, () => Buffer.from(ground)],
  ];
  const server = createServer(({ url = "" }, response) => {
    host.asked.push(url);
    response.setHeader("Access-Control-Allow-Origin", "*");
    const { mood } = host;
    const found = answers.find(([path]) => path.test(url));
    if (mood === "silent") return;
    if (mood === "page") {
      response.setHeader("Content-Type", "text/html");
      response.end("<!doctype html><title>Please sign in</title>");
      return;
    }
    const isMissing = mood === "missing" || (mood === "no-tiles" && url.startsWith("/tiles/"));
    response.statusCode = found === undefined || isMissing ? 404 : 200;
    response.end(response.statusCode === 200 ? found![1]() : "");
  });
  const { origin, close } = await listening("the host of a style", server);
  return Object.assign(host, { origin, stop: close });
}
