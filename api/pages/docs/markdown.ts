import { Marked, type Token, type Tokens } from "marked";
import { html, type Html } from "#api/pages/html.ts";

/** Languages of a block that a reader chooses among, and their names. */
export const languages = { sh: "curl", ts: "TypeScript", python: "Python" } as const;
export type SampleLanguage = keyof typeof languages;

export interface Sample {
  language: SampleLanguage;
  text: string;
}

/** The name of a heading in an address, as on GitHub: `Keep a copy` → `keep-a-copy`. */
export const slugOf = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(/\s/g, "-");

export interface Heading {
  level: number;
  text: string;
  slug: string;
}

/**
 * Markdown of ours as HTML; HTML in it is shown as text. Headings get ids, wide tables scroll by themselves, and
 * blocks of different languages that follow each other become one with tabs. `linkTo` says where a link leads.
 */
export function renderMarkdown(
  markdown: string,
  linkTo: (href: string) => string = (href) => href,
): { body: Html; headings: Heading[] } {
  const headings: Heading[] = [];
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }: Tokens.Heading) {
        const slug = slugOf(text);
        headings.push({ level: depth, text: text.replaceAll("`", ""), slug });
        return `<h${depth} id="${slug}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }: Tokens.Link) {
        return html`<a href="${linkTo(href)}">${{ html: this.parser.parseInline(tokens) }}</a>`
          .html;
      },
      table(token: Tokens.Table) {
        const names = token.header.map(({ text }) => text).join(", ");
        const row = (cells: Tokens.TableCell[], name: "td" | "th"): string =>
          `<tr>${cells.map(({ tokens }) => `<${name}>${this.parser.parseInline(tokens)}</${name}>`).join("")}</tr>`;
        const rows = token.rows.map((cells) => row(cells, "td")).join("\n");
        const table = { html: `<thead>${row(token.header, "th")}</thead><tbody>${rows}</tbody>` };
        return html`<div class="wide" role="group" tabindex="0" aria-label="${names}">
          <table>
            ${table}
          </table>
        </div>`.html;
      },
      // Long names may break where a reader expects it, and nowhere else.
      codespan: ({ text }: Tokens.Codespan) =>
        `<code>${html`${text}`.html.replaceAll(/([.,/])(?=\w)/g, "$1<wbr>")}</code>`,
      code: ({ text, lang = "" }: Tokens.Code) => codeBlock(text, lang).html,
      html: ({ text }: Tokens.HTML | Tokens.Tag) => html`${text}`.html,
    },
  });
  const parts = grouped(marked.lexer(markdown)).map((part) =>
    Array.isArray(part) ? samples(part).html : marked.parser([part]),
  );
  return { body: { html: parts.join("") }, headings };
}

const texts = new Map<string, Html>();

/** A description of the API's document as HTML. The same ones stand on most pages, so each is made once. */
export function renderText(markdown: string): Html {
  let text = texts.get(markdown);
  if (text === undefined) {
    const { html } = renderMarkdown(markdown).body;
    // Also on pages in another language.
    texts.set(markdown, (text = { html: html.replaceAll("<p>", '<p lang="en">') }));
  }
  return text;
}

/** Tokens, and blocks of code in two languages and more that follow each other as one. */
function grouped(tokens: readonly Token[]): (Token | Sample[])[] {
  const parts: (Token | Sample[])[] = [];
  const seen = tokens.filter(({ type }) => type !== "space");
  for (let i = 0; i < seen.length; i++) {
    const group: Sample[] = [];
    for (let sample = sampleOf(seen[i]); sample !== null; sample = sampleOf(seen[++i])) {
      if (group.some(({ language }) => language === sample?.language)) break;
      group.push(sample);
    }
    if (group.length > 0) {
      parts.push(group);
      i--;
    } else parts.push(seen[i]!);
  }
  return parts;
}

function sampleOf(token: Token | undefined): Sample | null {
  if (token?.type !== "code") return null;
  const { text, lang } = token as Tokens.Code;
  return lang !== undefined && lang in languages
    ? { language: lang as SampleLanguage, text }
    : null;
}

/** A program's text that can be scrolled and copied. */
const codeBlock = (text: string, label: string): Html =>
  html`<div class="code">
    <pre
      tabindex="0"
      role="group"
      aria-label="${label === "" ? "text" : label}"
    ><code>${text}</code></pre>
  </div>`;

/** The same in several languages: all of them without script, one at a time with it. */
export const samples = (all: readonly Sample[]): Html =>
  html`<div class="samples">
    ${all.map(
      ({ language, text }) =>
        html`<section data-language="${language}">
          <p class="language">${languages[language]}</p>
          ${codeBlock(text, languages[language])}
        </section>`,
    )}
  </div>`;
