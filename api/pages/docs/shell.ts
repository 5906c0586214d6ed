import { html, type Html } from "#api/pages/html.ts";
import { addressOf, type Chapter, isDecisions } from "#api/pages/docs/chapters.ts";
import { methodBadge } from "#api/pages/docs/operation-page.ts";
import type { ApiDocument, Operation } from "#api/pages/docs/openapi.ts";
import { docsWords } from "#api/pages/docs/words.ts";
import type { Language } from "#api/pages/messages.ts";
import { openApi30Path, openApiPath } from "#api/openapi/serve.ts";

export const operationBase = "/docs/api";

/** The entries of the sidebar. */
export interface Contents {
  document: ApiDocument;
  operations: readonly Operation[];
  chapters: readonly Chapter[];
  language: Language;
}

export interface DocsPage {
  path: string;
  title: string;
  main: Html;
  /** Entries below this page's own in the sidebar, for long pages. */
  inside?: readonly { text: string; slug: string }[];
  /** Its Markdown, if it has any. */
  markdownPath?: string;
}

/** The way from a page to the root of the service, which may stand below a path of its host: `../../`. */
export const rootFrom = (path: string): string => "../".repeat(path.split("/").length - 2);

/**
 * The whole page: `template` as it was built, with this page's title, sidebar and text. `isChosen`: the language stands
 * in the address, and its links keep it.
 */
export function wholePage(
  template: string,
  page: DocsPage,
  contents: Contents,
  isChosen: boolean,
): string {
  const root = rootFrom(page.path);
  const { language } = contents;
  const words = docsWords(language);
  const other = language === "en" ? "ru" : "en";
  const { home, skip, menu, documentation, search } = words;
  const parts: Record<string, Html> = {
    ...inHtml({ title: page.title, root, language, home, skip, menu, documentation, search }),
    other: html`<a class="language" href="?lang=${other}" lang="${other}" hreflang="${other}"
      >${{ en: "English", ru: "Русский" }[other]}</a
    >`,
    sidebar: sidebar(page, contents, root),
    main: html`${page.main}${
      page.markdownPath === undefined
        ? null
        : html`<p class="soft">
            <a href="${root}${page.markdownPath.slice(1)}">${words.asMarkdown}</a>
          </p>`
    }`,
  };
  const whole = template
    .replaceAll(/(src|href)="\.\.\/assets\//g, `$1="${root}assets/`)
    .replaceAll(/\{(\w+)\}/g, (_, name: string) => parts[name]!.html);
  return isChosen ? whole.replaceAll(ownLinks, `$1?lang=${language}$2"`) : whole;
}

/** Links to pages of these, and to others that ask for the language in the same way. */
const ownLinks =
  /(<a[^>]* href="(?:\.\.\/)*(?:docs(?:\/(?:guide|api)(?:\/[\w-]+)?)?|guide\/[\w-]+|problems|status))(#[^"]*)?"/g;

const inHtml = (texts: Record<string, string>): Record<string, Html> =>
  Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, html`${text}`]));

function sidebar(page: DocsPage, contents: Contents, root: string): Html {
  const { document, operations, chapters, language } = contents;
  const words = docsWords(language);
  const link = (path: string, text: Html): Html => {
    const isHere = path === page.path;
    const inside = (isHere ? (page.inside ?? []) : []).map(
      (one) => html`<li><a href="#${one.slug}">${one.text}</a></li>`,
    );
    return html`<li>
      <a href="${root}${path.slice(1)}" ${{ html: isHere ? ' aria-current="page"' : "" }}>${text}</a
      >${
        inside.length === 0
          ? null
          : html`<ul>
              ${inside}
            </ul>`
      }
    </li>`;
  };
  const group = (title: string, links: Html[]): Html =>
    html`<section>
      <h2>${title}</h2>
      <ul>
        ${links}
      </ul>
    </section>`;
  const pagesOf = (isGuide: boolean): Html[] =>
    chapters
      .filter((one) => (one.document === "partners") === isGuide)
      .filter((one) => !isDecisions(one) || addressOf(one.slug) === page.path)
      .map((one) =>
        link(addressOf(one.slug), html`${one.slug === "" ? words.overview : one.title}`),
      );
  return html`${group(words.guide, pagesOf(true))} ${group(words.more, pagesOf(false))}
  ${group("API", [link("/docs", html`${words.allCalls}`)])}
  ${document.tags.map(({ name }) =>
    group(
      words.tags[name] ?? name,
      operations
        .filter(({ tags }) => tags.includes(name))
        .map(({ operationId, method, summary, path }) =>
          link(
            `${operationBase}/${operationId}`,
            html`${methodBadge(method)} <span>${summary}<small>${path}</small></span>`,
          ),
        ),
    ),
  )}
  ${group(words.service, [
    link("/problems", html`${words.errors}`),
    link("/status", html`${words.status}`),
    link("/dashboard/", html`${words.dashboard}`),
    link(openApiPath, html`OpenAPI 3.1`),
    link(openApi30Path, html`OpenAPI 3.0`),
    link("/llms.txt", html`llms.txt`),
  ])}`;
}
