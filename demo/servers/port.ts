import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { lockFolder } from "#demo/lock.ts";

// Linux gives out ports from here on to outgoing connections: a server that waits for its turn there may lose it.
const firstEphemeral = 32768;
const anyAddress = "0.0.0.0";

/** The first free port from `from` on, below 32768. Throws when there is none. */
export async function freePort(from: number, host = "127.0.0.1"): Promise<number> {
  for (let port = from; port < firstEphemeral; port += 1) {
    if (await isFree(port, host)) return port;
  }
  throw new Error(`no free port from ${from} to ${firstEphemeral - 1}`);
}

/** A free port somewhere in 20000 to 32000, so that two clones that start together seldom meet. */
export const somePort = (): Promise<number> =>
  freePort(20_000 + Math.floor(Math.random() * 12_000));

/** A port that nobody else takes until `letGo`, and no other launcher of this user even after it. */
export interface ClaimedPort {
  port: number;
  letGo(): Promise<void>;
}

/**
 * The port that the web role is to have: the wanted one, or the next free one below 32768. The role takes it only
 * when the database is filled, so it is kept from others meanwhile.
 */
export async function claimWebPort(wanted: number): Promise<ClaimedPort> {
  const next = wanted < firstEphemeral - 1 ? wanted + 1 : 8080;
  const others = Array.from({ length: firstEphemeral - next }, (_, index) => next + index);
  for (const port of [wanted, ...others]) {
    if (!(await isFree(port, anyAddress))) continue;
    // The role needs a second from our letting go to its listening: another launcher must not look just then.
    const claim = join(tmpdir(), `fuelmark-${process.getuid?.() ?? 0}-port-${port}`);
    if (!(await lockFolder(claim))) continue;
    const held = await listen(port, anyAddress);
    if (held === null) continue;
    return { port, letGo: () => new Promise((done) => held.close(() => done())) };
  }
  throw new Error(`no free port from ${next} to ${firstEphemeral - 1}`);
}

async function isFree(port: number, host: string): Promise<boolean> {
  const probe = await listen(port, host);
  if (probe === null) return false;
  await new Promise((done) => probe.close(done));
  return true;
}

function listen(port: number, host: string): Promise<Server | null> {
  return new Promise((resolve) => {
    const server = createServer((socket) => socket.destroy());
    server.once("error", () => resolve(null));
    server.listen(port, host, () => resolve(server));
  });
}
