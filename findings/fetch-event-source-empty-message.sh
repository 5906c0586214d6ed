#!/usr/bin/env bash
# @microsoft/fetch-event-source 2.0.1 hands on events that have no data.
# One would have guessed: a block with only `id:` or `retry:` is no message, as WHATWG HTML 9.2.6 says. But `onmessage` gets it with `data: ""`: JSON.parse throws, and the library takes this for a broken stream and opens it again, at each heartbeat.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @microsoft/fetch-event-source@2.0.1 >/dev/null
cat > try.mjs <<'JS'
import { createServer } from "node:http";
import { fetchEventSource } from "@microsoft/fetch-event-source";
globalThis.window = globalThis;
globalThis.document = { hidden: false, addEventListener() {}, removeEventListener() {} };
let opened = 0;
const server = createServer((_, res) => {
  opened += 1;
  res.writeHead(200, { "content-type": "text/event-stream" });
  res.write("retry: 100\n\nid: 1\ndata: {}\n\n: heartbeat\nid: 2\n\n");
}).listen(0);
const url = `http://localhost:${server.address().port}`;
const stop = new AbortController();
const texts = [];
const options = { signal: stop.signal, openWhenHidden: true };
fetchEventSource(url, { ...options, onmessage: ({ data }) => texts.push(data) });
await new Promise((done) => setTimeout(done, 1000));
const once = opened;
fetchEventSource(url, { ...options, onmessage: ({ data }) => JSON.parse(data), onerror() {} });
await new Promise((done) => setTimeout(done, 3500));
const again = opened - once;
console.log(`fetch-event-source 2.0.1: data of messages ${JSON.stringify(texts)}; with JSON.parse opened ${again} times in 3.5 s`);
process.exit(JSON.stringify(texts) === '["","{}",""]' && once === 1 && again > 2 ? 0 : 1);
JS
node try.mjs
