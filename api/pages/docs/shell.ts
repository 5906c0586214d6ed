import { html, type Html } from "#api/pages/html.ts";
import { addressOf, type Chapter, isDecisions } from "#api/pages/docs/chapters.ts";
import { methodBadge } from "#api/pages/docs/operation-page.ts";
import type { ApiDocument, Operation } from "#api/pages/docs/openapi.ts";
import { openApi30Path, openApiPath } from "#api/openapi/serve.ts";

export const operationBase = "/docs/api";

/** The entries of the sidebar. */
export interface Contents {
  document: ApiDocument;
  operations: readonly Operation[];
  chapters: readonly Chapter[];
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

/** The whole page: `template` as it was built, with this page's title, sidebar and text. */
export function wholePage(template: string, page: DocsPage, contents: Contents): string {
  const root = rootFrom(page.path);
  const parts: Record<string, Html> = {
    title: html`${page.title}`,
    root: html`${root}`,
    sidebar: sidebar(page, contents, root),
    main: html`${page.main}${
      page.markdownPath === undefined
        ? null
        : html`<p class="soft">
            <a href="${root}${page.markdownPath.slice(1)}">This page as Markdown</a>
          </p>`
    }`,
  };
  return template
    .replaceAll(/(src|href)="\.\.\/assets\//g, `$1="${root}assets/`)
    .replaceAll(/\{(title|root|sidebar|main)\}/g, (_, name: string) => parts[name]!.html);
}

function sidebar(page: DocsPage, { document, operations, chapters }: Contents, root: string): Html {
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
      .map((one) => link(addressOf(one.slug), html`${one.slug === "" ? "Overview" : one.title}`));
  return html`${group("Guide", pagesOf(true))} ${group("More to read", pagesOf(false))}
  ${group("API", [link("/docs", html`All calls`)])}
  ${document.tags.map(({ name }) =>
    group(
      name,
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
  ${group("Service", [
    link("/problems", html`Errors`),
    link("/status", html`Service status`),
    link("/dashboard/", html`Dashboard`),
    link(openApiPath, html`OpenAPI 3.1`),
    link(openApi30Path, html`OpenAPI 3.0`),
    link("/llms.txt", html`llms.txt`),
  ])}`;
}
