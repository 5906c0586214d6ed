import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { isKept, startLoad } from "#test/fault/load.ts";
import { expectAnswers, expectInEffectOnce } from "#test/fault/proof.ts";
import { openStage, stationCount, type Stage } from "#test/fault/stage.ts";
import { createClient, until } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { openStream, type StreamReader } from "#test/flow/stream-reader.ts";
import { hasProxy, type Proxy, type ProxyKind, startProxy } from "#test/harness/proxies.ts";
import { metricsSpellings, say } from "#test/harness/wire.ts";

/** `LEAVE_MS` as the samples say; haproxy's is doubled, because a busy machine may be late with its checks. */
const leaveMs = { haproxy: "20000", nginx: "5000" };

for (const kind of ["haproxy", "nginx"] as const)
  describe(`fault: web processes restarted one by one behind ${kind}`, function () {
    this.timeout(300_000);
    let stage: Stage;
    let proxy: Proxy;
    before(async function () {
      if (await hasProxy(kind)) return;
      console.log(`      no ${kind} on PATH: skipped`);
      this.skip();
    });
    beforeEach(async () => {
      stage = await openStage({
        workers: 1,
        settings: { LEAVE_MS: leaveMs[kind], TRUSTED_PROXIES: "127.0.0.1" },
      });
      proxy = await startProxy(
        kind,
        stage.webs.map((web) => web.baseUrl),
      );
    });
    afterEach(async () => {
      await proxy?.drop();
      await stage?.close();
    });

    it("loses no read and no mark, doubles none, and a stream misses nothing", async () => {
      const client = createClient(proxy.baseUrl, stage.country.secret);
      const stream = followStream(proxy, stage.country.secret);
      await until(
        async () => stream.opened(),
        (count) => count === 1,
      );
      const load = startLoad([client]);
      const reads = startReads(client);
      /** Until that many marks and some reads more are answered. */
      const goOn = async (marks: number): Promise<void> => {
        const [sent, read] = [load.sent.length, reads.count()];
        const more = () => Promise.resolve([load.sent.length - sent, reads.count() - read]);
        await until(more, ([marked, got]) => marked! > marks && got! > marks / 5);
      };
      for (const index of [0, 1]) {
        await goOn(50);
        await proxy.leave(index);
        const code = await stage.webs[index]!.stop(60_000);
        expect(code, "exit code").to.equal(0);
        // The other one alone serves for a moment.
        await goOn(20);
        await stage.restartWeb(index);
        await proxy.join(index);
      }
      await goOn(100);
      await load.stop();
      const read = await reads.stop();

      expect(read.failed, `${read.count} reads`).to.deep.equal([]);
      expectAnswers(load.sent, {});
      expect(load.sent.filter((one) => !isKept(one))).to.deep.equal([]);
      const ids = load.sent.map((one) => one.externalId);
      expect(new Set(ids).size, "no mark was sent twice by its sender").to.equal(ids.length);
      expect(load.sent.filter((one) => one.body.duplicate === true)).to.deep.equal([]);
      await expectInEffectOnce({ ...stage, clients: clientsOf(stage) }, load.sent);

      // Each station has been marked since the stream was opened, and its newest state has come.
      for (let n = 0; n < stationCount; n++) {
        const { id } = placeOf(n);
        const { body } = await client.get(`/stations/${id}`);
        const last = () => Promise.resolve(stream.stations().get(id)?.fuel ?? null);
        await until(last, (fuel) => JSON.stringify(fuel) === JSON.stringify(body.station.fuel));
      }
      expect(stream.opened(), "connections of the stream").to.be.at.least(2);
      await stream.stop();
      const ready = await fetch(`${proxy.baseUrl}/readyz`).then((answer) => answer.json());
      expect(JSON.stringify(ready)).to.not.contain("TRUSTED_PROXIES");
    });
  });

/** The processes that run now, not those that a restart has ended. */
const clientsOf = (stage: Stage) =>
  stage.webs.map((web) => createClient(web.baseUrl, stage.country.secret));

type Client = ReturnType<typeof createClient>;

/** Some 40 reads a second, of one station and of a list, until it is stopped. */
function startReads(client: Client): {
  count(): number;
  stop(): Promise<{ count: number; failed: unknown[] }>;
} {
  const failed: unknown[] = [];
  const stopped = new AbortController();
  let count = 0;
  const reader = async (path: (n: number) => string): Promise<void> => {
    for (let n = 0; !stopped.signal.aborted; n++) {
      const at = Date.now();
      const answer = await client.get(path(n)).catch((error: Error) => ({ status: 0, error }));
      if (answer.status !== 200) failed.push({ path: path(n), at, ...answer });
      count++;
      await sleep(25);
    }
  };
  const all = Promise.all([
    reader((n) => `/stations/${placeOf(n % stationCount).id}`),
    reader((n) => `/stations?lat=55&lon=37&radius_km=${5 + (n % 5)}`),
  ]);
  return {
    count: () => count,
    stop: async () => {
      stopped.abort();
      await all;
      return { count, failed };
    },
  };
}

/** A partner's stream through the proxy: opened again with `Last-Event-ID` whenever it ends. */
function followStream(proxy: Proxy, key: string) {
  const readers: StreamReader[] = [];
  let stopped = false;
  const follow = async (): Promise<void> => {
    for (let lastId = ""; !stopped;) {
      const headers: Record<string, string> = lastId === "" ? {} : { "Last-Event-ID": lastId };
      const reader = await openStream(proxy.baseUrl, key, { headers, check: false });
      if (reader.status !== 200) throw new Error(`stream: ${reader.status} ${reader.text()}`);
      readers.push(reader);
      await reader.over;
      lastId = reader.lastId() || lastId;
    }
  };
  let fault: Error | null = null;
  const following = follow().catch((error: Error) => void (fault = error));
  return {
    /** How often it was opened. Throws when it could not be. */
    opened: (): number => {
      if (fault !== null) throw fault as Error;
      return readers.length;
    },
    stations: () => new Map(readers.flatMap((reader) => [...reader.stations()])),
    stop: async () => {
      stopped = true;
      readers.at(-1)?.close();
      await following;
    },
  };
}

for (const kind of ["haproxy", "nginx"] as const)
  describe(`fault: the sample for ${kind}`, function () {
    const servers: Server[] = [];
    let proxy: Proxy;
    before(async function () {
      if (!(await hasProxy(kind))) {
        console.log(`      no ${kind} on PATH: skipped`);
        this.skip();
      }
      proxy = await startEchoes(kind, servers);
    });
    after(async () => {
      await proxy?.drop();
      for (const server of servers) {
        server.closeAllConnections();
        server.close();
      }
    });

    it("passes on the host with its port and the caller's address, but nothing that the caller says of it", async () => {
      const answer = await fetch(`${proxy.baseUrl}/x?q=%D0%90`, {
        headers: {
          "X-Forwarded-For": "203.0.113.9",
          Forwarded: "for=203.0.113.9",
          "X-Real-IP": "1.1.1.1",
        },
      });
      const seen = (await answer.json()) as { url: string; headers: Record<string, string> };
      expect(seen.url).to.equal("/x?q=%D0%90");
      expect(seen.headers).to.include({
        host: new URL(proxy.baseUrl).host,
        "x-forwarded-for": "127.0.0.1",
      });
      expect(seen.headers).to.not.have.any.keys("forwarded", "x-real-ip");
    });

    it("sends a GET to the other process when its connection dies, and a mark only when nothing was sent of it", async () => {
      for (let n = 0; n < 4; n++)
        expect((await fetch(`${proxy.baseUrl}/die-at-first`)).status).to.equal(200);
      // Its sender learns that the outcome is unknown: haproxy closes a connection that had answers before.
      const mark = await fetch(`${proxy.baseUrl}/die-at-first-mark`, {
        method: "POST",
        body: "{}",
      }).then(
        ({ status }) => status,
        () => "closed",
      );
      expect(mark).to.be.oneOf([502, "closed"]);
      const seen = await fetch(`${proxy.baseUrl}/count`).then((answer) => answer.json());
      expect(seen).to.deep.equal({ marks: 1 });
    });

    it("refuses two hosts and bodies that are too large", async () => {
      const { hostname, port } = new URL(proxy.baseUrl);
      const socket = connect(Number(port), hostname);
      socket.end("GET /x HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n");
      let said = "";
      socket.setEncoding("latin1").on("data", (text: string) => (said += text));
      await once(socket, "close");
      expect(said).to.match(/^HTTP\/1\.1 400 /);
      const large = Buffer.alloc(3_000_000);
      const post = (where: string) =>
        fetch(`${proxy.baseUrl}${where}`, { method: "POST", body: large }).then(
          ({ status }) => status,
        );
      expect(await post("/console/api/imports")).to.equal(200);
      expect(await post("/api/v1/partner/reports").catch(() => 413)).to.equal(413);
    });

    it("refuses /metrics in every spelling, and no path that only looks like it", async () => {
      const { port } = new URL(proxy.baseUrl);
      const statusOf = async (path: string) => {
        const answer = await say(
          Number(port),
          `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
        );
        return Number(/^HTTP\/1\.1 (\d+) /.exec(answer)?.[1]);
      };
      for (const path of metricsSpellings) expect(await statusOf(path), path).to.equal(404);
      for (const path of ["/metricsx", "/docs/metrics", "/api/v1/partner/stations/metrics"])
        expect(await statusOf(path), path).to.equal(200);
    });

    it("passes on each event of a stream as it comes", async () => {
      const answer = await fetch(`${proxy.baseUrl}/api/v1/partner/stations/stream`);
      const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
      // The server sends the second one only when it is told that the first has come.
      expect((await reader.read()).value).to.equal("data: 1\n\n");
      await fetch(`${proxy.baseUrl}/next`);
      expect((await reader.read()).value).to.equal("data: 2\n\n");
      await reader.cancel();
    });
  });

/** Two servers that say what has reached them, behind the proxy. */
async function startEchoes(kind: ProxyKind, servers: Server[]): Promise<Proxy> {
  let marks = 0;
  const dead = new Set<string>();
  let stream: ServerResponse | undefined;
  const handle = (req: IncomingMessage, res: ServerResponse): void => {
    const { pathname } = new URL(req.url!, "http://x");
    if (pathname === "/die-at-first" && !dead.delete(pathname)) {
      dead.add(pathname);
      req.socket.destroy();
    } else if (pathname === "/die-at-first-mark") {
      marks++;
      req.socket.destroy();
    } else if (pathname === "/count") res.end(JSON.stringify({ marks }));
    else if (pathname === "/next") {
      stream?.write("data: 2\n\n");
      res.end();
    } else if (pathname.endsWith("/stream")) {
      stream = res.setHeader("Content-Type", "text/event-stream");
      res.write("data: 1\n\n");
    } else {
      const answer = JSON.stringify({ url: req.url, headers: req.headers });
      req.resume().once("end", () => res.end(answer));
    }
  };
  for (let n = 0; n < 2; n++) servers.push(createServer(handle).listen(0, "127.0.0.1"));
  await Promise.all(servers.map((server) => once(server, "listening")));
  return startProxy(
    kind,
    servers.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`),
  );
}
