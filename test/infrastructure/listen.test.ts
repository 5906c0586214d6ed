import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { expect } from "chai";
import type { Config } from "#src/infrastructure/config.ts";
import { listen } from "#src/infrastructure/listen.ts";
import { createLog } from "#src/infrastructure/log.ts";
import { sized } from "#test/harness/long.ts";
import { useInstance } from "#test/harness/use.ts";

const log = createLog({ logLevel: "silent" }, "test");

describe("a listener for notifications", function () {
  const instance = useInstance();

  it("stops at whatever moment of its connecting it is told to", async () => {
    for (let turns = 0; turns < 40; turns += sized(3, 1)) {
      const listener = listen(instance.config, log, "changes", () => undefined);
      for (let turn = 0; turn < turns; turn += 1)
        await new Promise((resolve) => setImmediate(resolve));
      await listener.stop();
    }
  });

  it("stops while it waits for a server that accepts and says nothing", async () => {
    const sockets: Socket[] = [];
    const server = createServer((socket) => void sockets.push(socket));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const config: Config = {
      ...instance.config,
      databaseUrl: `postgres://nobody@127.0.0.1:${port}/none`,
      acquireTimeoutMs: 300,
    };
    const listener = listen(config, log, "changes", () => undefined);
    await once(server, "connection");
    await listener.stop();
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, "close");
    expect(sockets).to.have.length(1);
  });

  it("says nothing more once it has stopped", async () => {
    const woken: string[] = [];
    const listener = listen(instance.config, log, "changes", (why) => woken.push(why));
    await listener.stop();
    expect(woken).to.deep.equal([]);
  });
});
