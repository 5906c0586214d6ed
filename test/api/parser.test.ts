import { once } from "node:events";
import { connect } from "node:net";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { Type } from "typebox";
import { route, type Route } from "#api/http/route.ts";
import { addKey, addPartner, bearer, type Edge, useEdge, useEdgeOn } from "#test/api/edge.ts";
import { answersOf, say } from "#test/harness/wire.ts";
import { createLog } from "#src/infrastructure/log.ts";
import { standStill, until } from "#test/flow/client.ts";

const routes = (): Route[] => [
  route({
    method: "GET",
    path: "/slow",
    access: "any",
    summary: "",
    handle: async (ctx) => {
      await sleep(150);
      ctx.body = { slow: true };
    },
  }),
  route({
    method: "GET",
    path: "/stations",
    access: "any",
    summary: "",
    query: Type.Object({ city: Type.Optional(Type.String()), limit: Type.Optional(Type.String()) }),
    handle: (ctx) => void (ctx.body = {}),
  }),
  route({
    method: "POST",
    path: "/things",
    access: "secret",
    summary: "",
    body: Type.Object({}),
    handle: (ctx) => void (ctx.body = { ok: true }),
  }),
];

const base = "/api/v1/partner";

describe("what Node's HTTP parser refuses", () => {
  const lines: string[] = [];
  const log = createLog({ logLevel: "info" }, "web", { write: (text) => void lines.push(text) });
  const edge = useEdge({ log, routes });
  /** Whoever is slow here is late, also where the machine is. */
  const hasty = useEdgeOn(edge.instance, {
    log,
    routes,
    times: { headersMs: 1000, requestMs: 1500, checkMs: 100 },
  });
  let partnerId: number;
  let key: string;
  let auth: string;

  const only = async (
    bytes: Parameters<typeof say>[1],
    pauseMs = 0,
    to: Edge = edge,
  ): Promise<string> => {
    const answers = answersOf(await say(to.port, bytes, { pauseMs }));
    for (const { head, status } of answers) {
      expect(head).to.match(/^X-Request-Id: [0-9a-f-]{36}$/im);
      if (status >= 400) expect(head).to.include("application/problem+json");
    }
    return answers.map(({ status, code }) => `${status} ${code}`.trim()).join(", ");
  };

  before(async () => {
    partnerId = await addPartner(edge.db);
    key = await addKey(edge.db, partnerId);
    auth = `Authorization: Bearer ${key}`;
  });

  it("is answered with limits and closed at once", async () => {
    const [answer] = answersOf(await say(edge.port, "GARBAGE\r\n\r\n"));
    expect(answer?.head).to.match(/^HTTP\/1\.1 422 Unprocessable Entity\r\n/);
    expect(answer?.head).to.match(/^Connection: close$/m);
    expect(answer?.head).to.match(/^X-RateLimit-Limit: 120$/m);
  });

  const city = `${base}/stations?city=Новосибирск`;
  const cases: [what: string, bytes: string | Buffer, answer: string][] = [
    [
      "a city in unencoded Cyrillic without a key",
      `GET ${city} HTTP/1.1\r\nHost: x\r\n\r\n`,
      "401 invalid-key",
    ],
    [
      "the same with a header that is none",
      `GET ${city} HTTP/1.1\r\nno colon\r\n\r\n`,
      "422 validation-failed",
    ],
    ["the same by POST", `POST ${city} HTTP/1.1\r\n\r\n`, "422 validation-failed"],
    ["Cyrillic elsewhere", `GET ${base}/stations?q=азс HTTP/1.1\r\n\r\n`, "422 validation-failed"],
    [
      "Cyrillic in the path",
      `GET ${base}/станции?city=a HTTP/1.1\r\n\r\n`,
      "422 validation-failed",
    ],
    ["garbage", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "422 validation-failed"],
    ["a wrong protocol", "GET / FTP/1.1\r\n\r\n", "422 validation-failed"],
    ["an unknown method", "GRAB / HTTP/1.1\r\n\r\n", "422 validation-failed"],
    ["a broken header", "GET / HTTP/1.1\r\nno colon\r\n\r\n", "422 validation-failed"],
    [
      "too many headers",
      `GET / HTTP/1.1\r\nX: ${"x".repeat(20_000)}\r\n\r\n`,
      "422 validation-failed",
    ],
    [
      "a URL that is too long",
      `GET /${"x".repeat(20_000)} HTTP/1.1\r\n\r\n`,
      "422 validation-failed",
    ],
    ["an Expect nobody knows", "GET / HTTP/1.1\r\nExpect: cake\r\n\r\n", "422 validation-failed"],
    ["CONNECT", "CONNECT x:80 HTTP/1.1\r\nHost: x:80\r\n\r\n", "422 validation-failed"],
    [
      "two lengths",
      "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
      "422 validation-failed",
    ],
    [
      "length and chunks at once",
      "POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
      "422 validation-failed",
    ],
  ];
  for (const [what, bytes, answer] of cases) {
    it(`${what}: ${answer}`, async () => expect(await only(bytes)).to.equal(answer));
  }

  const utf8 = (text: string): Buffer => Buffer.from(text);
  const rawCities: [what: string, line: Buffer][] = [
    ["in Cyrillic", utf8(`GET ${city} HTTP/1.1\r\n`)],
    ["among others", utf8(`GET ${base}/stations?limit=x&city=Новосибирск&q=%20 HTTP/1.1\r\n`)],
    ["with a blank", utf8(`GET ${base}/stations?city=Нижний Новгород HTTP/1.0\r\n`)],
    ["on /stations/all", utf8(`GET http://h${base}/stations/all?city=Уфа HTTP/1.1\r\n`)],
    [
      "in another encoding",
      Buffer.from(`GET ${base}/stations?city=\xcc\xee\xf1\xea\xe2\xe0 HTTP/1.1\r\n`, "latin1"),
    ],
  ];
  for (const [what, line] of rawCities)
    it(`may be the name of a city ${what}: authenticated, counted, logged, and then 404`, async () => {
      const count = async (): Promise<number> => {
        const response = await fetch(edge.url + "/slow", { headers: bearer(key) });
        return Number(response.headers.get("X-RateLimit-Daily-Remaining"));
      };
      const before = await count();
      const head = Buffer.from(`Host: x\r\n${auth}\r\nX-More: 1\r\n\r\n`);
      const [answer, ...more] = answersOf(
        await say(edge.port, Buffer.concat([Buffer.from(line), head])),
      );
      expect(more).to.deep.equal([]);
      expect(`${answer?.status} ${answer?.code}`).to.equal("404 city-not-found");
      expect(answer?.head).to.match(/^Connection: close$/im);
      expect(answer?.head).to.match(/^X-RateLimit-Limit: 120$/im);
      expect(await count()).to.equal(before - 2);
      const id = /^X-Request-Id: (.*)$/im.exec(answer?.head ?? "")?.[1]?.trim();
      const logged = (): string | undefined => lines.find((text) => text.includes(id!));
      await until(
        () => Promise.resolve(logged()),
        (text) => text !== undefined,
      );
      const { msg, partner, status } = JSON.parse(logged()!) as Record<string, unknown>;
      expect({ msg, partner, status }).to.deep.equal({
        ...{ msg: "request", partner: partnerId, status: 404 },
      });
    });

  it("may be the name of a city by HEAD: answered without a body", async () => {
    const said = await say(edge.port, `HEAD ${city} HTTP/1.1\r\n${auth}\r\n\r\n`);
    expect(said).to.match(/^HTTP\/1\.1 404 Not Found\r\n/);
    expect(said).to.match(/\r\n\r\n$/);
  });

  it("may be the name of a city in pieces", async () => {
    const bytes = Buffer.from(`GET ${city} HTTP/1.1\r\n${auth}\r\nX: 1\r\n\r\n`);
    const [at, inLine] = [bytes.indexOf(auth), bytes.indexOf("city=") + 8];
    for (const cuts of [[inLine], [at + 5], [inLine, at, at + 9, bytes.length - 2]]) {
      const pieces = [...cuts, bytes.length].map((end, i) => bytes.subarray(cuts[i - 1] ?? 0, end));
      expect(await only(pieces, 20)).to.equal("404 city-not-found");
    }
    // It never ends.
    expect(await only(bytes.subarray(0, -2), 0, hasty)).to.equal("422 validation-failed");
  });

  it("is answered once, whatever follows the name of a city", async () => {
    const asked = `GET ${city} HTTP/1.1\r\n${auth}\r\n\r\n`;
    expect(await only(`${asked}${asked}GARBAGE\r\n\r\n`)).to.equal("404 city-not-found");
    expect(await only([asked, "more\r\n\r\n"])).to.equal("404 city-not-found");
  });

  it("is not a missing Host, an absolute URL, a fragment or OPTIONS *", async () => {
    const close = "Connection: close\r\n\r\n";
    expect(await only(`GET ${base}/x HTTP/1.1\r\n${close}`)).to.equal("401 invalid-key");
    expect(await only(`GET http://h:b${base}/x HTTP/1.1\r\n${close}`)).to.equal("401 invalid-key");
    expect(await only(`GET ${base}/slow#x HTTP/1.1\r\n${auth}\r\n${close}`)).to.equal("200");
    expect(await only(`OPTIONS * HTTP/1.1\r\n${close}`)).to.equal("404 not-found");
    expect(await only(`GET /healthz HTTP/1.0\r\n\r\n`)).to.equal("200");
  });

  it("is answered after the good request before it on the same connection", async () => {
    const good = `GET ${base}/slow HTTP/1.1\r\n${auth}\r\n\r\n`;
    expect(await only(`${good}GARBAGE\r\n\r\n`)).to.equal("200, 422 validation-failed");
    expect(await only(`${good}GET ${city} HTTP/1.1\r\n${auth}\r\n\r\n`)).to.equal(
      "200, 404 city-not-found",
    );
  });

  it("may be a body: the request is answered once", async () => {
    const head = `POST ${base}/things HTTP/1.1\r\n${auth}\r\nContent-Type: application/json\r\n`;
    const chunked = `${head}Transfer-Encoding: chunked\r\n\r\nzz\r\n`;
    expect(await only(chunked)).to.equal("422 validation-failed");
    const early = `POST ${base}/things HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n`;
    expect(await only([early, "zz\r\n"], 100)).to.equal("401 invalid-key");
  });

  it("may be a head or a body that never ends: 422 after the time for it, never 408", async () => {
    expect(await only("GET / HTTP/1.1\r\nX: ", 0, hasty)).to.equal("422 validation-failed");
    const body = `POST ${base}/things HTTP/1.1\r\n${auth}\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{`;
    expect(await only(body, 0, hasty)).to.equal("422 validation-failed");
  });

  it("is not what came while the process stood still", async () => {
    const json = `${auth}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n`;
    const cases: [before: string, meanwhile: string][] = [
      ["", `GET ${base}/slow HTTP/1.1\r\n${auth}\r\n\r\n`],
      [`GET ${base}/slow HTTP/1.1\r\n`, `${auth}\r\n\r\n`],
      [`POST ${base}/things HTTP/1.1\r\n${json}\r\n{`, "}"],
    ];
    for (const [early, meanwhile] of cases) {
      const socket = connect(hasty.port, "127.0.0.1");
      const said = new Promise<string>((resolve) => {
        socket.once("data", (chunk) => resolve(chunk.toString()));
      });
      await once(socket, "connect");
      socket.write(early);
      await sleep(100);
      // After this the timers come first, before anything is read.
      await nextTurn();
      socket.write(meanwhile);
      standStill(2500);
      expect(await said).to.match(/^HTTP\/1\.1 200 OK\r\n/);
      socket.destroy();
    }
  });

  it("is no connection on which nothing was asked: that is closed without a word", async () => {
    const socket = connect(hasty.port, "127.0.0.1");
    let said = "";
    socket.on("data", (chunk) => (said += chunk.toString()));
    await once(socket, "close");
    expect(said).to.equal("");
  });

  it("costs nothing but the connection when the caller goes away", async () => {
    const socket = connect(edge.port, "127.0.0.1");
    socket.write(`POST ${base}/things HTTP/1.1\r\n${auth}\r\nContent-Length: 9\r\n\r\n{`);
    await sleep(50);
    socket.resetAndDestroy();
    await sleep(50);
    expect(await only("GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n")).to.equal("200");
  });
});
