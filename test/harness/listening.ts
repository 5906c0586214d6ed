import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { hold } from "#test/harness/leaks.ts";

/**
 * Has a server of a test listen on a free port of this machine.
 *
 * @param what it is, for who forgets to close it
 */
export async function listening(
  what: string,
  server: Server,
): Promise<{ port: number; origin: string; close(): Promise<void> }> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  const end = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  const letGo = hold(what, end);
  const { port } = server.address() as AddressInfo;
  const close = (): Promise<void> => {
    letGo();
    return end();
  };
  return { port, origin: `http://127.0.0.1:${port}`, close };
}
