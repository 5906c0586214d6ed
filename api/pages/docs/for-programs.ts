import { readFileSync } from "node:fs";
import { join } from "node:path";
import { packFile, sendPacked } from "#api/http/negotiation.ts";
import { apiBase, type PageRouter } from "#api/http/route.ts";
import type { PageDeps } from "#api/pages/deps.ts";
import { openApi30Path, openApiPath } from "#api/openapi/serve.ts";
import { clientPath } from "#api/pages/client-package.ts";
import { type Chapter, chapterAsMarkdown, readChapters } from "#api/pages/docs/chapters.ts";
import {
  filesOfDocuments,
  forPartners,
  markdownOf,
  pathOf,
  pythonPath,
} from "#api/pages/docs/documents.ts";
import { projectRoot } from "#src/infrastructure/project-root.ts";

/**
 * Texts for programs that read before they call: the documents as Markdown, `/docs/<name>.md`, the pages of
 * the guide, `/docs/guide/<name>.md`, `/llms.txt` (llmstxt.org), and
 * `/.well-known/api-catalog` (RFC 9727). Public and not metered.
 */
export function guidePages(router: PageRouter, { config }: Pick<PageDeps, "config">): void {
  const { baseUrl } = config;
  const texts: [path: string, type: string, read: () => string][] = [
    ...filesOfDocuments().map(([name, file]): [string, string, () => string] => [
      pathOf(name),
      "text/markdown; charset=utf-8",
      () => markdownOf(file, baseUrl),
    ]),
    ...partsOfGuide(baseUrl).map(({ markdownPath }): [string, string, () => string] => [
      markdownPath,
      "text/markdown; charset=utf-8",
      () => chapterAsMarkdown(markdownPath, baseUrl),
    ]),
    [
      pythonPath,
      "text/x-python; charset=utf-8",
      () => readFileSync(join(projectRoot, "client", "python", "fuelmark_mirror.py"), "utf8"),
    ],
    ["/llms.txt", "text/markdown; charset=utf-8", () => overviewOf(baseUrl)],
    [
      catalogPath,
      'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
      () => JSON.stringify(catalogOf(baseUrl)),
    ],
  ];
  for (const [path, type, read] of texts) {
    let file: ReturnType<typeof packFile> | undefined;
    router.get(path, (ctx) => {
      // Made when first asked for: most processes never are.
      file ??= packFile(type, Buffer.from(read()));
      ctx.set("Cache-Control", "public, max-age=3600");
      if (path === catalogPath) ctx.set("Link", catalogLink);
      sendPacked(ctx, file);
      ctx.set("Content-Type", type);
    });
  }
}

const catalogPath = "/.well-known/api-catalog";
/** The `Link` header that the RFC demands of a HEAD. */
const catalogLink = `<${catalogPath}>; rel="api-catalog"`;
/** The parts of the guide: each is a page, and has its Markdown beside. */
const partsOfGuide = (baseUrl: string): Chapter[] =>
  readChapters(baseUrl, "en").filter(({ document }) => document === "partners");

const overviewOf = (baseUrl: string): string => `# Fuelmark

> Which filling stations of the country have fuel, from the marks of drivers: a JSON API for partners, and a map to embed.

- API: ${baseUrl}${apiBase}, every request with \`Authorization: Bearer <KEY>\`; the operator issues keys.
- Keep a copy of the country with \`/stations/all\` and \`/stations/delta\`; send marks with \`/stations/{id}/report\`.

## The guide, page by page

${partsOfGuide(baseUrl)
  .map(({ title, markdownPath }) => `- [${title}](${baseUrl}${markdownPath})`)
  .join("\n")}

## Documents

${Object.entries(forPartners)
  .map(([name, [title, about]]) => `- [${title}](${baseUrl}${pathOf(name)}): ${about}`)
  .join("\n")}
- [TypeScript client](${baseUrl}${clientPath}): \`npm install ${baseUrl}${clientPath}\`
- [Mirror in Python](${baseUrl}${pythonPath}): one file that keeps a copy of the country
- [Errors](${baseUrl}/problems): every code, and what to do

## Machine-readable

- [OpenAPI 3.1](${baseUrl}${openApiPath})
- [OpenAPI 3.0](${baseUrl}${openApi30Path})
`;

function catalogOf(baseUrl: string): object {
  const link = (path: string, type: string): object => ({ href: baseUrl + path, type });
  return {
    linkset: [
      {
        anchor: baseUrl + apiBase,
        "service-desc": [
          link(openApiPath, "application/vnd.oai.openapi+json;version=3.1"),
          link(openApi30Path, "application/vnd.oai.openapi+json;version=3.0"),
        ],
        "service-doc": [link("/docs", "text/html"), link(pathOf("partners"), "text/markdown")],
        status: [link("/readyz", "application/json"), link("/status.json", "application/json")],
      },
    ],
  };
}
