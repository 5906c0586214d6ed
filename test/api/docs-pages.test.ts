import { spawnSync } from "node:child_process";
import { expect } from "chai";
import { addKey, addPartner, useEdge } from "#test/api/edge.ts";

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
    const toRead = [`${edge.origin}/docs`];
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
        if (/^\/docs(\/(guide|api)\/[^.]+|\/guide)?$/.test(new URL(link).pathname))
          toRead.push(link);
        else others.set(link, url);
      }
    }
  });

  const pathsOf = (prefix: string): string[] =>
    [...pages.keys()]
      .map((url) => url.slice(edge.origin.length))
      .filter((path) => path.startsWith(prefix));
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
      } else
        expect(page.text, `${link} on ${from}`).to.contain(` id="${decodeURI(hash.slice(1))}"`);
    }
    for (const [url, { text }] of pages) {
      expect(text.match(/<h1/g), url).to.have.length(1);
      expect(text.match(/aria-current="page"/g), url).to.have.length(1);
      expect(text, url).not.to.match(/\{(base|main|root|sidebar|title)\}/);
      expect(text, url).not.to.match(/ style="| on\w+="/);
    }
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
