// Plain JavaScript that Node 12 reads, without imports: every program runs it before anything else (demo/bundle.ts,
// demo/start.mjs), because what comes after may not even load on another Node.

/**
 * What is wrong with a Node of this version, in one line; null when Fuelmark runs on it. Others lack `crc32` in
 * `node:zlib`, or read HTTP in another way.
 *
 * @param {string} version such as `22.12.0`
 */
export function nodeFault(version) {
  const parts = version.split(".").map(Number);
  const number = parts[0] * 1e6 + parts[1] * 1e3 + parts[2];
  if ((number >= 20019002 && number < 21000000) || number >= 22012000) return null;
  return `Fuelmark needs Node 20.19.2 or a later 20, or 22.12 or newer, and this is ${version}: install one of these from https://nodejs.org.`;
}

const fault = nodeFault(process.versions.node);
if (fault !== null) {
  console.error(fault);
  process.exit(1);
}

// Opening hours are read in the process's zone, and a host's zone may have changes of time of its own (decisions 21.47).
process.env.TZ = "UTC";
