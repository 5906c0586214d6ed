import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { expect } from "chai";
import { compress, pickEncoding, matchesEtag } from "#api/http/negotiation.ts";

describe("Accept-Encoding", () => {
  const cases: [header: string | undefined, picked: string][] = [
    [undefined, "identity"],
    ["", "identity"],
    ["gzip, deflate, br", "br"],
    ["gzip", "gzip"],
    ["x-gzip", "gzip"],
    ["GZIP;Q=1", "gzip"],
    ["br;q=0.5, gzip;q=0.8", "gzip"],
    ["br;q=0, gzip;q=0", "identity"],
    ["*", "br"],
    ["*;q=0", "identity"],
    ["br;q=0, *", "gzip"],
    ["identity", "identity"],
    ["identity;q=1, gzip;q=0.5", "identity"],
    ["identity;q=0.5, gzip;q=0.5", "gzip"],
    ["identity;q=0", "identity"],
    ["deflate, zstd", "identity"],
    ["gzip;q=nonsense", "identity"],
    ["gzip ; q = 0.2 ,,", "gzip"],
  ];
  for (const [header, picked] of cases) {
    it(`"${header}" gives ${picked}`, () => expect(pickEncoding(header)).to.equal(picked));
  }

  it("offers only what there is", () =>
    expect(pickEncoding("br, gzip", ["gzip"])).to.equal("gzip"));

  it("packs what unpacks again", async () => {
    const body = Buffer.from("заправка ".repeat(500));
    expect(gunzipSync(await compress(body, "gzip"))).to.deep.equal(body);
    expect(brotliDecompressSync(await compress(body, "br"))).to.deep.equal(body);
  });
});

describe("If-None-Match", () => {
  for (const header of ['W/"a"', '"a"', '"x", W/"a"', '"x","a"', "*", ' W/"a" ', '"a" junk']) {
    it(`${header} matches W/"a"`, () => expect(matchesEtag(header, 'W/"a"')).to.equal(true));
  }
  for (const header of [undefined, "", "a", '"a', "W/a", '"b"', '"A"', '"a,b"', "w", '"*"']) {
    it(`${header} does not match W/"a"`, () =>
      expect(matchesEtag(header, 'W/"a"')).to.equal(false));
  }
  it("does not split a tag at its comma", () =>
    expect(matchesEtag('"a,b"', 'W/"a,b"')).to.equal(true));
});
