import type { Sample } from "#api/pages/docs/markdown.ts";
import { bodyExample, type Operation, type Parameter } from "#api/pages/docs/openapi.ts";

/** Query of the example, where a parameter must be there and the document does not say so, or where few are useful. */
const queries: Readonly<Record<string, Record<string, string>>> = {
  listStations: { city: "Новосибирск", fuel: "95" },
  dumpStations: { limit: "30000" },
  listStationsAlong: { fuel: "95" },
  getStationHistory: { hours: "48" },
  listCities: { q: "Нов" },
  listCityInsights: { city: "Новосибирск", days: "7" },
  getUsage: { days: "7" },
  streamChanges: { updated_since: "2026-01-31 18:05:00" },
};

interface Call {
  method: string;
  /** Filled in and encoded. */
  path: string;
  query: [name: string, value: string][];
  body: unknown;
  /** Its answer stays open, or is not JSON. */
  answer: "json" | "text" | "stream";
}

/** The call of an operation in each language; `BASE` and `KEY` are environment variables. */
export function samplesOf(operation: Operation): Sample[] {
  const call = callOf(operation);
  return [
    { language: "sh", text: curlOf(call) },
    { language: "ts", text: typescriptOf(call) },
    { language: "python", text: pythonOf(call) },
  ];
}

function callOf(operation: Operation): Call {
  const { method, parameters, operationId } = operation;
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(exampleOf(parameters.find((one) => one.name === name && one.in === "path"))),
  );
  const required = parameters.filter((one) => one.in === "query" && one.required);
  const query = queries[operationId.replace(/As(Geojson|Ndjson|Csv)$/, "")];
  const types = Object.entries(operation.responses)
    .filter(([status]) => status.startsWith("2"))
    .flatMap(([, { content = {} }]) => Object.keys(content));
  return {
    method,
    path,
    query:
      query === undefined
        ? required.map((one): [string, string] => [one.name, exampleOf(one)])
        : Object.entries(query),
    body: bodyExample(operation),
    answer: types.includes("text/event-stream")
      ? "stream"
      : types.some((type) => type.endsWith("json") && !type.endsWith("ndjson"))
        ? "json"
        : "text",
  };
}

const exampleOf = (parameter: Parameter | undefined): string => String(parameter?.example ?? "");

/** Values of a query are written as people read them: the tools encode them. */
function curlOf({ method, path, query, body, answer }: Call): string {
  const inLines = method === "GET" && query.length > 0;
  const search = inLines || query.length === 0 ? "" : `?${new URLSearchParams(query).toString()}`;
  const isDefault = method === "GET" || (method === "POST" && body !== undefined);
  const options = [
    answer === "stream" ? "-N" : "-s --compressed",
    ...(inLines ? ["-G"] : []),
    ...(isDefault ? [] : [`-X ${method}`]),
  ];
  const lines = [
    `curl ${options.join(" ")} "$BASE${path}${search}"`,
    `-H "Authorization: Bearer $KEY"`,
    ...(inLines ? query.map(([name, value]) => `--data-urlencode "${name}=${value}"`) : []),
  ];
  if (body !== undefined) {
    lines.push(`-H "Content-Type: application/json"`);
    lines.push(`-d '${JSON.stringify(body, null, 2).replaceAll("'", `'\\''`)}'`);
  }
  return lines.join(" \\\n  ");
}

function typescriptOf({ method, path, query, body, answer }: Call): string {
  const headers = ["Authorization: `Bearer ${process.env.KEY}`"];
  if (body !== undefined) headers.push(`"Content-Type": "application/json"`);
  const options = [
    ...(method === "GET" ? [] : [`method: "${method}",`]),
    `headers: { ${headers.join(", ")} },`,
    ...(body === undefined
      ? []
      : [`body: JSON.stringify(${indented(JSON.stringify(body, null, 2))}),`]),
  ];
  const read = {
    json: "console.log(answer.status, await answer.json());",
    text: "console.log(answer.status, await answer.text());",
    stream:
      "for await (const piece of answer.body!.pipeThrough(new TextDecoderStream())) console.log(piece);",
  };
  const pairs = query.map(([name, value]) => `${name}: ${JSON.stringify(value)}`).join(", ");
  const before = pairs === "" ? "" : `const query = new URLSearchParams({ ${pairs} });\n`;
  return `${before}const answer = await fetch(\`\${process.env.BASE}${path}${pairs === "" ? "" : "?${query}"}\`, {
  ${options.join("\n  ")}
});
${read[answer]}`;
}

function pythonOf({ method, path, query, body, answer }: Call): string {
  const data = body === undefined ? "" : `, json.dumps(body).encode()`;
  const how = method === (body === undefined ? "GET" : "POST") ? "" : `, method="${method}"`;
  const imports = [
    ...(answer === "json" || body !== undefined ? ["json"] : []),
    "os",
    ...(query.length === 0 ? [] : ["urllib.parse"]),
    "urllib.request",
  ];
  const read = {
    json: "    print(answer.status, json.load(answer))",
    text: "    print(answer.status, answer.read().decode())",
    stream: `    for line in answer:\n        print(line.decode(), end="")`,
  };
  const pairs = query.map((pair) => pair.map((text) => JSON.stringify(text)).join(": ")).join(", ");
  const before = [
    ...(body === undefined ? [] : [`body = ${pythonValue(body)}`]),
    ...(pairs === "" ? [] : [`query = urllib.parse.urlencode({${pairs}})`]),
  ];
  const address = `os.environ["BASE"] + "${path}${pairs === "" ? '"' : '?" + query'}`;
  return `import ${imports.join(", ")}

${before.map((line) => `${line}\n`).join("")}request = urllib.request.Request(${address}${data}${how})
request.add_header("Authorization", "Bearer " + os.environ["KEY"])
${body === undefined ? "" : 'request.add_header("Content-Type", "application/json")\n'}with urllib.request.urlopen(request) as answer:
${read[answer]}`;
}

/** JSON as Python writes it; strings are the same in both. */
function pythonValue(value: unknown, indent = ""): string {
  const inner = `${indent}    `;
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value !== "object") return JSON.stringify(value);
  const isList = Array.isArray(value);
  const parts = isList
    ? value.map((part) => inner + pythonValue(part, inner))
    : Object.entries(value).map(
        ([name, part]) => `${inner}${JSON.stringify(name)}: ${pythonValue(part, inner)}`,
      );
  const [open, close] = isList ? "[]" : "{}";
  return `${open}\n${parts.join(",\n")},\n${indent}${close}`;
}

const indented = (text: string): string => text.replaceAll("\n", "\n  ");
