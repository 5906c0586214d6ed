import { LRUCache } from "lru-cache";
import { type PackedFile, packFile, sendPacked } from "#api/http/negotiation.ts";
import type { Context, PageRouter } from "#api/http/route.ts";
import type { PageDeps } from "#api/pages/deps.ts";
import { openApi30Path, openApiPath } from "#api/openapi/serve.ts";
import { contentPolicy, readBuilt, sendBuiltPage } from "#api/pages/built-page.ts";
import { addressOf, createLinks, guideBase, readChapters } from "#api/pages/docs/chapters.ts";
import { renderMarkdown, renderText } from "#api/pages/docs/markdown.ts";
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
import { docsWords } from "#api/pages/docs/words.ts";
import { html, type Html } from "#api/pages/html.ts";
import { type Language, pickLanguage } from "#api/pages/messages.ts";
import { pageHeaders } from "#api/pages/page-headers.ts";

/** The texts for the search in the sidebar, by the address of the page. */
const searchPath = "/docs/search.json";
/** What the document's examples name: pages name what is here, so that a call that is copied finds something. */
const named = /n1234567|(?<=city(=|(&quot;)?: &quot;))Новосибирск/g;
/** Most pages that are kept as they are sent: there are some 60, in two languages. */
const keptMax = 150;

/**
 * `/docs`: the API for people, a page for each operation (`/docs/api/listStations`), and beside it the guide
 * (`/docs/guide/…`), decisions 8.38. Public and not metered. `document` makes the OpenAPI document.
 */
export function docsPages(
  router: PageRouter,
  { cities, clock, config, model }: Pick<PageDeps, "cities" | "clock" | "config" | "model">,
  document: () => object,
): void {
  const template = readBuilt("docs/index.html");
  const files = new LRUCache<string, PackedFile>({ max: keptMax });
  interface Made {
    contents: Contents;
    pages: Map<string, () => DocsPage>;
    texts?: Promise<PackedFile>;
  }
  const made = new Map<Language, Made>();
  // Made when first asked for: most processes never are.
  const madeIn = (language: Language): Made => {
    let one = made.get(language);
    if (one === undefined) {
      const contents = readContents(document() as ApiDocument, config.baseUrl, language);
      made.set(language, (one = { contents, pages: pagesOf(contents) }));
    }
    return one;
  };
  const chosen = (ctx: Context): { language: Language; isChosen: boolean } => {
    const given = new URLSearchParams(ctx.querystring).get("lang");
    ctx.set({ Vary: "Accept-Language", "Cache-Control": "no-cache" });
    return {
      language: pickLanguage(given, ctx.get("accept-language")),
      isChosen: given !== null,
    };
  };

  /** False when there is no such page. */
  const send = (ctx: Context, path: string): boolean => {
    if (template === null) {
      sendBuiltPage(ctx, null);
      return true;
    }
    const { language, isChosen } = chosen(ctx);
    const { pages, contents } = madeIn(language);
    const page = pages.get(path);
    if (page === undefined) return false;
    const here: Record<string, string | undefined> = {
      n1234567: [...model.each(clock(), 1)][0]?.id,
      Новосибирск: cities.list({ q: "", offset: 0, limit: 1 }).cities[0]?.name,
    };
    const name = JSON.stringify([path, language, isChosen, here]);
    let file = files.get(name);
    if (file === undefined) {
      const text = wholePage(template, page(), contents, isChosen);
      const mine = text.replace(named, (word) => html`${here[word] ?? word}`.html);
      file = packFile("html", Buffer.from(mine));
      files.set(name, file);
    }
    ctx.set({
      "Content-Language": language,
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
    const one = madeIn(chosen(ctx).language);
    one.texts ??= searchTexts(one.contents).then((all) =>
      packFile("json", Buffer.from(JSON.stringify(all))),
    );
    ctx.set(pageHeaders(contentPolicy()));
    sendPacked(ctx, await one.texts);
  });
  for (const base of [guideBase, operationBase]) {
    router.get(`${base}/:name`, async (ctx, next) => {
      if (!send(ctx, `${base}/${ctx.params["name"]}`)) await next();
    });
  }
}

const readContents = (document: ApiDocument, baseUrl: string, language: Language): Contents => ({
  document,
  operations: operationsOf(document),
  chapters: readChapters(baseUrl, language),
  language,
});

/** Pages by address; each is made when it is asked for, so that none of them holds up other requests for long. */
function pagesOf(contents: Contents): Map<string, () => DocsPage> {
  const { document, operations, chapters, language } = contents;
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
      const isOther = language !== "en" && chapter.document !== "partners";
      const main = isOther ? html`<div lang="en">${body}</div>` : body;
      return { title, main, inside, markdownPath };
    });
  }
  for (const operation of operations)
    add(`${operationBase}/${operation.operationId}`, () => ({
      title: operation.summary,
      main: operationPage(document, operation, docsWords(language)),
    }));
  return pages;
}

/** The page about all calls: their rules, and a list of them. */
function overview({ document, operations, chapters, language }: Contents): Html {
  const { info, servers, tags } = document;
  const words = docsWords(language);
  return html`<h1 lang="en">${info.title}</h1>
    <h2 id="guide">${words.guide}</h2>
    <p>${words.fromKey} <a href="docs/guide">${words.theOverview}</a>.</p>
    <ul>
      ${chapters
        .filter(({ document: from, slug }) => from === "partners" && slug !== "")
        .map(
          ({ slug, title }) => html`<li><a href="${addressOf(slug).slice(1)}">${title}</a></li>`,
        )}
    </ul>
    <h2 id="calls">${words.calls}</h2>
    <p>
      ${words.pathsAt} <code>${servers[0]!.url}</code>. ${words.forPrograms}
      <a href="${openApiPath.slice(1)}">OpenAPI 3.1</a>,
      <a href="${openApi30Path.slice(1)}">OpenAPI 3.0</a>, <a href="llms.txt">llms.txt</a>.
    </p>
    ${words.inEnglish === "" ? null : html`<p class="soft">${words.inEnglish}</p>`}
    ${renderText(info.description)}
    ${tags.map(
      ({ name, description }) =>
        html`<h2 id="${name.toLowerCase()}">${words.tags[name] ?? name}</h2>
          <p lang="en">${description}</p>
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
