import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import type { TSchema } from "typebox";
import type { Fault } from "#src/contract/refusals.ts";
import { createSpelling, misspelt } from "#src/contract/spelling.ts";

/** The faults of a value; null when there are none. `where` is the first part of each `loc`: `body` or `query`. */
export type Check = (value: unknown) => Fault[] | null;

const ajv = new Ajv({
  allErrors: true,
  strict: false,
  strictNumbers: true,
  verbose: true,
  useDefaults: true,
});
const faultsMax = 20;
const inputMax = 100;

/**
 * A check of values against `schema`. Nothing is coerced; absent fields with a default are filled in. Unknown fields
 * are ignored, unless they are known ones in another spelling (decisions 3.17). Misspelt names come first, then faults
 * in the order of the schema; at most 20. The schema is compiled for the first value: compiling those of all routes
 * would be a sixth of a process's start.
 */
export function compileCheck(schema: TSchema, where: "body" | "query"): Check {
  let validate: ValidateFunction | undefined;
  const { properties = {} } = schema as { properties?: Record<string, unknown> };
  const spelling = createSpelling(Object.keys(properties));
  return (value) => {
    // Names in queries are checked by their parser.
    const names = (where === "body" ? namesOf(value) : []).flatMap((name) => {
      const known = spelling(name);
      return known === undefined ? [] : misspelt(where, name, known);
    });
    validate ??= ajv.compile(schema);
    if (validate(value) && names.length === 0) return null;
    const errors = withoutBranches(validate.errors ?? []);
    const faults = errors.map((error) => faultOf(error, where, value));
    return [...names, ...faults].slice(0, faultsMax);
  };
}

const namesOf = (value: unknown): string[] =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? Object.keys(value) : [];

/**
 * One error per choice: that of the branch which the value belongs to (if its range is wrong, or a part of it), else
 * that of the choice itself.
 */
function withoutBranches(errors: ErrorObject[]): ErrorObject[] {
  const choices = errors.filter(({ keyword }) => keyword === "anyOf" || keyword === "oneOf");
  const speaking = new Set<ErrorObject>();
  const silent = new Set<ErrorObject>();
  for (const choice of choices) {
    const inner = errors.filter(
      ({ schemaPath, instancePath }) =>
        schemaPath.startsWith(`${choice.schemaPath}/`) &&
        instancePath.startsWith(choice.instancePath),
    );
    const meant = inner.filter(
      ({ keyword, instancePath }) =>
        instancePath !== choice.instancePath || !["type", "const", "enum"].includes(keyword),
    );
    for (const error of inner) silent.add(error);
    if (meant.length === 0) continue;
    silent.add(choice);
    for (const error of meant) speaking.add(error);
  }
  return errors.filter((error) => speaking.has(error) || !silent.has(error));
}

function faultOf(error: ErrorObject, where: string, root: unknown): Fault {
  const loc: Fault["loc"] = [where, ...pathOf(error.instancePath, root)];
  // Points at the later one of two equal items.
  if (error.keyword === "uniqueItems")
    loc.push(Math.max(error.params["i"] as number, error.params["j"] as number));
  if (error.keyword === "required") {
    loc.push(error.params["missingProperty"] as string);
    return { loc, msg: "Field required", type: "missing" };
  }
  if (error.keyword === "additionalProperties")
    loc.push(error.params["additionalProperty"] as string);
  const [msg, type, ctx] = explain(error);
  const fault: Fault = { loc, msg, type };
  const input: unknown = error.data;
  if (input === null || typeof input === "number" || typeof input === "boolean")
    fault.input = input;
  if (typeof input === "string") fault.input = [...input].slice(0, inputMax).join("");
  if (ctx !== undefined) fault.ctx = ctx;
  return fault;
}

/** The parts of a JSON pointer, with places in arrays as numbers. */
function pathOf(pointer: string, root: unknown): (string | number)[] {
  let at = root;
  return pointer
    .split("/")
    .slice(1)
    .map((part) => {
      const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
      const step = Array.isArray(at) ? Number(name) : name;
      at = (at as Record<string | number, unknown> | undefined)?.[step];
      return step;
    });
}

type Explained = [msg: string, type: string, ctx?: Record<string, unknown>];

const typeNames: Record<string, Explained> = {
  string: ["Input should be a valid string", "string_type"],
  integer: ["Input should be a valid integer", "int_type"],
  number: ["Input should be a valid number", "float_type"],
  boolean: ["Input should be a valid boolean", "bool_type"],
  array: ["Input should be a valid list", "list_type"],
  object: ["Input should be a valid object", "dict_type"],
  null: ["Input should be null", "none_required"],
};

function explain(error: ErrorObject): Explained {
  switch (error.keyword) {
    case "type":
      return typeNames[firstType(error.params["type"])] ?? unknownFault(error);
    case "enum":
      return literal(error.params["allowedValues"] as unknown[]);
    case "const":
      return literal([error.params["allowedValue"]]);
    case "anyOf":
    case "oneOf":
      return choice(error);
    case "pattern":
      return [
        `String should ${wanted(error) ?? "match the pattern"}`,
        "string_pattern_mismatch",
        { pattern: error.params["pattern"] },
      ];
    case "uniqueItems":
      return ["List should have each item once", "unique_items"];
    case "additionalProperties":
      return ["Unknown field", "extra_forbidden"];
    case "minProperties":
      return ["Input should have at least one field", "too_short"];
    default:
      return limitFault(error) ?? unknownFault(error);
  }
}

/** Texts before and after the limit, the fault's type and the limit's name, by keyword. */
const limits: Record<string, [before: string, after: string, type: string, name: string]> = {
  minLength: ["String should have at least", " characters", "string_too_short", "min_length"],
  maxLength: ["String should have at most", " characters", "string_too_long", "max_length"],
  minItems: ["List should have at least", " items", "too_short", "min_length"],
  maxItems: ["List should have at most", " items", "too_long", "max_length"],
  minimum: ["Input should be greater than or equal to", "", "greater_than_equal", "ge"],
  maximum: ["Input should be less than or equal to", "", "less_than_equal", "le"],
  exclusiveMinimum: ["Input should be greater than", "", "greater_than", "gt"],
  exclusiveMaximum: ["Input should be less than", "", "less_than", "lt"],
};

function limitFault({ keyword, params }: ErrorObject): Explained | undefined {
  const words = limits[keyword];
  if (words === undefined) return undefined;
  const [before, after, type, name] = words;
  return [`${before} ${params["limit"]}${after}`, type, { [name]: params["limit"] }];
}

/** The purpose of a pattern, if its schema has one: `be of letters`. */
const wanted = ({ parentSchema }: ErrorObject): string | undefined =>
  (parentSchema as { wanted?: string } | undefined)?.wanted;

const unknownFault = (error: ErrorObject): Explained => [
  `Input ${error.message ?? "is not valid"}`,
  "value_error",
];

const firstType = (type: unknown): string => String(Array.isArray(type) ? type[0] : type);

const literal = (values: unknown[]): Explained => {
  const names = values.map((value) => `'${String(value)}'`);
  const expected =
    names.length > 1 ? `${names.slice(0, -1).join(", ")} or ${names.at(-1)}` : names.join("");
  return [`Input should be ${expected}`, "literal_error", { expected }];
};

/** A choice of constants is one list of allowed values; any other is named after its first kind of value. */
function choice(error: ErrorObject): Explained {
  const branches = error.schema as { const?: unknown; type?: string }[];
  if (branches.every((branch) => "const" in branch))
    return literal(branches.map((branch) => branch.const));
  const type = branches.find((branch) => branch.type !== "null")?.type ?? "";
  return typeNames[type] ?? unknownFault(error);
}
