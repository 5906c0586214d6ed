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
import { fieldsOf, notesOf, typeOf } from "#api/pages/docs/schema-html.ts";

/** The page of an operation: its parameters and answers on the left, calls of it on the right. */
export function operationPage(document: ApiDocument, operation: Operation): Html {
  const { method, path, summary, description } = operation;
  return html`<h1>${summary}</h1>
    <p class="call">${methodBadge(method)} <code>${path}</code></p>
    <div class="columns">
      <div>
        ${renderText(description)} ${parameters(document, operation)} ${body(document, operation)}
        <h2>Answers</h2>
        ${Object.entries(operation.responses).map(([status, reply]) => answer(document, status, reply))}
      </div>
      <div class="aside">
        <h2>Sample</h2>
        ${samples(samplesOf(operation))}
        <p class="soft">
          Set <code>BASE</code> and <code>KEY</code> as in
          <a href="../guide/get-a-key">Get a key</a>.
        </p>
        ${tryIt(document, operation)}
      </div>
    </div>`;
}

export const methodBadge = (method: string): Html =>
  html`<span class="method ${method.toLowerCase()}">${method}</span>`;

const places = { path: "In the path", query: "In the query", header: "Headers" } as const;

function parameters(document: ApiDocument, operation: Operation): Html[] {
  return Object.entries(places).flatMap(([place, title]) => {
    const all = operation.parameters.filter((one) => one.in === place);
    if (all.length === 0) return [];
    return [
      html`<h2>${title}</h2>
        <dl class="fields">${all.map((one) => field(document, one))}</dl>`,
    ];
  });
}

const field = (document: ApiDocument, parameter: Parameter): Html =>
  html`<dt>
      <code>${parameter.name}</code>
      <span class="type">${typeOf(document, parameter.schema)}</span
      >${parameter.required ? null : html` <span class="optional">optional</span>`}
    </dt>
    <dd>
      ${notesOf(document, parameter.schema, parameter.description)}${
        parameter.example === undefined
          ? null
          : html`<p>Example: <code>${String(parameter.example)}</code></p>`
      }
    </dd>`;

function body(document: ApiDocument, { requestBody }: Operation): Html | null {
  const content = requestBody?.content["application/json"];
  if (content === undefined) return null;
  const { schema, examples = {} } = content;
  return html`<h2>Body</h2>
    ${notesOf(document, schema)} ${fieldsOf(document, schema)}
    ${Object.entries(examples).map(
      ([name, { value }]) =>
        html`<details>
          <summary>Example: ${name}</summary>
          ${block(value)}
        </details>`,
    )}`;
}

const block = (value: unknown): Html =>
  html`<div class="code">
    <pre tabindex="0" role="group" aria-label="Example"><code>${
      typeof value === "string" ? value : JSON.stringify(value, null, 2)
    }</code></pre>
  </div>`;

function answer(document: ApiDocument, status: string, given: Reply): Html {
  const reply = resolve(document, given);
  const headers = Object.entries(reply.headers ?? {}).map(([name, header]) => {
    const { description = "", required = false } = resolve(document, header);
    return html`<dt>
        <code>${name}</code>${required ? null : html` <span class="optional">optional</span>`}
      </dt>
      <dd>${renderText(description)}</dd>`;
  });
  const contents = Object.entries(reply.content ?? {}).map(
    ([type, { schema, example, examples = {} }]) =>
      html`<p><code>${type}</code></p>
        ${fieldsOf(document, schema)}
        ${
          example === undefined
            ? null
            : html`<details>
                <summary>Example</summary>
                ${block(example)}
              </details>`
        }
        ${Object.entries(examples).map(
          ([name, one]) =>
            html`<details>
              <summary>Example: <code>${name}</code></summary>
              ${block(resolve(document, one).value)}
            </details>`,
        )}`,
  );
  return html`<details class="answer" ${{ html: status.startsWith("2") ? " open" : "" }}>
    <summary><b class="status s${status[0]!}">${status}</b> ${brief(reply.description)}</summary>
    ${renderText(reply.description)} ${contents}
    ${
      headers.length === 0
        ? null
        : html`<details>
            <summary>Headers</summary>
            <dl class="fields">${headers}</dl>
          </details>`
    }
  </details>`;
}

/** The description in one line: of several problems only their codes. */
function brief(description: string): string {
  const codes = [...description.matchAll(/^`([\w-]+)`:/gm)].map(([, code]) => code);
  if (codes.length > 0) return codes.join(", ");
  return description.split(/[;.]/)[0]!.replaceAll("`", "");
}

/** A form that calls the operation with the reader's key. It is shown by the page's script. */
function tryIt(document: ApiDocument, operation: Operation): Html {
  const { method, path, operationId } = operation;
  const example = bodyExample(operation);
  return html`<form class="try" hidden data-method="${method}" data-path="${path}">
    <h2>Try it</h2>
    <p class="soft">
      ${method === "GET" ? "The request counts towards your limits." : "The request is real and counts towards your limits."}
      The key stays in this tab.
    </p>
    <label
      >Key
      <input
        name="key"
        type="password"
        autocomplete="off"
        spellcheck="false"
        placeholder="svc_live_…"
        required
    /></label>
    ${operation.parameters
      .filter(({ name }) => name !== "If-None-Match")
      .map((parameter) => input(document, parameter, operationId))}
    ${example === undefined ? null : html`<label>Body <textarea name="body" rows="8" spellcheck="false">${JSON.stringify(example, null, 2)}</textarea></label>`}
    <div class="buttons">
      <button type="submit">Send</button>
      <button type="button" class="plain" data-forget>Forget the key</button>
    </div>
    <div class="outcome" role="status"></div>
  </form>`;
}

/** A dry run is suggested where there is one: nobody should store a mark by trying. */
function input(document: ApiDocument, parameter: Parameter, operationId: string): Html {
  const { name, required, example, schema } = parameter;
  const isDry = name === "X-Dry-Run" && !operationId.endsWith("FromWidget");
  const start = required && parameter.in !== "path" ? String(example ?? "") : isDry ? "1" : "";
  const hint = example === undefined ? typeOf(document, schema) : String(example);
  return html`<label
    >${name}${required ? null : html` <span class="optional">optional</span>`}
    <input
      name="${name}"
      data-in="${parameter.in}"
      value="${start}"
      placeholder="${hint}"
      autocomplete="off"
      spellcheck="false"
      ${{ html: required ? " required" : "" }}
  /></label>`;
}
