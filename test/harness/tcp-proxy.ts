import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { hold } from "#test/harness/leaks.ts";

/**
 * How a network is broken between one process and one server.
 *
 * - `cut`: connections are reset, new ones too.
 * - `blackhole`: nothing passes, in neither direction; what is held back arrives when the network is whole again, as TCP
 *   sends it again.
 * - `blackhole-up`, `blackhole-down`: the same in one direction, to the server or from it.
 * - `half-open`: the server's side is closed, and the client is never told; new connections are accepted and hear nothing.
 * - `flapping`: half a second to three of each, `pass` and `cut`.
 * - `slow`: 300 ms each way, and 20 kB/s.
 */
export const brokenModes = [
  "cut",
  "blackhole",
  "blackhole-up",
  "blackhole-down",
  "half-open",
  "flapping",
  "slow",
] as const;
export type BrokenMode = (typeof brokenModes)[number];

/** The way of one process to one server. */
export interface TcpProxy {
  port: number;
  /** Breaks the way, or makes it whole (`pass`). */
  set(mode: BrokenMode | "pass"): void;
  close(): Promise<void>;
}

const slowMs = 300;
const slowBytesPerMs = 20;
const flapMs = 500;

/** Listens on a free port of 127.0.0.1 and leads to `to`. `change` may spoil what the server sends. */
export async function startTcpProxy(
  to: number,
  change = (chunk: Buffer): Buffer => chunk,
): Promise<TcpProxy> {
  let mode: BrokenMode | "pass" = "pass";
  let flapping: NodeJS.Timeout | undefined;
  let isOpen = true;
  const links = new Set<Link>();
  const server = createServer((client) => {
    if (mode === "cut" || !isOpen) {
      client.resetAndDestroy();
      return;
    }
    const link = createLink(client, mode === "half-open" ? null : to, mode, change);
    links.add(link);
    client.once("close", () => links.delete(link));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const apply = (next: BrokenMode | "pass"): void => {
    mode = next;
    for (const link of links) link.set(next);
  };
  const flap = (): void => {
    apply(mode === "cut" ? "pass" : "cut");
    flapping = setTimeout(flap, flapMs * (1 + Math.random() * 5));
  };
  const close = async (): Promise<void> => {
    isOpen = false;
    clearTimeout(flapping);
    for (const link of links) link.reset();
    await new Promise((resolve) => server.close(resolve));
  };
  const { port } = server.address() as AddressInfo;
  const letGo = hold(`TCP proxy ${port}`, close);
  return {
    port,
    set: (next) => {
      clearTimeout(flapping);
      if (next === "flapping") flap();
      else apply(next);
    },
    close: async () => {
      letGo();
      await close();
    },
  };
}

interface Link {
  set(mode: BrokenMode | "pass"): void;
  reset(): void;
}

function createLink(
  client: Socket,
  to: number | null,
  first: BrokenMode | "pass",
  change: (chunk: Buffer) => Buffer,
): Link {
  let mode = first;
  // One that nobody stands behind hears nothing until it says something after the network is whole again.
  let server = to === null ? null : connect(to, "127.0.0.1");
  const end = (): void => {
    client.destroy();
    server?.destroy();
  };
  client.on("error", end).on("close", end);
  server?.on("error", end).on("close", () => (server === null ? undefined : end()));
  const up = createLane(client, (chunk) => {
    if (server === null) client.resetAndDestroy();
    else server.write(chunk);
  });
  const down = server === null ? null : createLane(server, (chunk) => client.write(change(chunk)));
  const set = (next: BrokenMode | "pass"): void => {
    mode = next;
    if (mode === "cut") {
      client.resetAndDestroy();
      server?.resetAndDestroy();
    }
    if (mode === "half-open" && server !== null) {
      const left = server;
      server = null;
      left.destroy();
    }
    up.set(
      mode === "half-open" || mode === "blackhole" || mode === "blackhole-up",
      mode === "slow",
    );
    down?.set(mode === "blackhole" || mode === "blackhole-down", mode === "slow");
  };
  set(first);
  return {
    set,
    reset: () => {
      client.resetAndDestroy();
      server?.resetAndDestroy();
    },
  };
}

/** One direction of a connection: passes pieces on in their order, now, later, or not at all. */
function createLane(from: Socket, pass: (chunk: Buffer) => void) {
  let isSlow = false;
  let freeAt = 0;
  let waiting = 0;
  from.on("data", (chunk: Buffer) => {
    if (!isSlow && waiting === 0) return pass(chunk);
    const now = performance.now();
    freeAt = Math.max(freeAt, now + (isSlow ? slowMs : 0)) + chunk.length / slowBytesPerMs;
    waiting += 1;
    setTimeout(() => {
      waiting -= 1;
      pass(chunk);
    }, freeAt - now);
  });
  return {
    set: (stopped: boolean, slow: boolean): void => {
      isSlow = slow;
      if (stopped) from.pause();
      else from.resume();
    },
  };
}
