#!/usr/bin/env bash
# eventsource 4.1.1 and eventsource-client 1.2.0 forget the id of a block without data.
# One would have guessed: a heartbeat `id: 2` moves `Last-Event-ID` on, as WHATWG HTML 9.2.6 says (the id is set before an event without data is dropped) and browsers do. They send the id of the last message, so in a quiet time a cursor ages.
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
async function idAfterCut(open) {
  const ids = [];
  const server = createServer((req, res) => {
    ids.push(req.headers["last-event-id"]);
    res.writeHead(200, { "content-type": "text/event-stream" });
    res.write("retry: 100\n\nid: 1\ndata: x\n\nid: 2\n\n");
    setTimeout(() => res.destroy(), 200);
  }).listen(0);
  const source = open(`http://localhost:${server.address().port}`);
  while (ids.length < 2) await new Promise((done) => setTimeout(done, 50));
  source.close();
  server.closeAllConnections();
  server.close();
  return ids[1];
}
const one = await idAfterCut((url) => new EventSource(url));
const two = await idAfterCut((url) => createEventSource({ url, onMessage() {} }));
console.log(`Last-Event-ID after the ids 1 (with data) and 2 (without): eventsource 4.1.1 sends ${one}, eventsource-client 1.2.0 sends ${two}; right is 2`);
process.exit(one === "1" && two === "1" ? 0 : 1);
JS
timeout 60 node try.mjs
