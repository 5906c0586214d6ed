import { html, type Html } from "#api/pages/html.ts";
import { renderText } from "#api/pages/docs/markdown.ts";
import { type ApiDocument, resolve, type Schema } from "#api/pages/docs/openapi.ts";
import type { DocsWords } from "#api/pages/docs/words.ts";

/** Schemas of this document as text and HTML, with these words around them. */
export function createSchemaHtml(document: ApiDocument, words: DocsWords) {
  /** A field's type and range in words: `integer or null, 1 to 10000`. */
  function typeOf(schema: Schema): string {
    const plain = resolve(document, schema);
    if (plain.anyOf !== undefined) return [...new Set(plain.anyOf.map(typeOf))].join(words.or);
    const name = schema.$ref?.split("/").at(-1);
    if (plain.type === "array") {
      const inside = plain.items === undefined ? "" : typeOf(plain.items);
      return words.arrayOf(inside) + between(plain.minItems, plain.maxItems, words.elements);
    }
    if (plain.type === "object") return name === undefined ? "object" : `object ${name}`;
    const bounds = between(plain.minimum, plain.maximum, "");
    const above = plain.exclusiveMinimum === undefined ? "" : words.above(plain.exclusiveMinimum);
    const length = between(plain.minLength, plain.maxLength, words.characters);
    return `${plain.type ?? words.anyValue}${above}${bounds}${length}`;
  }

  function between(from: number | undefined, to: number | undefined, unit: string): string {
    if (to === undefined && (from === undefined || (from === 0 && unit !== ""))) return "";
    const range = from === to ? String(to) : words.between(from, to);
    return `, ${range}${unit === "" ? "" : ` ${unit}`}`;
  }

  /** Notes on a field: its description, the values that it can have and its default. */
  function notesOf(schema: Schema, description?: string): Html {
    const plain = resolve(document, schema);
    const text = description ?? schema.description ?? plain.description;
    const values = valuesOf(schema);
    return html`${text === undefined ? null : renderText(text)}${
      values.length === 0
        ? null
        : html`<p>
            ${words.values}: ${values.map((value) => html`<code>${JSON.stringify(value)}</code> `)}
          </p>`
    }${
      plain.default === undefined
        ? null
        : html`<p>${words.default}: <code>${JSON.stringify(plain.default)}</code></p>`
    }`;
  }

  function valuesOf(schema: Schema): unknown[] {
    const plain = resolve(document, schema);
    if (plain.anyOf !== undefined) return plain.anyOf.flatMap(valuesOf);
    if (plain.const !== undefined) return [plain.const];
    return [...(plain.enum ?? plain.items?.enum ?? [])];
  }

  /** A field in a list: its name, its type, whether it may be absent, and what there is to say of it. */
  const field = (name: string, type: string, isRequired: boolean, notes: Html): Html =>
    html`<dt>
        <code>${name}</code>${type === "" ? null : html` <span class="type">${type}</span>`}${
          isRequired ? null : html` <span class="optional">${words.optional}</span>`
        }
      </dt>
      <dd>${notes}</dd>`;

  /**
   * The fields of an object or of an array's elements, those of objects inside it folded. `above`: names of the objects
   * that this one is in, so that none is shown within itself.
   */
  function fieldsOf(schema: Schema, above: readonly string[] = []): Html {
    const inner = objectOf(schema);
    if (inner === null) return html``;
    const named = inner.$ref?.split("/").at(-1) ?? "";
    if (named !== "" && above.includes(named)) return html``;
    const { properties = {}, required = [] } = resolve(document, inner);
    const rows = Object.entries(properties).map(([name, part]) => {
      const deeper = objectOf(part);
      const inside =
        deeper === null ? html`` : fieldsOf(deeper, named === "" ? above : [...above, named]);
      const notes = html`${notesOf(part)}${
        inside.html === ""
          ? null
          : html`<details>
              <summary>${words.fieldsOf} <code>${name}</code></summary>
              ${inside}
            </details>`
      }`;
      return field(name, typeOf(part), required.includes(name), notes);
    });
    return rows.length === 0 ? html`` : html`<dl class="fields">${rows}</dl>`;
  }

  /** The object that has the fields: itself, its elements, or the one of a choice that is an object. */
  function objectOf(schema: Schema): Schema | null {
    const plain = resolve(document, schema);
    if (plain.properties !== undefined) return schema;
    if (plain.items !== undefined) return objectOf(plain.items);
    for (const one of plain.anyOf ?? []) {
      const found = objectOf(one);
      if (found !== null) return found;
    }
    return null;
  }

  return { typeOf, notesOf, fieldsOf, field };
}
