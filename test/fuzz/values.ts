import fc, { type Arbitrary } from "fast-check";

export type Schema = Record<string, unknown>;
export type Resolve = (reference: string) => Schema;

/** Values that fit a schema of the OpenAPI document, its edges more often than their share. */
export function valuesOf(schema: Schema, resolve: Resolve): Arbitrary<unknown> {
  const of = (part: unknown): Arbitrary<unknown> => valuesOf(part as Schema, resolve);
  if (typeof schema["$ref"] === "string") return of(resolve(schema["$ref"]));
  if (Array.isArray(schema["anyOf"])) return fc.oneof(...schema["anyOf"].map(of));
  if ("const" in schema) return fc.constant(schema["const"]);
  if (Array.isArray(schema["enum"])) return fc.constantFrom(...(schema["enum"] as unknown[]));
  const number = (name: string): number | undefined => schema[name] as number | undefined;
  switch (schema["type"]) {
    case "null":
      return fc.constant(null);
    case "boolean":
      return fc.boolean();
    case "integer":
      return fc.integer({ min: number("minimum") ?? -1000, max: number("maximum") ?? 1_000_000 });
    case "number":
      return fc.double({
        min: number("minimum") ?? number("exclusiveMinimum") ?? -1e6,
        max: number("maximum") ?? 1e6,
        minExcluded: "exclusiveMinimum" in schema,
        noNaN: true,
      });
    case "string":
      return texts(number("minLength") ?? 0, number("maxLength") ?? 60);
    case "array":
      return fc.array(of(schema["items"]), {
        minLength: number("minItems") ?? 0,
        maxLength: Math.min(number("maxItems") ?? 5, 5),
      });
    case "object":
      return objectsOf(schema, of);
    default:
      return fc.jsonValue();
  }
}

function objectsOf(schema: Schema, of: (part: unknown) => Arbitrary<unknown>): Arbitrary<unknown> {
  const properties = (schema["properties"] ?? {}) as Record<string, unknown>;
  const required = (schema["required"] ?? []) as string[];
  const named = fc.record(
    Object.fromEntries(Object.entries(properties).map(([name, part]) => [name, of(part)])),
    { requiredKeys: required },
  );
  const rest = schema["additionalProperties"];
  if (typeof rest !== "object" || rest === null) return named;
  return fc
    .tuple(named, fc.dictionary(words, of(rest), { maxKeys: 3 }))
    .map(([fixed, free]) => ({ ...free, ...fixed }));
}

/** Words that mean something to the service, so that drawn requests get past the first check. */
export const words = fc.constantFrom(
  ...["92", "95", "98", "100", "ДТ", "dt", "Дизель", "yes", "no", "nodata", "0-5", "20+"],
  ...[
    "Тестоград",
    "n1001",
    "54,36,56,38",
    "2026-01-31 18:05:00",
    "",
    " ",
    "0",
    "1",
    "true",
    "__proto__",
  ],
);

/** Well-formed text of so many code points. */
function texts(minLength: number, maxLength: number): Arbitrary<string> {
  const plain = fc.string({ unit: "binary", minLength, maxLength }).filter((text) => {
    // NUL is refused, and a valid request holds none.
    return !text.includes("\0");
  });
  const fitting = words.filter((text) => text.length >= minLength && text.length <= maxLength);
  return fc.oneof(fitting, plain, fc.constant("ж".repeat(maxLength)));
}
