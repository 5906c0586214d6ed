import { forPartners, filesOfDocuments, markdownOf, pathOf } from "#api/pages/docs/documents.ts";
import { slugOf } from "#api/pages/docs/markdown.ts";
import type { Language } from "#api/pages/messages.ts";

export const guideBase = "/docs/guide";

/** A page of the guide. */
export interface Chapter {
  /** Last part of its address; empty for the first page. */
  slug: string;
  title: string;
  /** Its text; the first line is `# title`. Links are as in the document that it is from. */
  markdown: string;
  /** The path of its Markdown. */
  markdownPath: string;
  /** The document that it is a part of. */
  document: string;
}

/** The path of the page with this last part. */
export const addressOf = (slug: string): string =>
  slug === "" ? guideBase : `${guideBase}/${slug}`;

/** The parts of the decisions to which documents for partners lead: pages, and no entries of the sidebar. */
const isLinked = (name: string): boolean => /^decisions\/(0\d|10|15|19|20|21)-/.test(name);
/** Whether a page is such a part. */
export const isDecisions = ({ document }: Chapter): boolean => document.startsWith("decisions/");
/** `decisions/06-shapes` as the last part of an address. */
const flat = (name: string): string => name.replace("/", "-");

/**
 * The pages of the guide: the beginning of docs/partners.md and each of its parts, then the other documents that are
 * meant for partners, in the order of the sidebar. The guide itself is in both languages, with the same addresses.
 */
export function readChapters(baseUrl: string, language: Language): Chapter[] {
  const files = new Map(filesOfDocuments());
  const guideOf = (name: string): string => {
    const file = files.get(name);
    return file === undefined ? "" : markdownOf(file, baseUrl);
  };
  const guide = guideOf("partners");
  const translated = language === "en" ? guide : guideOf("partners.ru") || guide;
  const theirs = headingsOf(translated);
  const slugs = new Map(headingsOf(guide).map((slug, n) => [slug, theirs[n] ?? slug]));
  return [...Object.keys(forPartners), ...[...files.keys()].filter(isLinked)].flatMap(
    (name): Chapter[] => {
      const file = files.get(name);
      if (file === undefined) return [];
      if (name === "partners") return partsOf(translated, headingsOf(guide, 2), language);
      const markdown = markdownOf(file, baseUrl).replaceAll(
        /(?<=\(partners\.md#)[\w-]+/g,
        (slug) => slugs.get(slug) ?? slug,
      );
      const [heading = name] = markdown.split("\n");
      const title = isTitled(name) ? forPartners[name][0] : heading.replace(/^# /, "Decisions ");
      return [{ slug: flat(name), title, markdown, markdownPath: pathOf(name), document: name }];
    },
  );
}

/** The names of a guide's headings in addresses, those of its parts down to `level`. */
const headingsOf = (markdown: string, level = 6): string[] =>
  [...markdown.replaceAll(/^```.*?^```/gms, "").matchAll(/^(##+) (.+)$/gm)]
    .filter(([, signs]) => signs!.length <= level)
    .map(([, , title]) => slugOf(title!));

const isTitled = (name: string): name is keyof typeof forPartners => name in forPartners;

/**
 * The parts of the guide under these names, each with its headings one level up. Lines that begin with `#` in code
 * stay.
 */
function partsOf(markdown: string, slugs: readonly string[], language: Language): Chapter[] {
  const parts: string[][] = [[]];
  let isCode = false;
  for (const line of markdown.split("\n")) {
    if (line.startsWith("```")) isCode = !isCode;
    if (!isCode && line.startsWith("## ")) parts.push([]);
    const isLower = !isCode && /^##+ /.test(line);
    parts.at(-1)!.push(isLower ? line.slice(1) : line);
  }
  return parts.map((lines, n) => {
    const title = lines[0]!.slice(2);
    const slug = n === 0 ? "" : slugs[n - 1]!;
    const markdownPath = language === "en" ? `${addressOf(slug)}.md` : pathOf("partners.ru");
    return { slug, title, markdown: lines.join("\n"), markdownPath, document: "partners" };
  });
}

/**
 * Turns a link of a chapter into a link to the page that has its target. Links inside of the guide's document may lead
 * to another page.
 *
 * @param root the prefix of `docs/` in a link of this page
 */
export function createLinks(chapters: readonly Chapter[]): {
  linkFrom(chapter: Chapter, root: string): (href: string) => string;
} {
  /** Where each heading of the guide is. */
  const places = new Map<string, string>();
  for (const { document, slug, title, markdown } of chapters) {
    if (document !== "partners") continue;
    for (const [, heading] of markdown.matchAll(/^#+ (.+)$/gm)) {
      const name = slugOf(heading!);
      const hash = heading === title ? "" : `#${name}`;
      if (!places.has(name)) places.set(name, addressOf(slug) + hash);
    }
  }
  return {
    linkFrom: (chapter, root) => (href) => {
      if (/^[a-z]+:/.test(href)) return href;
      const [path = "", fragment = ""] = href.split("#");
      const name = path === "" ? chapter.document : path.replace(/^\/docs\//, "");
      const document = flat(name.replace(/\.md$/, ""));
      const hash = fragment === "" ? "" : `#${fragment}`;
      if (document === "partners")
        return root + (places.get(decodeURI(fragment)) ?? addressOf("")).slice(1);
      if (path === "") return hash;
      if (chapters.some(({ slug }) => slug === document))
        return `${root}${addressOf(document).slice(1)}${hash}`;
      return `${root}docs/${name}${hash}`;
    },
  };
}

/** The Markdown of a part of the guide by itself: its links are whole addresses, of Markdown where there is one. */
export function chapterAsMarkdown(markdownPath: string, baseUrl: string): string {
  const chapters = readChapters(baseUrl, "en");
  const chapter = chapters.find((one) => one.markdownPath === markdownPath)!;
  const linkTo = createLinks(chapters).linkFrom(chapter, `${baseUrl}/`);
  const pages = new Map(
    chapters.map((one) => [baseUrl + addressOf(one.slug), baseUrl + one.markdownPath]),
  );
  return chapter.markdown.replaceAll(/\]\(([^)\s]+)\)/g, (_, href: string) => {
    const [page = "", fragment] = linkTo(href).split("#");
    return `](${pages.get(page) ?? page}${fragment === undefined ? "" : `#${fragment}`})`;
  });
}
