import { expect } from "chai";
import { consumerKey, issueConsumerKey } from "#src/keys/consumer-key.ts";
import { rows } from "#src/infrastructure/db.ts";
import { addKey, addPartner, useEdge } from "#test/api/edge.ts";
import { until } from "#test/flow/client.ts";

describe("api: the pages of the map", () => {
  const edge = useEdge({ settings: { KEYS_REFRESH_MS: "100" } });
  let key: string;
  let secret: string;
  let partner: number;

  before(async () => {
    partner = await addPartner(edge.db);
    key = await addKey(edge.db, partner, "publishable", {
      domains: ["shop.example", "xn--e1afmkfd.xn--p1ai"],
    });
    secret = await addKey(edge.db, partner);
  });

  const open = async (path: string, headers: Record<string, string> = {}) => {
    const response = await fetch(edge.origin + path, { headers, redirect: "manual" });
    return {
      status: response.status,
      headers: response.headers,
      policy: response.headers.get("content-security-policy") ?? "",
      cache: response.headers.get("cache-control"),
      location: response.headers.get("location"),
      text: await response.text(),
    };
  };
  const widget = (given: string, headers: Record<string, string> = {}) =>
    open(`/widget/?key=${given}`, headers);

  it("lets the key's domains, their subdomains and this server frame the map, and nobody else", async () => {
    const { status, policy, cache } = await widget(key);
    expect(status).to.equal(200);
    expect(cache).to.equal("no-cache");
    const ancestors = policy.split("; ").find((part) => part.startsWith("frame-ancestors"));
    expect(ancestors!.split(" ").slice(1)).to.deep.equal([
      "'self'",
      ...[
        "shop.example",
        "*.shop.example",
        "xn--e1afmkfd.xn--p1ai",
        "*.xn--e1afmkfd.xn--p1ai",
      ].flatMap((host) => [`https://${host}:*`, `http://${host}:*`]),
    ]);
  });

  it("allows nothing inline, nothing evaluated, no blob and no host but its own", async () => {
    const { policy } = await widget(key);
    expect(policy).to.match(/^default-src 'none'; script-src 'self'; worker-src 'self'; /);
    expect(policy).to.not.match(/unsafe|blob:|\*;|connect-src[^;]*http/);
  });

  for (const [what, referer, status] of [
    ["no page", undefined, 200],
    ["the domain", "https://shop.example/fuel", 200],
    ["a subdomain on a port", "http://m.shop.example:3000/", 200],
    ["another spelling", "https://SHOP.example./", 200],
    ["a lookalike", "https://shop.example.evil.example/", 403],
    ["a domain that ends like it", "https://notshop.example/", 403],
  ] as const) {
    it(`answers ${status} when it is embedded by ${what}`, async () => {
      const answer = await widget(key, referer === undefined ? {} : { Referer: referer });
      expect(answer.status).to.equal(status);
      expect(answer.text.includes("<script")).to.equal(status === 200);
    });
  }

  it("shows a page without a map for a missing, wrong and secret key, in the viewer's language", async () => {
    const none = await open("/widget/");
    expect([none.status, none.text.includes("The map needs a key")]).to.deep.equal([401, true]);
    const wrong = await widget(key.slice(0, -1) + (key.endsWith("x") ? "y" : "x"), {
      "Accept-Language": "ru",
    });
    expect([wrong.status, wrong.text.includes("Ключ недействителен")]).to.deep.equal([401, true]);
    const leaked = await widget(secret);
    expect([leaked.status, leaked.text.includes("This is a secret key")]).to.deep.equal([
      403,
      true,
    ]);
    for (const { text, policy } of [none, wrong, leaked]) {
      expect(text).to.not.include("<script").and.not.include(secret);
      expect(policy).to.include("default-src 'none'").and.not.include("unsafe");
    }
  });

  it("shows no map for a revoked key and a switched-off partner", async () => {
    const other = await addPartner(edge.db, { enabled: false });
    const off = await addKey(edge.db, other, "publishable", { domains: ["shop.example"] });
    const revoked = await addKey(edge.db, partner, "publishable", { revoked_at: new Date() });
    expect((await widget(off)).status).to.equal(403);
    expect((await widget(revoked)).status).to.equal(401);
  });

  it("leads to the address with a slash, parameters and all", async () => {
    const { status, location } = await open("/widget?key=a&theme=dark");
    expect([status, location]).to.deep.equal([308, "widget/?key=a&theme=dark"]);
  });

  it("leads from / to the list until a key of the consumer map is in force, then shows the map", async () => {
    const before = await open("/");
    expect([before.status, before.location]).to.deep.equal([302, "list"]);
    await Promise.all([1, 2].map(() => issueConsumerKey(edge.db, edge.config)));
    await issueConsumerKey(edge.db, edge.config);
    // The process hears of the key a moment after it is stored.
    const { text } = await until(
      () => open("/"),
      ({ status }) => status === 200,
    );
    expect(text)
      .to.include(`content="${consumerKey(edge.config)}"`)
      .and.include('href="list?lang=en"');
    const issued = await rows(edge.db, "select from keys where label = 'the map at /'");
    expect(issued).to.have.length(1);
  });

  it("takes the operator's own key for / instead", () => {
    expect(consumerKey({ ...edge.config, consumerKey: key })).to.equal(key);
  });

  it("gives out parts of the base map, and says which part", async () => {
    const url = `${edge.origin}/basemap/bundled.pmtiles`;
    const part = await fetch(url, { headers: { Range: "bytes=0-6" } });
    expect([part.status, await part.text()]).to.deep.equal([206, "PMTiles"]);
    expect(part.headers.get("etag")).to.match(/^"/);
    expect((await fetch(url, { headers: { Range: "bytes=99999999-" } })).status).to.equal(416);
    expect((await open("/basemap/operator.pmtiles")).status).to.equal(404);
  });

  describe("and the headers of every page", () => {
    before(async () => {
      await issueConsumerKey(edge.db, edge.config);
      await until(
        () => open("/"),
        ({ status }) => status === 200,
      );
    });

    const nobody = "'none'";
    const pages: [path: string, ancestors: RegExp | string, geolocation: string][] = [
      ["/", "'self'", "(self)"],
      ["/widget/?key=KEY", /^'self' https:\/\/shop\.example:\* /, "(self)"],
      ["/widget/", "*", "()"],
      // It shows the map in a frame.
      ["/widget/embed", nobody, "(self)"],
      ["/s/n1000", "'self'", "()"],
      ["/list", nobody, "()"],
      ["/overview", nobody, "()"],
      ["/overview?embed=1&key=KEY", /^'self' https:\/\/shop\.example:\* /, "()"],
      ["/status", nobody, "()"],
      ["/docs", nobody, "()"],
      ["/problems", nobody, "()"],
      ["/problems/invalid-key", nobody, "()"],
      ["/dashboard/", nobody, "()"],
      ["/console/", nobody, "()"],
    ];
    for (const [path, wanted, geolocation] of pages) {
      it(`say who frames ${path}, that no opener holds it, and what it may use`, async () => {
        const { policy, headers } = await open(path.replace("KEY", key));
        const ancestors = /frame-ancestors ([^;]*)$/.exec(policy)?.[1];
        const features = headers.get("permissions-policy") ?? "";
        if (typeof wanted === "string") expect(ancestors).to.equal(wanted);
        else expect(ancestors).to.match(wanted);
        expect(policy).to.include("default-src 'none'").and.include("base-uri 'none'");
        expect(headers.get("cross-origin-opener-policy")).to.equal("same-origin");
        expect(features.split(", ")).to.include.members([
          "camera=()",
          "microphone=()",
          `geolocation=${geolocation}`,
        ]);
        // What an embedding page allows the map must not be taken away here.
        expect(features).not.to.match(/fullscreen|clipboard/);
      });
    }
  });
});
