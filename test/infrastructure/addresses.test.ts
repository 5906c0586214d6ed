import { expect } from "chai";
import { addressSet, viewerAddress, viewerNetwork } from "#src/infrastructure/addresses.ts";

describe("addresses", () => {
  it("finds addresses and blocks of both families", () => {
    const set = addressSet([
      "10.1.2.3",
      "192.168.0.0/16",
      "2001:db8::/32",
      "::ffff:8.8.8.8",
      "::1",
    ]);
    for (const one of ["10.1.2.3", "192.168.255.1", "2001:db8:1::5", "8.8.8.8", "::1"]) {
      expect(set.has(one), one).to.equal(true);
    }
    for (const one of ["10.1.2.4", "192.169.0.1", "2001:db9::1", "::2", "", "x"]) {
      expect(set.has(one), one).to.equal(false);
    }
  });

  it("lets entries that are no addresses match nothing", () => {
    const set = addressSet(["", "x", "10.0.0.0/33", "10.0.0.0/", "1.2.3.4/8/9", "::/129"]);
    for (const one of ["10.0.0.1", "1.2.3.4", "::1"]) expect(set.has(one), one).to.equal(false);
  });
});

describe("the viewer's address", () => {
  const trusted = addressSet(["10.0.0.0/8"]);

  it("is the peer's when the peer is no trusted proxy", () => {
    expect(viewerAddress("::ffff:5.5.5.5", "1.1.1.1", trusted)).to.equal("5.5.5.5");
    expect(viewerAddress("5.5.5.5", "1.1.1.1", addressSet([]))).to.equal("5.5.5.5");
  });

  it("is the nearest one that no trusted proxy has", () => {
    expect(viewerAddress("10.0.0.1", "6.6.6.6, 1.1.1.1, 10.0.0.2", trusted)).to.equal("1.1.1.1");
    expect(viewerAddress("10.0.0.1", "[2001:db8::1]:443", trusted)).to.equal("2001:db8::1");
    expect(viewerAddress("10.0.0.1", "1.1.1.1:55", trusted)).to.equal("1.1.1.1");
  });

  it("stays with the proxy when the header says nothing usable", () => {
    expect(viewerAddress("10.0.0.1", undefined, trusted)).to.equal("10.0.0.1");
    expect(viewerAddress("10.0.0.1", "1.1.1.1, evil", trusted)).to.equal("10.0.0.1");
  });

  it("counts an IPv6 viewer by its /64", () => {
    expect(viewerNetwork("2001:db8::1")).to.equal("2001:db8:0:0::/64");
    expect(viewerNetwork("2001:0db8:0:0:9:8:7:6")).to.equal("2001:db8:0:0::/64");
    expect(viewerNetwork("::1")).to.equal("0:0:0:0::/64");
    expect(viewerNetwork("9.9.9.9")).to.equal("9.9.9.9");
  });
});
