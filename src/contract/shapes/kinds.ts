import { type TProperties, type TSchema, Type } from "typebox";

// The kinds of fields that shapes are made of. Descriptions are for the readers of the OpenAPI document.

/** An object with a name of its own in the OpenAPI document. */
export const named = <Fields extends TProperties>(title: string, fields: Fields) =>
  Type.Object(fields, { title });

/** An object that is a part of another one. */
export const part = <Fields extends TProperties>(description: string, fields: Fields) =>
  Type.Object(fields, { description });

export const list = <Item extends TSchema>(description: string, item: Item) =>
  Type.Array(item, { description });

export const text = (description: string, more: { pattern?: string; examples?: string[] } = {}) =>
  Type.String({ description, ...more });

export const flag = (description: string) => Type.Boolean({ description });

/** A whole number from 0 on. */
export const count = (description: string) => Type.Integer({ minimum: 0, description });

/** One of a list of words. */
export const word = <const T extends readonly string[]>(values: T, description?: string) =>
  Type.Unsafe<T[number]>({
    type: "string",
    enum: [...values],
    ...(description === undefined ? {} : { description }),
  });

/** A value or null; the description is that of the choice, where readers look for it. */
export const orNull = <T extends TSchema>(schema: T) => {
  const { description } = schema as { description?: string };
  return Type.Union([schema, Type.Null()], description === undefined ? {} : { description });
};

/** `YYYY-MM-DD HH:MM:SS` in UTC; `or` is its empty value. */
export const time = (description: string, or: "" | null = null) =>
  text(description, {
    pattern: `^${or === "" ? "(" : ""}\\d{4}-\\d{2}-\\d{2} \\d{2}:\\d{2}:\\d{2}${or === "" ? ")?" : ""}$`,
  });

/** A whole number within bounds; `usual` where nothing is said. */
export const between = (description: string, minimum: number, maximum: number, usual?: number) =>
  Type.Integer({
    ...{ minimum, maximum },
    ...(usual === undefined ? {} : { default: usual }),
    description,
  });
