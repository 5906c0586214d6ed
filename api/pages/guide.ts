import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { packFile, sendPacked } from "#api/http/etag.ts";
import { apiBase } from "#api/http/route.ts";
import type { PageRouter } from "#api/http/state.ts";
import type { Services } from "#api/http/services.ts";
import { openApi30Path, openApiPath } from "#api/openapi/serve.ts";
import { clientPath } from "#api/pages/client-package.ts";
import { projectRoot } from "#src/infrastructure/project-root.ts";

const folder = join(projectRoot, "docs");
/** The documents that are not in the folder of the others. */
const elsewhere: Record<string, string> = { client: join(projectRoot, "client", "README.md") };

/** What a partner's engineer needs, of all documents: title and what it is for. */
const forPartners = {
  partners: ["Partner guide", "from a key to a working integration"],
  contract: ["Contract", "every endpoint, field, limit and guarantee"],
  embedding: ["Embed the map", "the map in a page"],
  dashboard: ["Dashboard", "what a partner has used"],
  client: ["Guide of the TypeScript client", "calls, and a mirror of the whole country"],
  rules: ["Rules of marks", "how marks become statuses"],
  decisions: ["Decisions", "what the contract leaves open, settled"],
  privacy: ["Privacy", "what is kept of people, and how it is erased"],
} as const satisfies Record<string, readonly [title: string, about: string]>;

/**
 * For programs that read before they call: the documents as Markdown, `/docs/<name>.md`, `/llms.txt` (llmstxt.org), and
 * `/.well-known/api-catalog` (RFC 9727). Public and not metered.
 */
export function guidePages(router: PageRouter, { config }: Pick<Services, "config">): void {
  const { baseUrl } = config;
  const texts: [path: string, type: string, read: () => string][] = [
    ...filesOfDocuments().map(([name, file]): [string, string, () => string] => [
      pathOf(name),
      "text/markdown; charset=utf-8",
      () => markdownOf(file, baseUrl),
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
      // When first asked for: most processes never are.
      file ??= packFile(type, Buffer.from(read()));
      ctx.set("Cache-Control", "public, max-age=3600");
      if (path === catalogPath) ctx.set("Link", catalogLink);
      sendPacked(ctx, file);
      ctx.set("Content-Type", type);
    });
  }
}

const catalogPath = "/.well-known/api-catalog";
/** What the RFC wants a HEAD to say. */
const catalogLink = `<${catalogPath}>; rel="api-catalog"`;
const pythonPath = "/docs/fuelmark_mirror.py";
const pathOf = (name: string): string => `/docs/${name}.md`;

/** Name and file of each. An installation without the folder serves none. */
const filesOfDocuments = (): [name: string, file: string][] =>
  [
    ...(existsSync(folder) ? readdirSync(folder) : [])
      .filter((file) => file.endsWith(".md"))
      .map((file): [string, string] => [file.slice(0, -3), join(folder, file)]),
    ...Object.entries(elsewhere),
  ].filter(([, file]) => existsSync(file));

/** A document as it is served: it names this service. Pictures and other files of the source are not served. */
const markdownOf = (file: string, baseUrl: string): string =>
  readFileSync(file, "utf8")
    .replaceAll(/^!\[.*\n+/gm, "")
    .replaceAll("../client/README.md", pathOf("client"))
    .replaceAll(/(\.\.\/client\/)?python\/fuelmark_mirror\.py\)/g, `${pythonPath})`)
    .replaceAll(/\[([^\]]+)\]\(\.\.\/[^)]+\)/g, "$1")
    .replaceAll("{base}", baseUrl);

const overviewOf = (baseUrl: string): string => `# Fuelmark

> Which filling stations of the country have fuel, from the marks of drivers: a JSON API for partners, and a map to embed.

- API: ${baseUrl}${apiBase}, every request with \`Authorization: Bearer <KEY>\`; the operator issues keys.
- Keep a copy of the country with \`/stations/all\` and \`/stations/delta\`; send marks with \`/stations/{id}/report\`.

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
