import { brotliDecompressSync } from "node:zlib";
import { request as httpRequest } from "node:http";
import { Readable } from "node:stream";
import { expect } from "chai";
import { partnerPrefix } from "#src/infrastructure/redis.ts";
import { Type } from "typebox";
import { route, type Route } from "#api/http/route.ts";
import { refused } from "#api/http/errors.ts";
import { addKey, addPartner, bearer, useEdge } from "#test/api/edge.ts";
import { ConnectionFault } from "#src/infrastructure/faults.ts";

const routes = (): Route[] => [
  route({
    method: "GET",
    path: "/things",
    access: "any",
    summary: "",
    query: Type.Object({
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 9, default: 5 })),
      q: Type.Optional(Type.String({ maxLength: 4 })),
    }),
    handle: (ctx) => {
      ctx.set({ ETag: 'W/"1"', Vary: "Accept" });
      ctx.body = ctx.state.query;
    },
  }),
  route({
    method: "GET",
    path: "/things/{thing_id}",
    access: "any",
    summary: "",
    handle: (ctx) => {
      if (ctx.params["thing_id"] === "none") throw refused("station-not-found", "none");
      ctx.body = ctx.params;
    },
  }),
  route({
    method: "POST",
    path: "/things/{thing_id}",
    access: "secret",
    summary: "",
    bodyLimit: 100,
    body: Type.Object({ name: Type.String() }),
    handle: (ctx) => {
      ctx.status = 201;
      ctx.body = { ...ctx.state.body, ...ctx.params };
    },
  }),
  route({
    method: "GET",
    path: "/things/all",
    access: "secret",
    summary: "",
    handle: (ctx) => void (ctx.body = { all: "я".repeat(2000) }),
  }),
  route({
    method: "GET",
    path: "/same",
    access: "any",
    summary: "",
    handle: (ctx) => void (ctx.status = 304),
  }),
  route({
    method: "GET",
    path: "/stream",
    access: "any",
    summary: "",
    handle: (ctx) => {
      ctx.type = "json";
      ctx.body = Readable.from([Buffer.from('{"a":'), Buffer.from("1}")]);
    },
  }),
  route({
    method: "GET",
    path: "/bug",
    access: "any",
    summary: "",
    handle: () => {
      throw new Error("the secret of the house");
    },
  }),
  route({
    method: "GET",
    path: "/away",
    access: "any",
    summary: "",
    handle: () => {
      throw new ConnectionFault("Connection terminated unexpectedly");
    },
  }),
  route({
    method: "GET",
    path: "/bad-header",
    access: "any",
    summary: "",
    handle: (ctx) => ctx.set("X-City", "Москва"),
  }),
];

interface Answer {
  status: number;
  headers: Headers;
  code: string;
  detail: unknown;
  json: Record<string, unknown>;
}

describe("requests to the API", () => {
  const edge = useEdge({
    routes,
    pages: () => [
      (ctx, next) => {
        if (ctx.path !== "/page") return next();
        ctx.set("Content-Type", "text/plain");
        ctx.body = "a page";
        return undefined;
      },
    ],
  });
  let key: string;

  const ask = async (path: string, init: RequestInit = {}): Promise<Answer> => {
    const response = await fetch(edge.url + path, {
      ...init,
      headers: { ...bearer(key), ...(init.headers as Record<string, string>) },
    });
    const text = await response.text();
    const json = (text === "" ? {} : JSON.parse(text)) as Record<string, unknown>;
    const type = typeof json["type"] === "string" ? json["type"] : "";
    return {
      status: response.status,
      headers: response.headers,
      code: type.split("/").at(-1) ?? "",
      detail: json["detail"],
      json,
    };
  };
  const post = (body: RequestInit["body"], headers: Record<string, string> = {}): Promise<Answer> =>
    ask("/things/t1", {
      method: "POST",
      body: body ?? null,
      headers: { "Content-Type": "application/json", ...headers },
    });
  const said = ({ status, code }: Answer): string => `${status} ${code}`;

  before(async () => {
    key = await addKey(edge.db, await addPartner(edge.db, { rpm: 100_000, name: "Requests" }));
  });

  it("are answered with an id, limits and nosniff, whatever comes of them", async () => {
    const paths = ["/things", "/nope", "/bug", "/things?limit=x", "/same", "/bad-header"];
    const ids = new Set<string>();
    for (const path of paths) {
      const { headers, json, status } = await ask(path, { headers: { "X-Request-Id": "mine" } });
      const id = headers.get("X-Request-Id") as string;
      expect(id).to.match(/^[0-9a-f-]{36}$/);
      ids.add(id);
      if (status >= 400) expect(json["request_id"]).to.equal(id);
      expect(headers.get("X-Content-Type-Options")).to.equal("nosniff");
      for (const name of ["Limit", "Remaining", "Reset", "Daily-Limit", "Daily-Remaining"]) {
        expect(headers.get(`X-RateLimit-${name}`), `${path} ${name}`).to.match(/^\d+$/);
      }
    }
    expect(ids.size).to.equal(paths.length);
  });

  it("find exact paths only, fixed ones before parameters", async () => {
    expect((await ask("/things/all")).json).to.have.property("all");
    expect((await ask("/things/n%2D1")).json).to.deep.equal({ thing_id: "n-1" });
    expect((await ask("/things/a%2Fb%00")).json).to.deep.equal({ thing_id: "a/b\0" });
    for (const path of ["", "/", "/Things", "/things/", "/things/a/b", "//things", "/thing"]) {
      expect(said(await ask(path)), path).to.equal("404 not-found");
    }
    expect(said(await ask("/things/none"))).to.equal("404 station-not-found");
  });

  it("with broken percent-encoding are 422 where there is a route and 404 where there is none", async () => {
    for (const path of ["/things/%ff", "/things/%zz", "/things?q=%ff", "/same?%zz"]) {
      expect(said(await ask(path)), path).to.equal("422 validation-failed");
    }
    expect(said(await ask("/nope/%zz"))).to.equal("404 not-found");
  });

  it("get query values as the schema says, defaults included", async () => {
    expect((await ask("/things")).json).to.deep.equal({ limit: 5 });
    expect((await ask("/things?limit=9&q=%D1%91+&x=1&x=2")).json).to.deep.equal({
      limit: 9,
      q: "ё ",
    });
    for (const search of ["limit=0", "limit=10", "limit=", "limit=1&limit=1", "q=12345"]) {
      const answer = await ask(`/things?${search}`);
      expect(said(answer), search).to.equal("422 validation-failed");
      const [fault] = answer.detail as { loc: string[]; msg: string; type: string }[];
      expect(fault?.loc[0]).to.equal("query");
      expect(fault).to.include.keys("msg", "type");
    }
  });

  it("with a wrong method get 405 and what is allowed; OPTIONS gets 204", async () => {
    const wrong = await ask("/things/t1", { method: "DELETE" });
    expect(said(wrong)).to.equal("405 method-not-allowed");
    expect(wrong.headers.get("Allow")).to.equal("GET, HEAD, POST, OPTIONS");
    expect(said(await ask("/things", { method: "POST" }))).to.equal("405 method-not-allowed");
    // The words of a template are a value like any other.
    expect(said(await ask("/things/:id"))).to.equal(said(await ask("/things/1")));
    const options = await ask("/things", { method: "OPTIONS" });
    expect(options.status).to.equal(204);
    expect(options.headers.get("Allow")).to.equal("GET, HEAD, OPTIONS");
    expect(said(await ask("/nope", { method: "OPTIONS" }))).to.equal("404 not-found");
    const stranger = await fetch(`${edge.url}/things`, { method: "OPTIONS" });
    expect(stranger.status).to.equal(401);
  });

  it("are answered compressed when that is asked for and worth it", async () => {
    const raw = await new Promise<{ headers: NodeJS.Dict<string | string[]>; body: Buffer }>(
      (resolve, reject) => {
        const headers = { ...bearer(key), "Accept-Encoding": "gzip, br" };
        httpRequest(`${edge.url}/things/all`, { headers }, (response) => {
          const chunks: Buffer[] = [];
          response.on("data", (chunk: Buffer) => chunks.push(chunk));
          response.on("end", () =>
            resolve({ headers: response.headers, body: Buffer.concat(chunks) }),
          );
        })
          .on("error", reject)
          .end();
      },
    );
    expect(raw.headers["content-encoding"]).to.equal("br");
    expect(raw.headers["vary"]).to.equal("Accept-Encoding");
    expect(Number(raw.headers["content-length"])).to.equal(raw.body.length);
    expect(brotliDecompressSync(raw.body).toString()).to.equal(`{"all":"${"я".repeat(2000)}"}`);
    const small = await ask("/things");
    expect(small.headers.get("Content-Encoding")).to.equal(null);
    expect(small.headers.get("Vary")).to.equal("Accept-Encoding, Accept");
  });

  it("can be answered by 304, streams and pages", async () => {
    const same = await ask("/same");
    expect(same.status).to.equal(304);
    expect(same.headers.get("Content-Type")).to.equal(null);
    expect((await ask("/stream")).json).to.deep.equal({ a: 1 });
    const page = await fetch(`${edge.origin}/page`);
    expect(await page.text()).to.equal("a page");
    expect(page.headers.get("X-RateLimit-Limit")).to.equal(null);
  });

  it("that meet a bug get 500 with no internals; those that meet an outage get 503", async () => {
    const bug = await ask("/bug");
    expect(said(bug)).to.equal("500 internal-error");
    expect(JSON.stringify(bug.json)).not.to.match(/house|stack|\.ts/);
    const away = await ask("/away");
    expect(said(away)).to.equal("503 upstream-unavailable");
    expect(away.headers.get("Retry-After")).to.equal("5");
    expect(said(await ask("/bad-header"))).to.equal("500 internal-error");
  });

  it("outside the API are 404 without a key", async () => {
    for (const path of ["/", "/nope", "/api/v1", "/api/v1/partners/x", "/API/v1/partner/things"]) {
      const response = await fetch(`${edge.origin}${path}`);
      expect(response.status, path).to.equal(404);
      expect(response.headers.get("Content-Type")).to.equal("application/problem+json");
    }
  });

  it("are counted under the template of their path", async () => {
    const partner = await addPartner(edge.db);
    const own = bearer(await addKey(edge.db, partner));
    const call = (path: string, method = "GET"): Promise<unknown> =>
      ask(path, { method, headers: own });
    await call("/things/a");
    await call("/things/b");
    await call("/things/none");
    await call("/things/a", "HEAD");
    await call("/nope/1");
    await call("/same");
    await call("/things", "OPTIONS");
    await edge.web.services.meter.stop();
    const { redis } = edge.web.services;
    const day = Math.floor(Date.now() / 86_400_000);
    const { id, ...fields } = await redis.hgetall(
      `${partnerPrefix(edge.config.redisPrefix, partner)}:usage:p${partner}:${day}`,
    );
    expect(id).to.have.length(36);
    // The hours come once a second, by a timer.
    const counted = Object.fromEntries(
      Object.entries(fields).filter(([name]) => !name.startsWith("|hours|")),
    );
    expect(counted).to.deep.equal({
      "GET /things/{thing_id}": "3",
      "GET /things/{thing_id}|errors|station-not-found": "1",
      "HEAD /things/{thing_id}": "1",
      "GET (unknown)": "1",
      "GET (unknown)|errors|not-found": "1",
      "GET /same": "1",
      "GET /same|not_modified": "1",
      "OPTIONS /things": "1",
    });
  });

  describe("with a body", () => {
    it("get it validated", async () => {
      const answer = await post('{"name":"a","more":1}');
      expect(answer.status).to.equal(201);
      expect(answer.json).to.deep.equal({ name: "a", more: 1, thing_id: "t1" });
      const bad = await post('{"name":1}');
      expect(said(bad)).to.equal("422 validation-failed");
      expect(bad.detail).to.deep.equal([
        {
          loc: ["body", "name"],
          msg: "Input should be a valid string",
          type: "string_type",
          input: 1,
        },
      ]);
    });

    it("are 422 when it is empty, broken, not UTF-8, too deep or holds what cannot be kept", async () => {
      const bodies = [
        "",
        "{",
        '"x"',
        "null",
        "[".repeat(50),
        '{"name":"\\u0000"}',
        '{"name":"\\ud800"}',
      ];
      for (const body of bodies)
        expect(said(await post(body)), body).to.equal("422 validation-failed");
      const bytes = Buffer.concat([
        Buffer.from('{"name":"'),
        Buffer.from([0xff]),
        Buffer.from('"}'),
      ]);
      expect(said(await post(bytes))).to.equal("422 validation-failed");
      const none = await ask("/things/t1", { method: "POST" });
      expect(said(none)).to.equal("422 validation-failed");
    });

    it("are 413 over the cap, announced or not, and the connection lives on", async () => {
      expect(said(await post(`"${"x".repeat(99)}"`))).to.equal("413 body-too-large");
      const big = Readable.from([Buffer.alloc(60, 0x20), Buffer.alloc(1_000_000, 0x20)]);
      const chunked = await ask("/things/t1", {
        method: "POST",
        body: Readable.toWeb(big) as unknown as ReadableStream,
        duplex: "half",
        headers: { "Content-Type": "application/json" },
      } as RequestInit);
      expect(said(chunked)).to.equal("413 body-too-large");
      expect((await post('{"name":"a"}')).status).to.equal(201);
    });

    it("are 415 when it is not plain JSON in UTF-8", async () => {
      const types = [
        "text/plain",
        "application/json; charset=utf-16",
        "application/jsonp",
        "json",
        "",
      ];
      for (const type of types) {
        const answer = await post('{"name":"a"}', { "Content-Type": type });
        expect(said(answer), type).to.equal("415 unsupported-media-type");
      }
      for (const encoding of ["gzip", "br", "identity, gzip"]) {
        const answer = await post('{"name":"a"}', { "Content-Encoding": encoding });
        expect(said(answer), encoding).to.equal("415 unsupported-media-type");
      }
      for (const type of ["application/json;charset=UTF-8", 'Application/JSON; charset="utf-8"']) {
        const answer = await post('{"name":"a"}', {
          "Content-Type": type,
          "Content-Encoding": "identity",
        });
        expect(answer.status, type).to.equal(201);
      }
    });
  });
});
