import { spawnSync } from "node:child_process";
import { expect } from "chai";
import { rows } from "#src/infrastructure/db.ts";
import { addKey, addPartner, useEdge } from "#test/api/edge.ts";
import { removeStation, writeStations } from "#test/api/reads-country.ts";
import { until } from "#test/flow/client.ts";

const AsyncFunction = (async () => {}).constructor as new (
  ...parts: string[]
) => (process: object, print: object) => Promise<void>;

interface Page {
  text: string;
  /** Addresses on this server, without what follows `#`. */
  links: string[];
}

describe("pages of the API and of the guide", () => {
  const edge = useEdge();
  let key: string;
  /** All below `/docs`, by their address. */
  const pages = new Map<string, Page>();
  const others = new Map<string, string>();

  before(async function () {
    this.timeout(120_000);
    key = await addKey(edge.db, await addPartner(edge.db));
    const toRead = [`${edge.origin}/docs`, `${edge.origin}/docs?lang=ru`];
    for (const url of toRead) {
      if (pages.has(url)) continue;
      const response = await fetch(url);
      expect(response.status, url).to.equal(200);
      const text = await response.text();
      const found = [...text.matchAll(/<a [^>]*?href="([^"]*)"/g)].map(([, href]) => {
        const link = new URL(href!, url);
        if (link.hash !== "") others.set(link.href, url);
        return link.href.replace(link.hash, "");
      });
      const links = found.filter((link) => link.startsWith(`${edge.origin}/`));
      pages.set(url, { text, links });
      for (const link of links) {
        const { pathname, search } = new URL(link);
        const isDocs = /^\/docs(\/(guide|api)\/[^.]+|\/guide)?$/.test(pathname);
        // Each page leads to itself in the other language: it is read from the beginning in that language.
        if (isDocs && search === new URL(url).search) toRead.push(link);
        else others.set(link, url);
      }
    }
  });

  const pathsOf = (prefix: string): string[] =>
    [...pages.keys()]
      .map((url) => url.slice(edge.origin.length))
      .filter((path) => path.startsWith(prefix) && !path.includes("?"));
  const plain = (html: string): string =>
    html
      .replaceAll("&lt;", "<")
      .replaceAll("&gt;", ">")
      .replaceAll("&quot;", '"')
      .replaceAll("&#39;", "'")
      .replaceAll("&amp;", "&");

  it("are one web: every link of every page leads to something that is there", async () => {
    expect(pathsOf("/docs/guide")).to.include.members(
      [
        ...["get-a-key", "the-first-call", "the-record-of-a-station", "keep-a-copy", "send-marks"],
        ...[
          "test-with-dry-runs",
          "errors",
          "limits",
          "webhooks",
          "versions",
          "embedding",
          "dashboard",
        ],
      ].map((name) => `/docs/guide/${name}`),
    );
    for (const [link, from] of others) {
      const { hash, href } = new URL(link);
      const url = href.replace(hash, "");
      const page = pages.get(url);
      if (page === undefined) {
        if (!url.startsWith(`${edge.origin}/`)) continue;
        const response = await fetch(url);
        await response.arrayBuffer();
        expect(response.status, `${url} on ${from}`).to.equal(200);
      } else if (hash !== "")
        expect(page.text, `${link} on ${from}`).to.contain(` id="${decodeURI(hash.slice(1))}"`);
    }
    for (const [url, { text }] of pages) {
      expect(text.match(/<h1/g), url).to.have.length(1);
      expect(text.match(/aria-current="page"/g), url).to.have.length(1);
      expect(text, url).not.to.match(/\{(base|main|root|sidebar|title|other|home)\}/);
      expect(text, url).not.to.match(/ style="| on\w+="/);
    }
  });

  it("have a frame in the visitor's language, which the links keep where it was chosen", async () => {
    const read = async (path: string, accepted: string): Promise<string> => {
      const headers = { "Accept-Language": accepted };
      const response = await fetch(edge.origin + path, { headers });
      expect(response.headers.get("vary"), path).to.match(/Accept-Language/);
      return response.text();
    };
    const russian = await read("/docs/guide/limits", "ru-RU,ru;q=0.9,en;q=0.5");
    expect(russian).to.match(/<html lang="ru">[^]*<h1 id="лимиты">Лимиты<\/h1>/);
    expect(russian).to.contain('<a href="../../docs/guide/keep-a-copy"');
    const chosen = await read("/docs/guide/limits?lang=en", "ru");
    expect(chosen).to.match(/<html lang="en">[^]*<h1 id="limits">Limits<\/h1>/);
    expect(chosen).to.contain('<a href="../../docs/guide/keep-a-copy?lang=en"');
    const call = await read("/docs/api/reportStation?lang=ru", "en");
    for (const words of ["Тело", "Ответы", "Попробовать", "необязательно", ", от 1 до 10000"])
      expect(call).to.contain(words);
    // What is said of the calls stays English, and says so to who hears it.
    expect(call).to.match(/<p lang="en">Your id of the mark/);
    expect(await read("/docs/guide/contract?lang=ru", "")).to.contain('<div lang="en"><h1');
    expect(await read("/problems/bad-grade", "ru")).to.contain("Что делать");
    const texts = JSON.parse(await read("/docs/search.json?lang=ru", "")) as object;
    expect(texts).to.have.property("/docs/guide/limits").that.contains("запросом");
    expect(Object.keys(texts)).to.have.length(pathsOf("/docs/").length);
  });

  it("are known by their ETag, and unknown ones are 404", async () => {
    for (const path of ["/docs", "/docs/guide/limits", "/docs/api/getUsage"]) {
      const etag = (await fetch(edge.origin + path)).headers.get("etag")!;
      const again = await fetch(edge.origin + path, { headers: { "If-None-Match": etag } });
      expect(again.status, path).to.equal(304);
    }
    for (const path of ["/docs/guide/nothing", "/docs/api/nothing", "/docs/api/constructor"])
      expect((await fetch(edge.origin + path)).status, path).to.equal(404);
  });

  it("show calls with a station and a city that are there, and the document stays as it is", async () => {
    const document = await (await fetch(`${edge.url}/openapi.json`)).text();
    const read = async (path: string) => (await fetch(`${edge.origin}/docs/${path}`)).text();
    expect(await read("api/getStation")).to.include("/stations/n1234567");
    const places = ["n-9", "l-1", "b_2"].map((id, n) => ({ id, lat: 45 + n / 10, lon: 7 }));
    await writeStations(edge.db, places);
    await rows(
      edge.db,
      `insert into cities (id, source, name, region, lat, lon, population) values ('c', 'test', 'L''Aquila', '', 42, 13, 70000)`,
    );
    await rows(edge.db, "notify cities");
    await until(
      () => read("api/listStations"),
      (text) => text.includes("<code>b_2</code>") && text.includes("city=L&#39;Aquila&quot;"),
    );
    expect(await read("api/getStation"))
      .to.include("/stations/b_2")
      .and.not.include("n1234567");
    await removeStation(edge.db, "b_2");
    await until(
      () => read("api/getStation"),
      (text) => text.includes("/stations/l-1"),
    );
    expect(await (await fetch(`${edge.url}/openapi.json`)).text()).to.equal(document);
  });

  it("have their texts in one file for the search, each with what is sent", async () => {
    const response = await fetch(`${edge.origin}/docs/search.json`);
    const texts = (await response.json()) as Record<string, string>;
    expect(Object.keys(texts)).to.have.members(
      pathsOf("/docs/").filter((path) => path !== "/docs/guide/"),
    );
    expect(texts["/docs/guide/limits"]).to.include("X-RateLimit");
    expect(texts["/docs/api/reportStation"]).to.include("user_ref");
    expect(texts["/docs/api/getUsage"]).not.to.include("user_ref");
    expect(JSON.stringify(texts)).not.to.match(/<\/(p|li|code)>/);
    const etag = response.headers.get("etag")!;
    const again = await fetch(response.url, { headers: { "If-None-Match": etag } });
    expect(again.status).to.equal(304);
  });

  it("show each operation of the document with samples in three languages that are right", async function () {
    this.timeout(120_000);
    const document = (await (await fetch(`${edge.url}/openapi.json`)).json()) as {
      paths: Record<string, Record<string, { operationId: string }>>;
    };
    const operations = Object.values(document.paths).flatMap((item) =>
      Object.entries(item).map(([method, { operationId }]) => ({ method, operationId })),
    );
    expect(pathsOf("/docs/api/")).to.have.members(
      operations.map(({ operationId }) => `/docs/api/${operationId}`),
    );
    const all: Record<"sh" | "ts" | "python", string[]> = { sh: [], ts: [], python: [] };
    for (const { operationId, method } of operations) {
      const { text } = pages.get(`${edge.origin}/docs/api/${operationId}`)!;
      for (const language of ["sh", "ts", "python"] as const) {
        const [, code] =
          new RegExp(`data-language="${language}">.*?<code>(.*?)</code>`, "s").exec(text) ?? [];
        all[language].push(plain(code!));
      }
      // As Node runs it: of TypeScript's own it has a `!`.
      const sample = new AsyncFunction(
        "process",
        "console",
        all.ts.at(-1)!.replace("body!", "body"),
      );
      if (method !== "get") continue;
      const printed: unknown[] = [];
      const env = { BASE: edge.url, KEY: key };
      await sample({ env }, { log: (...parts: unknown[]) => printed.push(...parts) });
      const problem = JSON.stringify(printed);
      // The example's moment is long over, its stations do not exist, and nothing has been counted yet.
      if (/^\["?\{|window-too-old/.test(problem)) expect(problem).to.contain("window-too-old");
      else expect(printed[0], `${operationId} ${problem}`).to.be.oneOf([200, 403, 404, 503]);
    }
    const shell = spawnSync("bash", ["-n"], { input: all.sh.join("\n"), encoding: "utf8" });
    expect(shell.stderr).to.equal("");
    const python = spawnSync(
      "python3",
      ["-c", "import sys; [compile(p, 'p', 'exec') for p in sys.stdin.read().split('\\0')]"],
      {
        input: all.python.join("\0"),
        encoding: "utf8",
      },
    );
    // Null: there is none here.
    if (python.status !== null) expect(python.stderr).to.equal("");
  });
});
