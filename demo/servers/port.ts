import { createServer } from "node:net";

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

/** The port that the web role is to have: the wanted one, or the next free one below 32768. */
export async function webPort(wanted: number): Promise<number> {
  if (await isFree(wanted, anyAddress)) return wanted;
  return freePort(wanted < firstEphemeral - 1 ? wanted + 1 : 8080, anyAddress);
}

function isFree(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen(port, host, () => probe.close(() => resolve(true)));
  });
}
