import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { createDocument } from "#api/openapi/document.ts";
import { json } from "#api/openapi/answers.ts";
import { constantHeaders } from "#api/openapi/headers.ts";
import { route } from "#api/http/route.ts";
import { Type } from "typebox";
import { takeBroken, unwatchWeb, watchWeb } from "#test/harness/watched.ts";

const base = "/api/v1/partner";
const id = "1f0e7a52-6d0b-4a9e-9b1c-2f4a5f0d7c11";
const document = createDocument(
  [
    route({
      ...{ method: "GET", path: "/n", access: "any", summary: "" },
      answers: {
        ...{ operationId: "n", tag: "Widget", description: "" },
        replies: {
          200: { description: "", forms: json(Type.Object({ n: Type.Integer() }), { n: 1 }) },
        },
      },
      handle: () => {},
    }),
  ],
  { problemBase: "http://x", baseUrl: "http://x" },
);

describe("the tests' fetch", () => {
  let server: Server;
  let origin: string;
  let body = '{"n":1}';

  before(async () => {
    server = createServer((req, res) => {
      res.sendDate = false;
      for (const name of constantHeaders) res.setHeader(name, "1");
      res.setHeader("X-Request-Id", id).setHeader("X-Content-Type-Options", "nosniff");
      res.setHeader("Content-Type", "application/json");
      res.end(req.url === `${base}/openapi.json` ? JSON.stringify(document) : body);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    watchWeb(origin, "own");
  });
  after(() => {
    unwatchWeb(origin);
    server.closeAllConnections();
    server.close();
  });

  const ask = (path: string): Promise<string> =>
    fetch(origin + path).then(
      (response) => response.text(),
      (error: Error) => error.message.split("\n")[0]!,
    );

  it("lets an answer through that is as the server's own document says", async () => {
    expect(await ask(`${base}/n`)).to.equal('{"n":1}');
  });

  it("fails where it is not, and remembers it for the end of the run", async () => {
    body = '{"n":"1"}';
    expect(await ask(`${base}/n`)).to.match(/otherwise than the OpenAPI document says: body\/n/);
    const broken = takeBroken();
    expect(broken).to.have.length(1);
    expect(broken[0]).to.include("GET /n was answered 200");
    body = '{"n":1}';
  });

  it("reads each body whole, however long and often asked for, and counts its list", async () => {
    body = `{"n":1${" ".repeat(60_000)}}`;
    for (let n = 0; n < 7; n += 1) expect(await ask(`${base}/n`)).to.equal(body);
    for (const [broke, fault] of [
      [body.slice(0, -1), /a broken body: .*JSON/],
      [`{"stations":[{"id":"a"}],"count":2}`, /it says 2, and has 1/],
      [`{"features":[{"id":"a"},{"id":"a"}],"count":2}`, /1 different ids in 2 items/],
    ] as const) {
      body = broke;
      expect(await ask(`${base}/n`)).to.match(fault);
      expect(takeBroken()).to.have.length(1);
    }
  });

  it("looks at nothing outside the API, and at no other server", async () => {
    body = "anything";
    expect(await ask("/page")).to.equal("anything");
    unwatchWeb(origin);
    expect(await ask(`${base}/n`)).to.equal("anything");
  });
});
