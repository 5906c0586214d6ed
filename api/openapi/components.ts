import type { TSchema } from "typebox";

export interface SchemaComponents {
  /** The schema as it stands in the document: named parts are references. */
  use(schema: TSchema): object;
  /** `components.schemas`: every named schema that was used. */
  readonly named: Record<string, object>;
}

/**
 * Takes schemas apart: what carries a `title` becomes a component of that name and is referred to. A schema with
 * `documentedAs` stands for another one, which is checked at another place.
 */
export function createSchemaComponents(): SchemaComponents {
  const named: Record<string, object> = {};
  const use = (schema: unknown): unknown => {
    if (Array.isArray(schema)) return schema.map(use);
    if (typeof schema !== "object" || schema === null) return schema;
    if ("documentedAs" in schema) return use(schema.documentedAs);
    const parts = Object.entries(schema).map(([name, part]) => [
      name,
      // Values, not schemas: a default or an example may look like one.
      ["default", "const", "enum", "examples"].includes(name) ? part : use(part),
    ]);
    const plain = Object.fromEntries(parts) as { title?: unknown };
    if (typeof plain.title !== "string") return plain;
    const { title, ...rest } = plain;
    const before = named[title];
    if (before !== undefined && JSON.stringify(before) !== JSON.stringify(rest))
      throw new Error(`two schemas are called ${title}`);
    named[title] = rest;
    return { $ref: `#/components/schemas/${title}` };
  };
  return { use: (schema) => use(schema) as object, named };
}
