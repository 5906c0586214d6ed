import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect } from "chai";
import { pino } from "pino";
import { type Edge, startEdge, startInstance } from "#test/api/edge.ts";
import { answersOf, say } from "#test/harness/wire.ts";
import { until } from "#test/flow/client.ts";
import type { TestInstance } from "#test/harness/instance.ts";

describe("what stands before a web process", () => {
  let instance: TestInstance;
  let edge: Edge;
  const lines: string[] = [];

  const start = async (settings: Record<string, string>): Promise<void> => {
    instance = await startInstance(settings);
    lines.length = 0;
    const log = pino({ level: "warn" }, { write: (line: string) => void lines.push(line) });
    edge = await startEdge(instance.config, { log });
  };
  afterEach(async () => {
    await edge.stop();
    await instance.drop();
  });

  const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`http://127.0.0.1:${edge.port}${path}`, { headers });
  const detail = async (): Promise<{ ok: boolean; detail?: string }> => {
    const { checks } = (await (await get("/readyz")).json()) as {
      checks: Record<string, { ok: boolean; detail?: string }>;
    };
    return checks["proxies"]!;
  };
  const warnings = (): string[] => lines.filter((line) => line.includes("TRUSTED_PROXIES"));

  it("is named once when a proxy's header comes from an address that is not trusted", async () => {
    await start({});
    await get("/list");
    expect(await detail()).to.deep.equal({ ok: true });
    await get("/list", { "X-Forwarded-For": "198.51.100.1" });
    await get("/list", { Forwarded: "for=198.51.100.2" });
    // The checks of a balancer say nothing of a proxy.
    await get("/healthz", { "X-Forwarded-For": "198.51.100.1" });
    expect(warnings()).to.have.length(1);
    const { ok, detail: told } = await detail();
    expect(ok).to.equal(true);
    expect(told).to.match(/^2 of 3 requests .* set TRUSTED_PROXIES .* A stranger can send/);
  });

  it("is not named when it is trusted", async () => {
    await start({ TRUSTED_PROXIES: "127.0.0.1" });
    await get("/list", { "X-Forwarded-For": "198.51.100.1" });
    expect(warnings()).to.deep.equal([]);
    expect(await detail()).to.deep.equal({ ok: true });
  });

  it("must not name two hosts: 422 on every path, and the connection is closed", async () => {
    await start({});
    for (const path of ["/api/v1/partner/stations", "/console/", "/nowhere"]) {
      const head = `GET ${path} HTTP/1.1\r\nHost: a\r\nhOST: b\r\n\r\n`;
      const [answer, ...more] = answersOf(await say(edge.port, head + head));
      expect(more).to.deep.equal([]);
      expect(answer).to.include({ status: 422, code: "validation-failed" });
      expect(answer!.head).to.match(/^X-RateLimit-Limit: /im);
      expect(answer!.head).to.match(/^Connection: close$/im);
    }
  });

  it("may open MAX_CONNECTIONS, and further ones are closed at once", async () => {
    await start({ MAX_CONNECTIONS: "10" });
    const sockets: Socket[] = [];
    const open = async (): Promise<Socket> => {
      const socket = connect(edge.port, "127.0.0.1");
      sockets.push(socket);
      socket.on("error", () => {});
      await once(socket, "connect");
      return socket;
    };
    try {
      for (let i = 0; i < 10; i += 1) await open();
      const further = await open();
      further.resume();
      if (!further.closed) await once(further, "close");
      await until(
        async () => lines,
        (told) => told.some((line) => line.includes("MAX_CONNECTIONS")),
      );
      sockets[0]!.write("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
      const [said] = (await once(sockets[0]!, "data")) as [Buffer];
      expect(said.toString()).to.match(/^HTTP\/1\.1 200 /);
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  });
});
