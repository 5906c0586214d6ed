import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "#src/infrastructure/project-root.ts";

const folder = join(projectRoot, "docs");
/** The documents that are not in the folder of the others. */
const elsewhere: Record<string, string> = { client: join(projectRoot, "client", "README.md") };

/** The documents for partners' engineers, each with its title and its purpose. */
export const forPartners = {
  partners: ["Partner guide", "from a key to a working integration"],
  contract: ["Contract", "every endpoint, field, limit and guarantee"],
  embedding: ["Embed the map", "the map in a page"],
  dashboard: ["Dashboard", "what a partner has used"],
  client: ["Guide of the TypeScript client", "calls, and a mirror of the whole country"],
  rules: ["Rules of marks", "how marks become statuses"],
  privacy: ["Privacy", "what is kept of people, and how it is erased"],
} as const satisfies Record<string, readonly [title: string, about: string]>;

export const pythonPath = "/docs/fuelmark_mirror.py";
/** The path of a document's Markdown. */
export const pathOf = (name: string): string => `/docs/${name}.md`;

/** Name and file of each, also in folders. An installation without the folder has none. */
export const filesOfDocuments = (): [name: string, file: string][] =>
  [
    ...(existsSync(folder) ? readdirSync(folder, { encoding: "utf8", recursive: true }) : [])
      .filter((file) => file.endsWith(".md"))
      .map((file): [string, string] => [file.slice(0, -3), join(folder, file)]),
    ...Object.entries(elsewhere),
  ].filter(([, file]) => existsSync(file));

/** A document as it is served: it names this service. Pictures and other files of the source are not served. */
export const markdownOf = (file: string, baseUrl: string): string =>
  readFileSync(file, "utf8")
    .replaceAll(/^!\[.*\n+/gm, "")
    .replaceAll("../client/README.md", pathOf("client"))
    .replaceAll(/(\.\.\/client\/)?python\/fuelmark_mirror\.py\)/g, `${pythonPath})`)
    .replaceAll(/\[([^\]]+)\]\(\.\.\/[^)]+\)/g, "$1")
    .replaceAll("{base}", baseUrl);
