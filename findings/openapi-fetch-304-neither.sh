#!/usr/bin/env bash
# openapi-fetch 0.17.0: after a 304 there is neither data nor an error that `if (error)` sees.
# One would have guessed: what is not `error` has `data`, as its documentation and its types say. But the error of a 304
# is an empty text, which is false, so `if (error) throw error; data.stations` fails with a TypeError. Look at
# `response.status` first.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund openapi-fetch@0.17.0 >/dev/null
cat > try.mjs <<'JS'
import { createServer } from "node:http";
import createClient from "openapi-fetch";
const server = createServer((req, res) => {
  const isKnown = req.headers["if-none-match"] === 'W/"a"';
  res.writeHead(isKnown ? 304 : 200, { etag: 'W/"a"', "content-type": "application/json" });
  res.end(isKnown ? undefined : "{}");
}).listen(0);
const client = createClient({ baseUrl: `http://localhost:${server.address().port}` });
const { data, error, response } = await client.GET("/", { headers: { "If-None-Match": 'W/"a"' } });
console.log(`openapi-fetch 0.17.0 after ${response.status}: data ${JSON.stringify(data)}, error ${JSON.stringify(error)}`);
process.exit(response.status === 304 && data === undefined && error === "" ? 0 : 1);
JS
node try.mjs
