import { once } from "node:events";
import { createServer, get as httpGet } from "node:http";
import { type AddressInfo, connect, createServer as createPlainServer } from "node:net";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { methodsIn, readAnswers } from "#test/record/answers.ts";
import { type Exchange, tapSockets } from "#test/record/tap.ts";

describe("the tap on connections", () => {
  const server = createServer((req, res) => {
    if (req.url === "/never") return;
    if (req.url === "/chunks") {
      res.write("a".repeat(70_000));
      res.end("b");
      return;
    }
    void text(req).then((body) => res.end(`${req.method} ${req.url} ${body}`));
  });
  let port: number;
  let heard: Exchange<string>[];
  let owner: string;
  let tap: ReturnType<typeof tapSockets>;

  before(async () => {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    port = (server.address() as AddressInfo).port;
  });
  beforeEach(() => {
    heard = [];
    owner = "first";
    tap = tapSockets(
      () => owner,
      (exchange) => heard.push(exchange),
    );
  });
  afterEach(() => tap.stop());
  after(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  });

  const seen = (): string[] => {
    tap.flush();
    return heard.map(({ owner: whose, sent, heard: bytes, closed }) => {
      const answers = readAnswers(bytes, methodsIn(sent), closed).map(
        ({ status, body, whole }) =>
          `${status} ${body.length > 100 ? body.length : body.toString()}${whole ? "" : " (cut)"}`,
      );
      return `${whose}: ${sent.toString().split(" HTTP/")[0]} → ${answers.join(" + ") || "nothing"}`;
    });
  };
  const raw = async (...writes: string[]): Promise<void> => {
    const socket = connect(port, "127.0.0.1");
    socket.resume();
    for (const bytes of writes) socket.write(bytes);
    await once(socket, "close");
  };

  it("hears fetch, each request of a kept connection by itself", async () => {
    const base = `http://127.0.0.1:${port}`;
    expect(await (await fetch(`${base}/a`)).text()).to.equal("GET /a ");
    owner = "second";
    await (await fetch(`${base}/b`, { method: "POST", body: "body" })).text();
    await fetch(`${base}/c`, { method: "HEAD" });
    expect((await (await fetch(`${base}/chunks`)).text()).length).to.equal(70_001);
    expect(seen()).to.deep.equal([
      "first: GET /a → 200 GET /a ",
      "second: POST /b → 200 POST /b body",
      "second: HEAD /c → 200 ",
      "second: GET /chunks → 200 70001",
    ]);
  });

  it("hears node:http, and requests under way together", async () => {
    const ask = async (path: string): Promise<string> => {
      const asked = httpGet({ port, host: "127.0.0.1", path, agent: false });
      const [answer] = (await once(asked, "response")) as [NodeJS.ReadableStream];
      return text(answer);
    };
    expect(await Promise.all(["/a", "/b"].map(ask))).to.deep.equal(["GET /a ", "GET /b "]);
    expect(seen()).to.have.members(["first: GET /a → 200 GET /a ", "first: GET /b → 200 GET /b "]);
  });

  it("hears raw sockets: several requests in one go, garbage, and what comes in pieces", async () => {
    const close = "Connection: close\r\n\r\n";
    await raw(`GET /a HTTP/1.1\r\nHost: x\r\n\r\nHEAD /b HTTP/1.1\r\nHost: x\r\n${close}`);
    await raw("GARBAGE\r\n\r\n");
    await raw("GET /c HT", "TP/1.1\r\nHost: x\r\n", close);
    const [several, garbage, pieces] = seen();
    expect(several).to.equal("first: GET /a → 200 GET /a  + 200 ");
    expect(garbage).to.equal("first: GARBAGE\r\n\r\n → 400 ");
    expect(pieces).to.equal("first: GET /c → 200 GET /c ");
  });

  it("tells of a request that nobody answered, once the port is known to be HTTP", async () => {
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    socket.write("GET /never HTTP/1.1\r\nHost: x\r\n\r\n");
    expect(seen()).to.deep.equal([]);
    await raw("GARBAGE\r\n\r\n");
    socket.destroy();
    await once(socket, "close");
    expect(seen()).to.deep.equal(["first: GARBAGE\r\n\r\n → 400 ", "first: GET /never → nothing"]);
  });

  it("leaves other protocols alone", async () => {
    const echo = createPlainServer((socket) => socket.pipe(socket));
    echo.listen(0, "127.0.0.1");
    await once(echo, "listening");
    const socket = connect((echo.address() as AddressInfo).port, "127.0.0.1");
    socket.write("ping");
    const [answer] = (await once(socket, "data")) as [Buffer];
    socket.destroy();
    echo.close();
    expect(answer.toString()).to.equal("ping");
    expect(seen()).to.deep.equal([]);
  });
});
