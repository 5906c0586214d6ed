import { expect } from "chai";
import { boundAddress } from "#src/infrastructure/addresses.ts";
import { boundDomain } from "#src/keys/issued-keys.ts";

describe("what a key is bound to", () => {
  it("domains become lower-case IDNA hosts", () => {
    for (const [entry, host] of [
      ["Shop.Example.COM", "shop.example.com"],
      ["пример.рф", "xn--e1afmkfd.xn--p1ai"],
      ["https://a.example/", "a.example"],
      ["*.b.example.", "b.example"],
    ] as const)
      expect(boundDomain(entry), entry).to.equal(host);
    for (const entry of [
      "a@b.example",
      "a.example/path",
      "a b",
      "*",
      "a.*.example",
      "https://",
      "a..b",
    ])
      expect(boundDomain(entry), entry).to.equal(null);
  });

  it("addresses are IPv4, IPv6 and CIDR blocks", () => {
    for (const [entry, address] of [
      ["10.0.0.0/8", "10.0.0.0/8"],
      ["::FFFF:1.2.3.4", "1.2.3.4"],
      ["::ffff:10.1.0.0/112", "10.1.0.0/16"],
      ["2001:DB8::/32", "2001:db8::/32"],
      ["::1", "::1"],
    ] as const)
      expect(boundAddress(entry), entry).to.equal(address);
    for (const entry of [
      "10.0.0.0/33",
      "300.1.1.1",
      "1.2.3.4/",
      "1.2.3.4/8/8",
      "2001:db8::/129",
      "::ffff:1.2.3.4/95",
      "example.com",
    ])
      expect(boundAddress(entry), entry).to.equal(null);
  });
});
