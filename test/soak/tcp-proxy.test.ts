import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { expect } from "chai";
import { until } from "#test/flow/client.ts";
import { startTcpProxy, type TcpProxy } from "#test/harness/tcp-proxy.ts";

describe("a way that can be broken", () => {
  let server: Server;
  let proxy: TcpProxy;
  let clients: Socket[] = [];
  /** What the server was told. */
  let told = "";
  let accepted: Socket[] = [];

  beforeEach(async () => {
    [told, accepted, clients] = ["", [], []];
    server = createServer((socket) => {
      accepted.push(socket);
      socket.on("error", () => undefined);
      socket.on("data", (piece: Buffer) => {
        told += piece.toString();
        socket.write(`heard ${piece.toString()}`);
      });
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    proxy = await startTcpProxy((server.address() as AddressInfo).port);
  });
  afterEach(async () => {
    for (const socket of [...clients, ...accepted]) socket.destroy();
    await proxy.close();
    await new Promise((resolve) => server.close(resolve));
  });

  async function open() {
    const socket = connect(proxy.port, "127.0.0.1");
    clients.push(socket);
    let heard = "";
    let isClosed = false;
    socket.on("data", (piece: Buffer) => (heard += piece.toString()));
    socket.on("error", () => undefined).on("close", () => (isClosed = true));
    // Or it is reset first.
    await once(socket, "connect").catch(() => undefined);
    return { socket, heard: () => heard, isClosed: () => isClosed };
  }
  const untilIs = <T>(value: () => T, wanted: T) =>
    until(
      async () => value(),
      (now) => now === wanted,
    );

  it("passes both directions", async () => {
    const client = await open();
    client.socket.write("a");
    await untilIs(client.heard, "heard a");
  });

  it("resets open and new connections when it is cut", async () => {
    const client = await open();
    client.socket.write("a");
    await untilIs(client.heard, "heard a");
    proxy.set("cut");
    await untilIs(client.isClosed, true);
    await untilIs(() => accepted[0]!.destroyed, true);
    await untilIs((await open()).isClosed, true);
  });

  it("holds back what a black hole swallows, in its direction, until it is whole again", async () => {
    const client = await open();
    client.socket.write("a");
    await untilIs(client.heard, "heard a");
    proxy.set("blackhole-down");
    client.socket.write("b");
    await untilIs(() => told, "ab");
    expect(client.heard()).to.equal("heard a");
    proxy.set("blackhole-up");
    await untilIs(client.heard, "heard aheard b");
    client.socket.write("c");
    accepted[0]!.write("!");
    await untilIs(client.heard, "heard aheard b!");
    expect(told).to.equal("ab");
    proxy.set("pass");
    await untilIs(client.heard, "heard aheard b!heard c");
  });

  it("leaves a client half open: the server is gone, and the client hears of it when it speaks again", async () => {
    const client = await open();
    client.socket.write("a");
    await untilIs(client.heard, "heard a");
    proxy.set("half-open");
    await untilIs(() => accepted[0]!.destroyed, true);
    const late = await open();
    client.socket.write("b");
    expect([client.isClosed(), late.isClosed(), told]).to.deep.equal([false, false, "a"]);
    proxy.set("pass");
    await untilIs(client.isClosed, true);
    expect(late.isClosed()).to.equal(false);
  });

  it("is slow, in order", async () => {
    const client = await open();
    proxy.set("slow");
    client.socket.write("a");
    await untilIs(() => told, "a");
    client.socket.write("b");
    proxy.set("pass");
    client.socket.write("c");
    await untilIs(() => told, "abc");
  });
});
