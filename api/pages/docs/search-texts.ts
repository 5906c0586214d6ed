import { setImmediate as pause } from "node:timers/promises";
import { addressOf } from "#api/pages/docs/chapters.ts";
import { renderMarkdown } from "#api/pages/docs/markdown.ts";
import { type ApiDocument, type Operation, resolve, type Schema } from "#api/pages/docs/openapi.ts";
import { type Contents, operationBase } from "#api/pages/docs/shell.ts";
import { entities } from "#api/pages/html.ts";

/**
 * The texts for the search of `/docs`, by the address of the page (decisions 8.41). A call's text is only about its
 * request: things that all calls share, as headers and errors, would be found in each of them.
 */
export async function searchTexts({
  document,
  operations,
  chapters,
}: Contents): Promise<Record<string, string>> {
  const texts: Record<string, string> = {};
  for (const { slug, markdown } of chapters) {
    texts[addressOf(slug)] = plainOf(markdown);
    // All of them would hold up other requests for a tenth of a second.
    await pause();
  }
  for (const operation of operations) {
    texts[`${operationBase}/${operation.operationId}`] = sentBy(document, operation);
    await pause();
  }
  return texts;
}

function sentBy(document: ApiDocument, operation: Operation): string {
  const { description, parameters, requestBody } = operation;
  const named = parameters.flatMap((one) => [
    one.name,
    one.description ?? one.schema.description ?? "",
  ]);
  const bodies = Object.values(requestBody?.content ?? {});
  const fields = bodies.flatMap(({ schema }) => fieldsOf(document, schema, new Set()));
  return plainOf([description, ...named, ...fields].join("\n\n"));
}

/** The names and descriptions of an object's fields, those of objects inside it too. */
function fieldsOf(document: ApiDocument, schema: Schema, seen: Set<Schema>): string[] {
  const plain = resolve(document, schema);
  if (seen.has(plain)) return [];
  seen.add(plain);
  const inside = [...(plain.anyOf ?? []), ...(plain.items === undefined ? [] : [plain.items])];
  return [
    ...Object.entries({ ...plain.properties, ...plain.patternProperties }).flatMap(
      ([name, field]) => [
        name,
        field.description ?? resolve(document, field).description ?? "",
        ...fieldsOf(document, field, seen),
      ],
    ),
    ...inside.flatMap((one) => fieldsOf(document, one, seen)),
  ];
}

const characters = new Map(Object.entries(entities).map(([plain, entity]) => [entity, plain]));

/** Markdown as its reader sees it, in one line. */
const plainOf = (markdown: string): string =>
  renderMarkdown(markdown)
    .body.html.replaceAll(/<[^>]*>/g, " ")
    .replaceAll(/&(?:lt|gt|quot|#39|amp);/g, (entity) => characters.get(entity)!)
    .replaceAll(/\s+/g, " ")
    .trim();
