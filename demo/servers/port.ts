import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { lockFolder } from "#demo/lock.ts";

// Linux gives out ports from here on to outgoing connections: a server that waits for its turn there may lose it.
const firstEphemeral = 32768;
const anyAddress = "0.0.0.0";

// Between the look and the listening no other job of the same tests may find the port free: each has ports of its own.
const lanes = 10;
const lanePorts = 1200;
const lane = (Number(process.env["MOCHA_WORKER_ID"] ?? -1) + 1) % lanes;
// Two clones that start together seldom meet.
let turn = Math.floor(Math.random() * lanePorts);

/** A free port in 20000 to 32000, another one each time. Throws when there is none. */
export async function somePort(): Promise<number> {
  for (let left = lanePorts; left > 0; left -= 1) {
    const port = 20_000 + lane * lanePorts + (turn++ % lanePorts);
    if (await isFree(port, "127.0.0.1")) return port;
  }
  throw new Error(`no free port in lane ${lane}`);
}

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
