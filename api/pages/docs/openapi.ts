/** The parts of the OpenAPI document that the pages show. */
export interface Schema {
  $ref?: string;
  type?: string;
  format?: string;
  description?: string;
  enum?: readonly unknown[];
  const?: unknown;
  default?: unknown;
  anyOf?: readonly Schema[];
  items?: Schema;
  properties?: Readonly<Record<string, Schema>>;
  patternProperties?: Readonly<Record<string, Schema>>;
  required?: readonly string[];
  minimum?: number;
  exclusiveMinimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  pattern?: string;
}

export interface Parameter {
  name: string;
  in: "path" | "query" | "header";
  required: boolean;
  description?: string;
  schema: Schema;
  example?: string | number | boolean;
}

export interface Header {
  $ref?: string;
  description?: string;
  required?: boolean;
}

interface Example {
  $ref?: string;
  summary?: string;
  value?: unknown;
}

interface Content {
  schema: Schema;
  example?: unknown;
  examples?: Readonly<Record<string, Example>>;
}

export interface Reply {
  $ref?: string;
  description: string;
  headers?: Readonly<Record<string, Header>>;
  content?: Readonly<Record<string, Content>>;
}

interface OperationObject {
  operationId: string;
  tags: readonly string[];
  summary: string;
  description: string;
  parameters: readonly Parameter[];
  requestBody?: { content: Readonly<Record<string, Content>> };
  responses: Readonly<Record<string, Reply>>;
}

export interface ApiDocument {
  info: { title: string; description: string };
  servers: readonly { url: string }[];
  tags: readonly { name: string; description: string }[];
  paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  components: {
    schemas: Readonly<Record<string, Schema>>;
    headers: Readonly<Record<string, Header>>;
    examples: Readonly<Record<string, Example>>;
  };
}

export interface Operation extends OperationObject {
  /** The method in upper case. */
  method: string;
  /** The path below the server's address. */
  path: string;
}

/** The operations of a document, in its order. */
export const operationsOf = (document: ApiDocument): Operation[] =>
  Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]): Operation => ({
      ...operation,
      method: method.toUpperCase(),
      path,
    })),
  );

/** The target of a reference in the document, `#/components/headers/X-Request-Id`; a part without `$ref` as it is. */
export function resolve<T extends { $ref?: string }>(document: ApiDocument, part: T): T {
  if (part.$ref === undefined) return part;
  const keys = part.$ref.slice(2).split("/");
  return keys.reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], document) as T;
}

/** The first example of a request's body; undefined without a body. */
export function bodyExample({ requestBody }: Operation): unknown {
  const examples = requestBody?.content["application/json"]?.examples ?? {};
  return Object.values(examples)[0]?.value;
}
