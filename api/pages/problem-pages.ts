import type { PageRouter } from "#api/http/route.ts";
import type { PageDeps } from "#api/pages/deps.ts";
import { cardCss, html, type Html, sendPlainPage } from "#api/pages/html.ts";
import { languageOf, languageVary, type Language } from "#api/pages/messages.ts";
import { refusals, type ProblemCode } from "#src/contract/refusals.ts";

const prefix = "/problems";

/** `/problems/<code>`: where the `type` of a problem leads; `/problems`: all of them (decisions 9). */
export function problemPages(router: PageRouter, { config }: Pick<PageDeps, "config">): void {
  const add = (path: string, make: (words: Words) => { title: string; parts: Html[] }): void => {
    router.get(path, (ctx) => {
      const language = languageOf(ctx);
      ctx.set({ Vary: languageVary, "Cache-Control": "public, max-age=3600" });
      const page = make(words[language]);
      sendPlainPage(ctx, { language, css: cardCss, policy: "form-action 'none'", ...page });
    });
  };
  add(prefix, indexPage);
  for (const code of codes) add(`${prefix}/${code}`, codePage(code, config.problemBase));
}

const codes = Object.keys(refusals) as ProblemCode[];

const codePage = (code: ProblemCode, base: string) => (words: Words) => {
  const { status, title, advice } = refusals[code];
  const parts = [
    html`<p lang="en"><strong>${title}</strong></p>`,
    html`<dl>
      <dt>${words.httpStatus}</dt>
      <dd>${status}</dd>
      <dt>type</dt>
      <dd><code>${base}/${code}</code></dd>
      <dt>${words.advice}</dt>
      <dd lang="en">${advice}</dd>
    </dl>`,
    html`<p><a href="../problems?lang=${words.language}">${words.all}</a></p>`,
  ];
  if (status === 503) parts.push(html`<p><a href="../status">${words.service}</a></p>`);
  return { title: code, parts };
};

const indexPage = (words: Words) => ({
  title: words.title,
  parts: [
    html`<p>${words.about}</p>`,
    html`<table>
      <thead>
        <tr>
          ${[words.status, words.code, words.meaning].map((name) => html`<th>${name}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${codes.map((code) => {
          const { status, title } = refusals[code];
          return html`<tr>
            <td>${status}</td>
            <td>
              <a href="problems/${code}?lang=${words.language}"><code>${code}</code></a>
            </td>
            <td lang="en">${title}</td>
          </tr>`;
        })}
      </tbody>
    </table>`,
  ],
});

const en = {
  language: "en" as Language,
  title: "Problems of the API",
  about:
    "Every error is application/problem+json (RFC 9457); the last part of its type is one of these codes.",
  all: "All problems",
  httpStatus: "HTTP status",
  advice: "What to do",
  service: "How the service is now",
  status: "Status",
  code: "Code",
  meaning: "Meaning",
};
type Words = typeof en;
const ru: Words = {
  language: "ru",
  title: "Ошибки API",
  about:
    "Каждая ошибка — application/problem+json (RFC 9457); последняя часть её type — один из этих кодов. Объяснения кодов — на английском языке.",
  all: "Все ошибки",
  httpStatus: "Статус HTTP",
  advice: "Что делать",
  service: "Состояние сервиса сейчас",
  status: "Статус",
  code: "Код",
  meaning: "Значение",
};
const words: Record<Language, Words> = { en, ru };
