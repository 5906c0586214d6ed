import { expect } from "chai";
import { isAllowedPage, normalDomain } from "#src/contract/hosts.ts";

const own = "https://fuel.example:8443";
const domains = ["partner.com"];
const allows = (origin: string): boolean => isAllowedPage({ origin }, domains, own);

describe("the domain check of publishable keys", () => {
  for (const origin of [
    "https://partner.com",
    "http://partner.com:3000",
    "https://www.partner.com",
    "https://a.b.partner.com",
    "https://PARTNER.com",
    "https://partner.com.",
    "https://partner。com",
    "https://fuel.example:8443",
  ]) {
    it(`lets ${origin} in`, () => expect(allows(origin)).to.equal(true));
  }

  for (const origin of [
    "null",
    "garbage",
    "https://partner.com.evil.com",
    "https://evilpartner.com",
    "https://evil.com/partner.com",
    "https://partner.com@evil.com",
    "https://evil.com#partner.com",
    "https://evil.com?partner.com",
    "https://evil.com\\@partner.com",
    "https://pаrtner.com",
    "https://partner.co",
    "https://com",
    "https://.com",
    "file:///partner.com",
    "chrome-extension://partner.com",
    "https://partner.com, https://evil.com",
    "https://fuel.example",
    "http://fuel.example:8443",
    "https://sub.fuel.example:8443",
  ]) {
    it(`keeps ${origin} out`, () => expect(allows(origin)).to.equal(false));
  }

  it("lets a call without any page in", () => {
    expect(isAllowedPage({}, domains, own)).to.equal(true);
    expect(isAllowedPage({ origin: "", referer: "" }, [], own)).to.equal(true);
  });

  it("believes Origin before Referer", () => {
    const referer = "https://partner.com/page?x=1";
    expect(isAllowedPage({ referer }, domains, own)).to.equal(true);
    expect(isAllowedPage({ origin: "https://evil.com", referer }, domains, own)).to.equal(false);
    expect(isAllowedPage({ origin: "null", referer }, domains, own)).to.equal(false);
  });

  it("takes a server on loopback for the same under its other names", () => {
    const local = "http://localhost:8080";
    expect(isAllowedPage({ origin: "http://127.0.0.1:8080" }, [], local)).to.equal(true);
    expect(isAllowedPage({ origin: "http://127.0.0.1:8081" }, [], local)).to.equal(false);
    expect(isAllowedPage({ origin: "http://127.0.0.1:8443" }, [], own)).to.equal(false);
  });

  it("compares Cyrillic domains in their IDNA form", () => {
    const bound = normalDomain("Заправка.РФ") as string;
    expect(bound).to.match(/^xn--[a-z0-9]+\.xn--p1ai$/);
    expect(isAllowedPage({ origin: "https://карта.заправка.рф" }, [bound], own)).to.equal(true);
    expect(isAllowedPage({ origin: "https://заправка.рф.evil.com" }, [bound], own)).to.equal(false);
  });

  it("normalises what the operator typed", () => {
    expect(normalDomain("Partner.COM.")).to.equal("partner.com");
    expect(normalDomain("localhost:3000")).to.equal("localhost");
    expect(normalDomain("")).to.equal(null);
    expect(normalDomain("not a host")).to.equal(null);
  });
});
