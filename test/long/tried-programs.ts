/** Programs that use the API with one tool each, for `tried.test.ts`. Each prints what it saw as a line of JSON. */

/** What is installed from npm. orval says that it needs Node 22, and works with 20 as well. */
export const packages = [
  ...["typescript@5.9.3", "@types/node@20", "tsx@4", "orval@8.38.0", "@hey-api/openapi-ts@0.95.0"],
  ...["openapi-typescript@7.13.0", "openapi-fetch@0.17.0", "swagger-typescript-api@13.13.0"],
  ...["oazapfts@7.5.0", "@oazapfts/runtime@1.2.0", "@duckdb/node-api@1.5.6-r.1"],
  ...["eventsource@4.1.1", "eventsource-client@1.2.0", "eventsource-parser@3.1.1"],
  "@microsoft/fetch-event-source@2.0.1",
];

interface Program {
  tool: string;
  /** The package whose version is told. */
  main: string;
  /** A command that says the version of what does not come from npm. */
  version?: string;
  command: string;
  source: string;
}

const strict =
  "--noEmit --strict --skipLibCheck --target es2022 --module esnext --moduleResolution bundler --lib es2022,dom,dom.iterable --types node";

/** `file`: what the generator writes, which has to compile; `asked`: an object of calls, see below. */
const generated = (tool: string, generate: string, file: string, asked: string): Program => ({
  ...{ tool, main: tool },
  command: `${generate} > made.log && npx tsc ${strict} ${file} && npx tsx ${tool.replaceAll("/", "-")}.ts`,
  source: `// @ts-nocheck
const { API, KEY } = process.env;
const headers = { Authorization: "Bearer " + KEY };
const query = { bbox: "54.5,36.5,56.5,38.5" };
const user = "a/b ё";
const etag = (await fetch(API + "/stations?bbox=54.5,36.5,56.5,38.5", { headers })).headers.get("etag");
const kind = (value) =>
  value === undefined || value === null ? String(value)
  : typeof value === "string" ? (value === "" ? '""' : "text")
  : value instanceof Blob ? "Blob"
  : value instanceof ReadableStream ? "ReadableStream"
  : value instanceof Response ? "Response"
  : value.features ? "✓" : value.erased === undefined ? JSON.stringify(value).slice(0, 20) : "✓";
const ask = async (call) => {
  try {
    return await call();
  } catch (error) {
    return error instanceof Response ? "throw Response" : "throw " + error.constructor.name;
  }
};
const quoted = (text) => (text === "✓" ? text : "\`" + text + "\`");
${asked}
const said = {};
for (const [name, call] of Object.entries(calls)) said[name] = quoted(await ask(call));
said.user = said.user.replaceAll("\`", "");
console.log(JSON.stringify(said));
process.exit();
`,
});

const eventSource = (tool: string, open: string): Program => ({
  ...{ tool, main: tool, command: `npx tsx ${tool.replaceAll("/", "-")}.ts` },
  source: `// @ts-nocheck
import { createServer } from "node:http";
const { API, KEY } = process.env;
const headers = { Authorization: "Bearer " + KEY };
${open}
const texts = [];
let first;
const came = new Promise((resolve) => (first = resolve));
const since = new Date(Date.now() - 3600_000).toISOString();
const close = await start(API + "/stations/stream?updated_since=" + since, headers, (data) => {
  texts.push(data);
  if (data !== "") first();
});
const isRead = await Promise.race([came.then(() => true), new Promise((end) => setTimeout(end, 20_000))]);
close();
// A stream that is cut, and a service that is away when it is opened again.
const ids = [];
const server = createServer((req, res) => {
  ids.push(req.headers["last-event-id"]);
  if (ids.length > 1) return void res.writeHead(503).end();
  res.writeHead(200, { "content-type": "text/event-stream" });
  res.write("retry: 100\\n\\nid: 1\\ndata: {}\\n\\n: heartbeat\\nid: 2\\n\\n");
  setTimeout(() => res.destroy(), 200);
}).listen(0);
const seen = [];
const end = await start("http://localhost:" + server.address().port, {}, (data) => seen.push(data));
await new Promise((done) => setTimeout(done, 4000));
end();
const parts = [isRead ? "✓" : "–"];
if (seen.includes("")) parts.push('\`data: ""\`');
if (ids.length > 1) parts.push("503: " + (ids.length > 2 ? "✓" : "–"));
console.log(JSON.stringify({ stream: parts.join("; ") }));
process.exit();
`,
});

export const programs: readonly Program[] = [
  {
    ...{ tool: "requests", main: "", command: "python3 requests.py" },
    version: `python3 -c 'import sys; sys.path.pop(0); import requests; print(requests.__version__)'`,
    source: `import json, os, sys
sys.path.pop(0)
import requests
api, area = os.environ["API"], os.environ["AREA"]
session = requests.Session()
session.headers["Authorization"] = "Bearer " + os.environ["KEY"]
first = session.get(api + "/stations?" + area)
again = session.get(api + "/stations?" + area, headers={"If-None-Match": first.headers["ETag"]})
rows = session.get(api + "/stations.csv?" + area)
lines = session.get(api + "/stations.ndjson?" + area)
stream = session.get(api + "/stations/stream?updated_since=" + first.json()["as_of"][:11] + "00:00:00", stream=True, timeout=(5, 20))
read = [json.loads(line) for line in lines.iter_lines()]
event = next(line for line in stream.iter_lines() if line.startswith(b"data"))
json.loads(event[5:])
print(json.dumps({
    "gets304": "\`%d\`, \`%r\`" % (again.status_code, again.content),
    "geojson": "✓" if session.get(api + "/stations.geojson?" + area).json()["features"] else "–",
    "csv": "✓" if rows.encoding == "utf-8" and "ДТ" in rows.text else rows.encoding,
    "ndjson": "✓ \`encoding=%s\`" % lines.encoding,
    "stream": "✓ \`encoding=%s\`" % stream.encoding,
}))
`,
  },
  generated(
    "openapi-typescript",
    "npx openapi-typescript openapi.json -o paths.ts",
    "paths.ts",
    `import createClient from "openapi-fetch";
const client = createClient({ baseUrl: API, headers });
const { data: list } = await client.GET("/stations", { params: { query } });
if (!list.stations[0].fuel) throw new Error("no list");
const calls = {
  gets304: async () => { const { error, data } = await client.GET("/stations", { params: { query, header: { "If-None-Match": etag } } }); return "error: " + kind(error); },
  geojson: async () => kind((await client.GET("/stations.geojson", { params: { query } })).data),
  csv: async () => kind((await client.GET("/stations.csv", { params: { query } })).data),
  ndjson: async () => kind((await client.GET("/stations.ndjson", { params: { query } })).data),
  stream: async () => kind((await client.GET("/stations/stream", { parseAs: "stream" })).data) === "ReadableStream" ? "parseAs: \\"stream\\"" : "–",
  user: async () => kind((await client.DELETE("/users/{user_ref}", { params: { path: { user_ref: user } } })).data),
};`,
  ),
  generated(
    "@hey-api/openapi-ts",
    "npx openapi-ts -i openapi.json -o hey",
    "hey/index.ts",
    `import * as sdk from "./hey";
import { client } from "./hey/client.gen";
client.setConfig({ baseUrl: API, headers });
const calls = {
  gets304: async () => "error: " + kind((await sdk.listStations({ query, headers: { "If-None-Match": etag } })).error),
  geojson: async () => kind((await sdk.listStationsAsGeojson({ query })).data),
  csv: async () => kind((await sdk.listStationsAsCsv({ query })).data),
  ndjson: async () => kind((await sdk.listStationsAsNdjson({ query })).data),
  stream: async () => {
    const { stream } = await sdk.streamChanges({ query: { updated_since: new Date(Date.now() - 3600_000).toISOString() } });
    for await (const { stations } of stream) return stations.length > 0 ? "✓" : "–";
  },
  user: async () => kind((await sdk.eraseUser({ path: { user_ref: user } })).data),
};`,
  ),
  generated(
    "orval",
    `echo 'export default { api: { input: "./openapi.json", output: { target: "./orval-made.ts", client: "fetch", baseUrl: process.env.API } } };' > orval.config.mjs && npx orval`,
    "orval-made.ts",
    `import * as made from "./orval-made";
const calls = {
  gets304: async () => { const { status, data } = await made.listStations(query, { headers: { ...headers, "If-None-Match": etag } }); return status + ", data: " + kind(data); },
  geojson: async () => kind((await made.listStationsAsGeojson(query, { headers })).data),
  csv: async () => kind((await made.listStationsAsCsv(query, { headers })).data),
  ndjson: async () => kind((await made.listStationsAsNdjson(query, { headers })).stream),
  user: async () => { const { status, data } = await made.eraseUser(user, { headers }); return status === 200 ? kind(data) : String(status); },
};`,
  ),
  generated(
    "swagger-typescript-api",
    "npx swagger-typescript-api generate -p openapi.json -o . -n swagger-made.ts",
    "swagger-made.ts",
    `import { Api } from "./swagger-made";
const made = new Api({ baseUrl: API, baseApiParams: { headers } });
const calls = {
  gets304: async () => kind((await made.stations.listStations(query, { headers: { ...headers, "If-None-Match": etag } })).data),
  geojson: async () => kind((await made.stationsGeojson.listStationsAsGeojson(query)).data),
  csv: async () => kind((await made.stationsCsv.listStationsAsCsv(query)).data),
  ndjson: async () => kind((await made.stationsNdjson.listStationsAsNdjson(query)).data),
  user: async () => made.users.eraseUser(user).then(({ data }) => kind(data), ({ status }) => String(status)),
};`,
  ),
  generated(
    "oazapfts",
    "npx oazapfts openapi.json oazapfts-made.ts",
    "oazapfts-made.ts",
    `import * as made from "./oazapfts-made";
Object.assign(made.defaults, { baseUrl: API, headers });
const calls = {
  gets304: async () => { const { status, data } = await made.listStations({ ...query, ifNoneMatch: etag }); return status + ", data: " + kind(data); },
  geojson: async () => kind((await made.listStationsAsGeojson(query)).data),
  csv: async () => kind((await made.listStationsAsCsv(query)).data),
  ndjson: async () => kind((await made.listStationsAsNdjson(query)).data),
  user: async () => kind((await made.eraseUser(user)).data),
};`,
  ),
  eventSource(
    "eventsource",
    `import { EventSource } from "eventsource";
const start = (url, more, take) => {
  const source = new EventSource(url, { fetch: (to, init) => fetch(to, { ...init, headers: { ...init.headers, ...more } }) });
  source.onmessage = ({ data }) => take(data);
  source.onerror = () => {};
  return () => source.close();
};`,
  ),
  eventSource(
    "eventsource-client",
    `import { createEventSource } from "eventsource-client";
const start = (url, more, take) => {
  const source = createEventSource({ url, headers: more, onMessage: ({ data }) => take(data) });
  return () => source.close();
};`,
  ),
  eventSource(
    "eventsource-parser",
    `import { EventSourceParserStream } from "eventsource-parser/stream";
const start = async (url, more, take) => {
  const stop = new AbortController();
  const { body } = await fetch(url, { headers: more, signal: stop.signal });
  const events = body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
  (async () => { for await (const { data } of events) take(data); })().catch(() => {});
  return () => stop.abort();
};`,
  ),
  eventSource(
    "@microsoft/fetch-event-source",
    `import { fetchEventSource } from "@microsoft/fetch-event-source";
globalThis.window = globalThis;
globalThis.document = { hidden: false, addEventListener() {}, removeEventListener() {} };
const start = (url, more, take) => {
  const stop = new AbortController();
  const more2 = { headers: more, signal: stop.signal, openWhenHidden: true };
  fetchEventSource(url, { ...more2, onmessage: ({ data }) => take(data) }).catch(() => {});
  return () => stop.abort();
};`,
  ),
  {
    ...{ tool: "DuckDB", main: "@duckdb/node-api", command: "npx tsx DuckDB.ts" },
    source: `// @ts-nocheck
import { writeFileSync } from "node:fs";
import { DuckDBInstance } from "@duckdb/node-api";
const { API, KEY, AREA } = process.env;
for (const form of ["geojson", "csv", "ndjson"]) {
  const answer = await fetch(API + "/stations." + form + "?" + AREA, { headers: { Authorization: "Bearer " + KEY } });
  writeFileSync("duck." + form, await answer.text());
}
const db = await (await DuckDBInstance.create(":memory:")).connect();
const typeOf = async (time, from) =>
  (await db.runAndReadAll("select typeof(" + time + ") as kind, count(*) from " + from + " group by all")).getRowObjectsJson()[0].kind;
const mark = (kind) => (kind === "TIMESTAMP" ? "✓" : kind);
console.log(JSON.stringify({
  geojson: "\`read_json\`: " + mark(await typeOf("f.properties.fuel.updated", "(select unnest(features) f from read_json('duck.geojson'))")),
  csv: mark(await typeOf("updated", "'duck.csv'")),
  ndjson: mark(await typeOf("fuel.updated", "'duck.ndjson'")),
}));
process.exit();
`,
  },
];
