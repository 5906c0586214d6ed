import { html, type Html } from "#api/pages/html.ts";
import { renderText, samples } from "#api/pages/docs/markdown.ts";
import {
  type ApiDocument,
  bodyExample,
  type Operation,
  type Parameter,
  type Reply,
  resolve,
} from "#api/pages/docs/openapi.ts";
import { samplesOf } from "#api/pages/docs/samples.ts";
import { createSchemaHtml } from "#api/pages/docs/schema-html.ts";
import type { DocsWords } from "#api/pages/docs/words.ts";

/** The page of an operation: its parameters and answers on the left, calls of it on the right. */
export function operationPage(document: ApiDocument, operation: Operation, words: DocsWords): Html {
  const { method, path, summary, description } = operation;
  const { typeOf, notesOf, fieldsOf, field } = createSchemaHtml(document, words);

  const parameters = Object.entries(words.places).flatMap(([place, title]) => {
    const all = operation.parameters.filter((one) => one.in === place);
    if (all.length === 0) return [];
    return [
      html`<h2>${title}</h2>
        <dl class="fields">${all.map(parameterField)}</dl>`,
    ];
  });

  function parameterField({ name, schema, required, description, example }: Parameter): Html {
    const notes = html`${notesOf(schema, description)}${
      example === undefined ? null : html`<p>${words.example}: <code>${String(example)}</code></p>`
    }`;
    return field(name, typeOf(schema), required, notes);
  }

  function body(): Html | null {
    const content = operation.requestBody?.content["application/json"];
    if (content === undefined) return null;
    const { schema, examples = {} } = content;
    return html`<h2>${words.body}</h2>
      ${notesOf(schema)} ${fieldsOf(schema)}
      ${Object.entries(examples).map(([name, { value }]) => folded(html`: ${name}`, value))}`;
  }

  const folded = (name: Html, value: unknown): Html =>
    html`<details>
      <summary>${words.example}${name}</summary>
      <div class="code">
        <pre tabindex="0" role="group" aria-label="${words.example}"><code>${
          typeof value === "string" ? value : JSON.stringify(value, null, 2)
        }</code></pre>
      </div>
    </details>`;

  function answer(status: string, given: Reply): Html {
    const reply = resolve(document, given);
    const headers = Object.entries(reply.headers ?? {}).map(([name, header]) => {
      const { description = "", required = false } = resolve(document, header);
      return field(name, "", required, renderText(description));
    });
    const contents = Object.entries(reply.content ?? {}).map(
      ([type, { schema, example, examples = {} }]) =>
        html`<p><code>${type}</code></p>
          ${fieldsOf(schema)} ${example === undefined ? null : folded(html``, example)}
          ${Object.entries(examples).map(([name, one]) =>
            folded(html`: <code>${name}</code>`, resolve(document, one).value),
          )}`,
    );
    return html`<details class="answer" ${{ html: status.startsWith("2") ? " open" : "" }}>
      <summary><b class="status s${status[0]!}">${status}</b> ${brief(reply.description)}</summary>
      ${renderText(reply.description)} ${contents}
      ${
        headers.length === 0
          ? null
          : html`<details>
              <summary>${words.headers}</summary>
              <dl class="fields">${headers}</dl>
            </details>`
      }
    </details>`;
  }

  /** A form that calls the operation with the reader's key. It is shown by the page's script. */
  function tryIt(): Html {
    const example = bodyExample(operation);
    return html`<form class="try" hidden data-method="${method}" data-path="${path}">
      <h2>${words.tryIt}</h2>
      <p class="soft">${method === "GET" ? words.counts : words.isReal} ${words.inTab}</p>
      <label
        >${words.key}
        <input
          name="key"
          type="password"
          autocomplete="off"
          spellcheck="false"
          placeholder="${"svc_live_…"}"
          required
      /></label>
      ${operation.parameters.filter(({ name }) => name !== "If-None-Match").map(input)}
      ${example === undefined ? null : html`<label>${words.body} <textarea name="body" rows="8" spellcheck="false">${JSON.stringify(example, null, 2)}</textarea></label>`}
      <div class="buttons">
        <button type="submit">${words.send}</button>
        <button type="button" class="plain" data-forget>${words.forget}</button>
      </div>
      <div class="outcome" role="status"></div>
    </form>`;
  }

  /** A dry run is suggested where there is one: nobody should store a mark by trying. */
  function input({ name, required, example, schema, in: place }: Parameter): Html {
    const isDry = name === "X-Dry-Run" && !operation.operationId.endsWith("FromWidget");
    const start = required && place !== "path" ? String(example ?? "") : isDry ? "1" : "";
    const hint = example === undefined ? typeOf(schema) : String(example);
    return html`<label
      >${name}${required ? null : html` <span class="optional">${words.optional}</span>`}
      <input
        name="${name}"
        data-in="${place}"
        value="${start}"
        placeholder="${hint}"
        autocomplete="off"
        spellcheck="false"
        ${{ html: required ? " required" : "" }}
    /></label>`;
  }

  return html`<h1 lang="en">${summary}</h1>
    <p class="call">${methodBadge(method)} <code>${path}</code></p>
    ${words.inEnglish === "" ? null : html`<p class="soft">${words.inEnglish}</p>`}
    <div class="columns">
      <div>
        ${renderText(description)} ${parameters} ${body()}
        <h2>${words.answers}</h2>
        ${Object.entries(operation.responses).map(([status, reply]) => answer(status, reply))}
      </div>
      <div class="aside">
        <h2>${words.sample}</h2>
        ${samples(samplesOf(operation))}
        <p class="soft">
          ${words.setAsIn("BASE", "KEY")} <a href="../guide/get-a-key">${words.getAKey}</a>.
        </p>
        ${tryIt()}
      </div>
    </div>`;
}

export const methodBadge = (method: string): Html =>
  html`<span class="method ${method.toLowerCase()}">${method}</span>`;

/** The description in one line: of several problems only their codes. */
function brief(description: string): string {
  const codes = [...description.matchAll(/^`([\w-]+)`:/gm)].map(([, code]) => code);
  if (codes.length > 0) return codes.join(", ");
  return description.split(/[;.]/)[0]!.replaceAll("`", "");
}
