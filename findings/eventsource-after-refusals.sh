#!/usr/bin/env bash
# What EventSource packages do when a stream is cut and the next answer is 401 or 503 with Retry-After.
# One would have guessed: all wait for a 503 and give up at a 401. But eventsource 4.1.1 gives up for good at both (readyState 2), and eventsource-client 1.2.0 asks on for ever after both, every `retry` milliseconds, without a growing pause and without Retry-After: a revoked key is sent until somebody looks.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund eventsource@4.1.1 eventsource-client@1.2.0 >/dev/null
cat > try.mjs <<'JS'
import { createServer } from "node:http";
import { EventSource } from "eventsource";
import { createEventSource } from "eventsource-client";
async function requestsIn3s(status, open) {
  let count = 0;
  const server = createServer((_, res) => {
    count += 1;
    if (count > 1) return void res.writeHead(status, { "retry-after": "60" }).end();
    res.writeHead(200, { "content-type": "text/event-stream" });
    res.write("retry: 100\n\nid: 1\ndata: x\n\n");
    setTimeout(() => res.destroy(), 200);
  }).listen(0);
  const source = open(`http://localhost:${server.address().port}`);
  await new Promise((done) => setTimeout(done, 3000));
  source.close();
  server.closeAllConnections();
  server.close();
  return count;
}
const seen = {};
for (const status of [401, 503]) {
  seen[`eventsource ${status}`] = await requestsIn3s(status, (url) => new EventSource(url));
  seen[`eventsource-client ${status}`] = await requestsIn3s(status, (url) => createEventSource({ url, onMessage() {} }));
}
console.log("requests in 3 s with retry: 100 and Retry-After: 60:", JSON.stringify(seen));
const right = seen["eventsource 401"] === 2 && seen["eventsource 503"] === 2;
process.exit(right && seen["eventsource-client 401"] > 10 && seen["eventsource-client 503"] > 10 ? 0 : 1);
JS
timeout 60 node try.mjs
