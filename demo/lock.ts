import { createHash } from "node:crypto";
import { mkdirSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join, relative, resolve } from "node:path";

/** What a locked folder has beside its content. */
export const lockName = "lock";

/**
 * Takes `folder` for this process until it ends, however it ends: the lock is a listening socket, which the
 * system closes with its process. False when another live process has it.
 */
export async function lockFolder(folder: string): Promise<boolean> {
  mkdirSync(folder, { recursive: true });
  const address = socketOf(folder);
  if (await somebodyListens(address)) return false;
  clear(address);
  return new Promise((done) => {
    const server = createServer((socket) => socket.destroy());
    server.unref();
    // Some mounted file systems have no sockets: two runs at once are then not noticed, one works as ever.
    server.once("error", (error: NodeJS.ErrnoException) => done(error.code !== "EADDRINUSE"));
    server.listen(address, () => done(true));
  });
}

/** Removes the socket file of a dead process; what cannot be removed will not be listened on either. */
function clear(address: string): void {
  try {
    if (process.platform !== "win32") rmSync(address, { force: true });
  } catch {
    // Another user's folder: the attempt to listen tells.
  }
}

function socketOf(folder: string): string {
  if (process.platform === "win32") {
    return `\\\\.\\pipe\\fuelmark-${createHash("sha256").update(resolve(folder)).digest("hex")}`;
  }
  // Relative, because a socket's address may have little more than 100 characters.
  return relative(process.cwd(), join(folder, lockName));
}

function somebodyListens(address: string): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect(address);
    socket.once("connect", () => {
      socket.destroy();
      done(true);
    });
    socket.once("error", () => done(false));
  });
}
