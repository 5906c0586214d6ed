import { html, type Html } from "#api/pages/html.ts";
import { renderText } from "#api/pages/docs/markdown.ts";
import { type ApiDocument, resolve, type Schema } from "#api/pages/docs/openapi.ts";

/** A field's type and range in words: `integer or null, 1 to 10000`. */
export function typeOf(document: ApiDocument, schema: Schema): string {
  const plain = resolve(document, schema);
  if (plain.anyOf !== undefined)
    return [...new Set(plain.anyOf.map((one) => typeOf(document, one)))].join(" or ");
  const name = schema.$ref?.split("/").at(-1);
  if (plain.type === "array") {
    const inside = plain.items === undefined ? "" : ` of ${typeOf(document, plain.items)}`;
    return `array${inside}${between(plain.minItems, plain.maxItems, "elements")}`;
  }
  if (plain.type === "object") return name === undefined ? "object" : `object ${name}`;
  const bounds = between(plain.minimum, plain.maximum, "");
  const above = plain.exclusiveMinimum === undefined ? "" : `, above ${plain.exclusiveMinimum}`;
  const length = between(plain.minLength, plain.maxLength, "characters");
  return `${plain.type ?? "any value"}${above}${bounds}${length}`;
}

function between(from: number | undefined, to: number | undefined, unit: string): string {
  const words = unit === "" ? "" : ` ${unit}`;
  if (from !== undefined && to !== undefined)
    return from === to ? `, ${from}${words}` : `, ${from} to ${to}${words}`;
  if (to !== undefined) return `, up to ${to}${words}`;
  return from === undefined || (from === 0 && unit !== "") ? "" : `, from ${from}${words}`;
}

/** Notes on a field: its description, the values that it can have and its default. */
export function notesOf(document: ApiDocument, schema: Schema, description?: string): Html {
  const plain = resolve(document, schema);
  const text = description ?? schema.description ?? plain.description;
  const values = valuesOf(document, schema);
  return html`${text === undefined ? null : renderText(text)}${
    values.length === 0
      ? null
      : html`<p>Values: ${values.map((value) => html`<code>${JSON.stringify(value)}</code> `)}</p>`
  }${
    plain.default === undefined
      ? null
      : html`<p>Default: <code>${JSON.stringify(plain.default)}</code></p>`
  }`;
}

function valuesOf(document: ApiDocument, schema: Schema): unknown[] {
  const plain = resolve(document, schema);
  if (plain.anyOf !== undefined) return plain.anyOf.flatMap((one) => valuesOf(document, one));
  if (plain.const !== undefined) return [plain.const];
  return [...(plain.enum ?? plain.items?.enum ?? [])];
}

/**
 * The fields of an object or of an array's elements, those of objects inside it folded. `above`: names of the objects
 * that this one is in, so that none is shown within itself.
 */
export function fieldsOf(
  document: ApiDocument,
  schema: Schema,
  above: readonly string[] = [],
): Html {
  const inner = objectOf(document, schema);
  if (inner === null) return html``;
  const named = inner.$ref?.split("/").at(-1) ?? "";
  if (named !== "" && above.includes(named)) return html``;
  const { properties = {}, required = [] } = resolve(document, inner);
  const rows = Object.entries(properties).map(([name, part]) => {
    const deeper = objectOf(document, part);
    const inside =
      deeper === null
        ? html``
        : fieldsOf(document, deeper, named === "" ? above : [...above, named]);
    return html`<dt>
        <code>${name}</code>
        <span class="type">${typeOf(document, part)}</span
        >${required.includes(name) ? null : html` <span class="optional">optional</span>`}
      </dt>
      <dd>
        ${notesOf(document, part)}${
          inside.html === ""
            ? null
            : html`<details>
                <summary>Fields of <code>${name}</code></summary>
                ${inside}
              </details>`
        }
      </dd>`;
  });
  return rows.length === 0 ? html`` : html`<dl class="fields">${rows}</dl>`;
}

/** The object that has the fields: itself, its elements, or the one of a choice that is an object. */
function objectOf(document: ApiDocument, schema: Schema): Schema | null {
  const plain = resolve(document, schema);
  if (plain.properties !== undefined) return schema;
  if (plain.items !== undefined) return objectOf(document, plain.items);
  for (const one of plain.anyOf ?? []) {
    const found = objectOf(document, one);
    if (found !== null) return found;
  }
  return null;
}
