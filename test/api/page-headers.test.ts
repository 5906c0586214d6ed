import { expect } from "chai";
import { issueConsumerKey } from "#src/keys/consumer-key.ts";
import { addKey, addPartner, useEdge } from "#test/api/edge.ts";
import { until } from "#test/flow/client.ts";

describe("api: the headers of every page", () => {
  const edge = useEdge({ settings: { KEYS_REFRESH_MS: "100" } });
  let key: string;

  before(async () => {
    key = await addKey(edge.db, await addPartner(edge.db), "publishable", {
      domains: ["shop.example"],
    });
    await issueConsumerKey(edge.db, edge.config);
    await until(
      () => open("/"),
      ({ status }) => status === 200,
    );
  });

  const open = async (path: string) => {
    const response = await fetch(`${edge.origin}${path}`, { redirect: "manual" });
    await response.text();
    const policy = response.headers.get("content-security-policy") ?? "";
    return {
      status: response.status,
      policy,
      ancestors: /frame-ancestors ([^;]*)$/.exec(policy)?.[1],
      features: response.headers.get("permissions-policy") ?? "",
      opener: response.headers.get("cross-origin-opener-policy"),
    };
  };

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
      const { policy, ancestors, features, opener } = await open(path.replace("KEY", key));
      if (typeof wanted === "string") expect(ancestors).to.equal(wanted);
      else expect(ancestors).to.match(wanted);
      expect(policy).to.include("default-src 'none'").and.include("base-uri 'none'");
      expect(opener).to.equal("same-origin");
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
