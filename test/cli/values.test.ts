import { expect } from "chai";
import { Refusal } from "#cli/refusal.ts";
import { cacheTtl, confirmMin, domains, expiry, flag, integer, ips, line } from "#cli/values.ts";

const refuses = (parse: (text: string) => unknown, texts: readonly string[]): void => {
  for (const text of texts) expect(() => parse(text), JSON.stringify(text)).to.throw(Refusal);
};

describe("what an operator types", () => {
  it("domains become lower-case IDNA hosts", () => {
    expect(
      domains("Shop.Example.COM, пример.рф,https://a.example/,*.b.example.,shop.example.com"),
    ).to.deep.equal(["shop.example.com", "xn--e1afmkfd.xn--p1ai", "a.example", "b.example"]);
    expect(domains("")).to.deep.equal([]);
    refuses(domains, [
      "a@b.example",
      "a.example/path",
      "a b",
      "*",
      "a.*.example",
      "https://",
      "a..b",
    ]);
  });

  it("addresses are IPv4, IPv6 and CIDR blocks", () => {
    expect(ips("10.0.0.0/8,::FFFF:1.2.3.4, ::ffff:10.1.0.0/112,2001:DB8::/32,::1")).to.deep.equal([
      "10.0.0.0/8",
      "1.2.3.4",
      "10.1.0.0/16",
      "2001:db8::/32",
      "::1",
    ]);
    refuses(ips, [
      "10.0.0.0/33",
      "300.1.1.1",
      "1.2.3.4/",
      "1.2.3.4/8/8",
      "2001:db8::/129",
      "::ffff:1.2.3.4/95",
      "example.com",
    ]);
  });

  it("numbers are whole and in their range", () => {
    const rpm = integer("--rpm", 1, 100_000);
    expect(rpm("100000")).to.equal(100_000);
    refuses(rpm, ["0", "100001", "-1", "1.5", "1e3", "", " 5", "0x10", "9".repeat(40)]);
    expect(["0", "1", "3", "1000"].map(confirmMin)).to.deep.equal([0, 1, 3, 1000]);
    refuses(confirmMin, ["2", "1001", "-1"]);
    expect([cacheTtl("0").value, cacheTtl("3600").value, cacheTtl("default").value]).to.deep.equal([
      0,
      3600,
      null,
    ]);
    refuses(cacheTtl, ["3601", "none"]);
  });

  it("switches are true or false, lines are lines", () => {
    expect([flag("x")("true"), flag("x")("false")]).to.deep.equal([true, false]);
    refuses(flag("x"), ["yes", "1", "TRUE", ""]);
    expect(line("x", 5, "not empty")(" abc ")).to.equal("abc");
    refuses(line("x", 5, "not empty"), ["", "  ", "abcdef", "a\u0000b", "a\nb", "\ud800"]);
  });

  it("ends are in the future", () => {
    const parse = expiry(() => Date.UTC(2026, 0, 1));
    expect(parse("2026-02-01").value?.toISOString()).to.equal("2026-02-01T00:00:00.000Z");
    expect(parse("2026-02-01 10:00:00").value?.toISOString()).to.equal("2026-02-01T10:00:00.000Z");
    expect(parse("never").value).to.equal(null);
    refuses(parse, ["2025-12-31", "tomorrow", "2026-02-30", ""]);
  });
});
