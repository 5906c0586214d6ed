import { type PackedFile, packFile, sendPacked } from "#api/http/etag.ts";
import type { Context, PageRouter } from "#api/http/context.ts";
import type { PageDeps } from "#api/pages/deps.ts";
import { openApi30Path, openApiPath } from "#api/openapi/serve.ts";
import { contentPolicy, readBuilt, sendBuiltPage } from "#api/pages/built-page.ts";
import { addressOf, createLinks, guideBase, readChapters } from "#api/pages/docs/chapters.ts";
import { renderMarkdown } from "#api/pages/docs/markdown.ts";
import { type ApiDocument, operationsOf } from "#api/pages/docs/openapi.ts";
import { methodBadge, operationPage } from "#api/pages/docs/operation-page.ts";
import { searchTexts } from "#api/pages/docs/search-texts.ts";
import {
  type Contents,
  type DocsPage,
  operationBase,
  rootFrom,
  wholePage,
} from "#api/pages/docs/shell.ts";
import { html, type Html } from "#api/pages/html.ts";
import { pageHeaders } from "#api/pages/page-headers.ts";

/** The texts for the search in the sidebar, by the address of the page. */
const searchPath = "/docs/search.json";

/**
 * `/docs`: the API for people, a page for each operation (`/docs/api/listStations`), and beside it the guide
 * (`/docs/guide/…`), decisions 8.38. Public and not metered. `document` is the OpenAPI document.
 */
export function docsPages(
  router: PageRouter,
  { config }: Pick<PageDeps, "config">,
  document: object,
): void {
  const template = readBuilt("docs/index.html");
  // Made when first asked for: most processes never are.
  let pages: Map<string, () => DocsPage> | undefined;
  let contents: Contents | undefined;
  const files = new Map<string, PackedFile>();
  let texts: Promise<PackedFile> | undefined;
  const readAll = (): Contents =>
    (contents ??= readContents(document as ApiDocument, config.baseUrl));

  /** False when there is no such page. */
  const send = (ctx: Context, path: string): boolean => {
    if (template === null) {
      sendBuiltPage(ctx, null);
      return true;
    }
    pages ??= pagesOf(readAll());
    const page = pages.get(path);
    if (page === undefined) return false;
    let file = files.get(path);
    if (file === undefined) {
      file = packFile("html", Buffer.from(wholePage(template, page(), readAll())));
      files.set(path, file);
    }
    ctx.set({
      "Cache-Control": "no-cache",
      ...pageHeaders(contentPolicy()),
      "Referrer-Policy": "no-referrer",
    });
    sendPacked(ctx, file);
    return true;
  };

  for (const path of ["/docs", guideBase]) {
    router.get(path, (ctx) => {
      send(ctx, path);
    });
  }
  router.get(searchPath, async (ctx) => {
    texts ??= searchTexts(readAll()).then((all) =>
      packFile("json", Buffer.from(JSON.stringify(all))),
    );
    ctx.set({ "Cache-Control": "no-cache", ...pageHeaders(contentPolicy()) });
    sendPacked(ctx, await texts);
  });
  for (const base of [guideBase, operationBase]) {
    router.get(`${base}/:name`, async (ctx, next) => {
      if (!send(ctx, `${base}/${ctx.params["name"]}`)) await next();
    });
  }
}

const readContents = (document: ApiDocument, baseUrl: string): Contents => ({
  document,
  operations: operationsOf(document),
  chapters: readChapters(baseUrl),
});

/** Pages by address; each is made when it is asked for, so that none of them holds up other requests for long. */
function pagesOf(contents: Contents): Map<string, () => DocsPage> {
  const { document, operations, chapters } = contents;
  const { linkFrom } = createLinks(chapters);
  const pages = new Map<string, () => DocsPage>();
  const add = (path: string, make: () => Omit<DocsPage, "path">): void => {
    pages.set(path, () => ({ path, ...make() }));
  };
  add("/docs", () => ({ title: document.info.title, main: overview(contents) }));
  for (const chapter of chapters) {
    const { slug, title, markdown, markdownPath } = chapter;
    const path = addressOf(slug);
    add(path, () => {
      const { body, headings } = renderMarkdown(markdown, linkFrom(chapter, rootFrom(path)));
      const inside = headings.filter(({ level }) => level === 2);
      return { title, main: body, inside, markdownPath };
    });
  }
  for (const operation of operations)
    add(`${operationBase}/${operation.operationId}`, () => ({
      title: operation.summary,
      main: operationPage(document, operation),
    }));
  return pages;
}

/** The page about all calls: their rules, and a list of them. */
function overview({ document, operations, chapters }: Contents): Html {
  const { info, servers, tags } = document;
  return html`<h1>${info.title}</h1>
    <h2 id="guide">Guide</h2>
    <p>
      From a key to a working integration. New here? Begin with
      <a href="docs/guide">the overview</a>.
    </p>
    <ul>
      ${chapters
        .filter(({ document: from, slug }) => from === "partners" && slug !== "")
        .map(
          ({ slug, title }) => html`<li><a href="${addressOf(slug).slice(1)}">${title}</a></li>`,
        )}
    </ul>
    <h2 id="calls">Calls</h2>
    <p>
      All paths below are at <code>${servers[0]!.url}</code>. For programs:
      <a href="${openApiPath.slice(1)}">OpenAPI 3.1</a>,
      <a href="${openApi30Path.slice(1)}">OpenAPI 3.0</a>, <a href="llms.txt">llms.txt</a>.
    </p>
    ${renderMarkdown(info.description).body}
    ${tags.map(
      ({ name, description }) =>
        html`<h2 id="${name.toLowerCase()}">${name}</h2>
          <p>${description}</p>
          <ul class="calls">
            ${operations
              .filter((one) => one.tags.includes(name))
              .map(
                ({ operationId, method, path, summary }) =>
                  html`<li>
                    ${methodBadge(method)}
                    <span
                      ><a href="${operationBase.slice(1)}/${operationId}">${summary}</a>
                      <code>${path}</code></span
                    >
                  </li>`,
              )}
          </ul>`,
    )}`;
}
