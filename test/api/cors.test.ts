import { expect } from "chai";
import { headersForPage } from "#api/http/cors.ts";
import type { KeyInfo } from "#src/keys/key-store.ts";
import { addKey, addPartner, bearer, useEdgeOn } from "#test/api/edge.ts";
import { placeOf } from "#test/flow/country.ts";
import { useStage } from "#test/flow/stage.ts";

const shop = "https://www.shop.test";
const { id } = placeOf(0);
const area = "/stations?bbox=-90,-180,90,180";
const cors = (headers: Headers): string[] =>
  [...headers.keys()].filter((name) => name.startsWith("access-control-"));

describe("what a partner's page may read (decisions 8.34, 8.35)", () => {
  const { instance, country } = useStage(3, [], {
    LOG_LEVEL: "silent",
    TRUSTED_PROXIES: "127.0.0.1",
    BASE_URL: "https://fuel.example",
  });
  const edge = useEdgeOn(instance);
  let key: string;

  before(async () => {
    key = await addKey(country.db, country.partnerId, "publishable", { domains: ["shop.test"] });
  });

  const call = async (
    path: string,
    headers: Record<string, string>,
    more: RequestInit = {},
  ): Promise<Response> => {
    const answer = await fetch(edge.url + path, { headers, ...more });
    return new Response(
      [204, 304].includes(answer.status) ? null : await answer.arrayBuffer(),
      answer,
    );
  };
  const from = (origin: string, text = key) => ({ ...bearer(text), Origin: origin });
  const codeOf = async (answer: Response): Promise<string> =>
    ((await answer.json()) as { type: string }).type.split("/").at(-1)!;
  const expectReadable = (answer: Response, origin = shop): void => {
    expect(answer.headers.get("access-control-allow-origin")).to.equal(origin);
    const exposed = answer.headers.get("access-control-expose-headers")!.toLowerCase().split(", ");
    const own = [...answer.headers.keys()].filter((name) => /^(x-|etag|retry-after)/.test(name));
    expect(own).to.include("x-ratelimit-remaining").and.to.include("x-request-id");
    expect(exposed).to.include.members(own.filter((name) => name !== "x-content-type-options"));
    expect(answer.headers.has("access-control-allow-credentials")).to.equal(false);
  };

  it("is every read of a publishable key on its domains, also the one that is not modified", async () => {
    for (const origin of [shop, "http://shop.test:3000"]) {
      for (const path of [area, `/stations/${id}`, "/cities", "/widget/config"]) {
        const answer = await call(path, from(origin));
        expect(answer.status, path).to.equal(200);
        expectReadable(answer, origin);
        expect(answer.headers.get("vary"), path).to.include("Origin");
      }
    }
    const etag = (await call(area, from(shop))).headers.get("etag")!;
    // The same bytes and the same ETag for another page: only the header tells them apart.
    const other = "https://shop.test";
    const unchanged = await call(area, { ...from(other), "If-None-Match": etag });
    expect(unchanged.status).to.equal(304);
    expectReadable(unchanged, other);
    expect(unchanged.headers.get("vary")).to.include("Origin");
    const whole = await call(area, { ...from(other), "Accept-Encoding": "gzip" });
    expect([whole.status, whole.headers.get("x-service-cache")]).to.deep.equal([200, "hit"]);
    expectReadable(whole, other);
    const head = await call(area, from(shop), { method: "HEAD" });
    expectReadable(head);
  });

  it("is told apart by caches also where no page asked", async () => {
    const answer = await call(area, bearer(key));
    expect(cors(answer.headers)).to.deep.equal([]);
    expect(answer.headers.get("vary")).to.include("Origin");
    const own = await call(area, from("https://fuel.example"));
    expect([own.status, cors(own.headers)]).to.deep.equal([200, []]);
  });

  it("is every refusal of a key that is known there", async () => {
    const { db, partnerId } = country;
    const off = await addPartner(db, { enabled: false });
    const small = await addPartner(db, { rpm: 1 });
    const domains = ["shop.test"];
    const disabled = await addKey(db, off, "publishable", { domains });
    const limited = await addKey(db, small, "publishable", { domains });
    const ended = await addKey(db, partnerId, "publishable", {
      domains,
      expires_at: new Date(Date.now() - 1000),
    });
    await call("/cities", from(shop, limited));
    for (const [path, text, expected, more] of [
      ["/usage", key, "secret-key-required"],
      ["/stations/all", key, "secret-key-required"],
      ["/stations?lat=1&lon=1", key, "secret-key-required"],
      ["/cities", disabled, "partner-disabled"],
      ["/cities", limited, "rate-limit-exceeded"],
      ["/stations?bbox=x", key, "bad-bbox"],
      ["/stations/none", key, "station-not-found"],
      ["/cities", key, "method-not-allowed", { method: "DELETE" }],
      ["/cities", ended, "invalid-key"],
    ] as const) {
      const answer = await call(path, from(shop, text), more);
      expectReadable(answer);
      expect(await codeOf(answer), path).to.equal(expected);
      const foreign = await call(path, from("https://evil.test", text), more);
      expect(cors(foreign.headers), path).to.deep.equal([]);
    }
  });

  it("is nothing for pages that the key is not bound to, and for no page of an unknown key", async () => {
    for (const origin of ["https://evil.test", "https://shop.test.evil.test", "null"]) {
      const answer = await call("/cities", from(origin));
      expect(cors(answer.headers)).to.deep.equal([]);
      expect(await codeOf(answer)).to.equal("domain-not-allowed");
    }
    // As no browser writes it: allowed as ever, and read by nobody.
    const odd = await call("/cities", from("https://WWW.shop.test"));
    expect([odd.status, cors(odd.headers)]).to.deep.equal([200, []]);
    const unknown = await call("/cities", from(shop, "pk_live_wrong"));
    expect([unknown.status, cors(unknown.headers)]).to.deep.equal([401, []]);
    const none = await call("/cities", { Origin: shop });
    expect([none.status, cors(none.headers)]).to.deep.equal([401, []]);
  });

  it("is nothing that a secret key is answered, also when it is bound to a domain by mistake", async () => {
    const { db, partnerId, secret } = country;
    const odd = await addKey(db, partnerId, "secret", { domains: ["shop.test"] });
    for (const text of [secret, odd]) {
      const answer = await call(area, from(shop, text));
      expect([answer.status, cors(answer.headers)]).to.deep.equal([200, []]);
      expect(answer.headers.get("vary")).to.equal("Accept-Encoding, Accept");
    }
    const info = { kind: "secret", domains: ["shop.test"] } as unknown as KeyInfo;
    expect(headersForPage(info, shop)).to.equal(undefined);
  });

  describe("a preflight", () => {
    const ask = (path: string, method: string, origin = shop, more = {}): Promise<Response> =>
      call(
        path,
        { Origin: origin, "Access-Control-Request-Method": method, ...more },
        { method: "OPTIONS" },
      );

    it("is answered without a key where publishable keys may call, with the path's methods", async () => {
      for (const [path, methods, allow] of [
        [area, "GET, HEAD", "GET, HEAD, OPTIONS"],
        ["/widget/config", "GET, HEAD", "GET, HEAD, OPTIONS"],
        [`/widget/stations/${id}/report`, "POST", "POST, OPTIONS"],
      ] as const) {
        const more = { "Access-Control-Request-Headers": "authorization,content-type" };
        const answer = await ask(path, "POST", "https://anybody.test", more);
        expect(answer.status, path).to.equal(204);
        const { headers } = answer;
        expect(headers.get("access-control-allow-origin")).to.equal("https://anybody.test");
        expect(headers.get("access-control-allow-methods")).to.equal(methods);
        expect(headers.get("allow")).to.equal(allow);
        const taken = headers.get("access-control-allow-headers")!.split(", ");
        expect(taken).to.include.members(["Authorization", "Content-Type", "If-None-Match"]);
        expect(headers.get("vary")).to.include("Origin");
        expect(headers.get("x-ratelimit-limit")).to.equal("120");
      }
    });

    it("is refused like any call without a key elsewhere, and so is what only looks like one", async () => {
      for (const path of ["/usage", "/stations/all", `/stations/${id}/report`, "/unknown"]) {
        const answer = await ask(path, "GET");
        expect([answer.status, cors(answer.headers)], path).to.deep.equal([401, []]);
      }
      for (const origin of ["null", "file:///x", "garbage", "https://a.test/path"])
        expect((await ask(area, "GET", origin)).status, origin).to.equal(401);
      const plain = await call(area, { Origin: shop }, { method: "OPTIONS" });
      expect(plain.status).to.equal(401);
      const withKey = await call(area, from(shop), { method: "OPTIONS" });
      expect(withKey.status).to.equal(204);
      expectReadable(withKey);
    });

    it("uses nobody's limits", async () => {
      const left = async () =>
        (await call("/cities", { ...from(shop), "X-Forwarded-For": "9.9.9.9" })).headers.get(
          "x-ratelimit-remaining",
        );
      const before = Number(await left());
      for (let i = 0; i < 20; i += 1)
        await ask("/cities", "GET", shop, { "X-Forwarded-For": "9.9.9.9" });
      // The minute may have turned meanwhile.
      expect(Number(await left())).to.be.at.least(before - 1);
    });
  });
});
