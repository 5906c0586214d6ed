import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { gzip } from "node:zlib";

/** An answer of Fuelmark as it was recorded: what the raw server gives for the same target and encoding. */
export interface Recorded {
  url: string;
  gzip: boolean;
  headers: Record<string, string>;
  /** Name of the body's file in the folder; "" for a 304. */
  file: string;
}

// The rival of `npm run bench -- reads`: a bare Node server that writes constants, the same bytes as Fuelmark's.
const folder = process.env["RECORDED"]!;
const recorded = JSON.parse(readFileSync(join(folder, "recorded.json"), "utf8")) as Recorded[];
const answers = [new Map<string, Constant>(), new Map<string, Constant>()] as const;
let notModified: Record<string, string> = {};
for (const { url, gzip: packed, headers, file } of recorded) {
  if (file === "") notModified = headers;
  else answers[packed ? 1 : 0].set(url, { headers, body: readFileSync(join(folder, file)) });
}

interface Constant {
  headers: Record<string, string>;
  body: Buffer;
}

const server = createServer((req, res) => {
  if (req.headers["if-none-match"] !== undefined) {
    res.writeHead(304, notModified).end();
    return;
  }
  const onTheFly = req.headers["x-on-the-fly"] !== undefined;
  const packed = req.headers["accept-encoding"] !== undefined && !onTheFly;
  const found = answers[packed ? 1 : 0].get(req.url ?? "");
  if (found === undefined) {
    res.writeHead(404, { "Content-Length": "0" }).end();
  } else if (onTheFly) {
    gzip(found.body, { level: 1 }, (_error, body) => {
      const own = { "content-encoding": "gzip", "content-length": String(body.length) };
      res.writeHead(200, { ...found.headers, ...own }).end(body);
    });
  } else res.writeHead(200, found.headers).end(found.body);
});
server.listen(Number(process.env["PORT"]), "127.0.0.1", () => {
  console.log(JSON.stringify({ msg: "ready" }));
});
process.on("SIGTERM", () => process.exit(0));
