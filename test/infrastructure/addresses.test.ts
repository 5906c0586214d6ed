import { BlockList, isIP } from "node:net";
import { expect } from "chai";
import fc from "fast-check";
import {
  addressSet,
  isPublicAddress,
  viewerAddress,
  viewerNetwork,
} from "#src/infrastructure/addresses.ts";

/** Eight groups, none of which is in IPv4's form. */
const hexAddress = fc
  .array(fc.integer({ min: 1, max: 0xffff }), { minLength: 8, maxLength: 8 })
  .map((groups) => groups.map((group) => group.toString(16)).join(":"));

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

describe("any address", () => {
  const entry = fc.oneof(
    fc.tuple(fc.ipV4(), fc.integer({ min: 0, max: 32 })),
    fc.tuple(hexAddress, fc.integer({ min: 0, max: 128 })),
  );

  it("is in the blocks in which Node's own list finds it", () => {
    const check = ([block, bits]: [string, number], address: string): void => {
      const list = new BlockList();
      const type = (text: string) => (isIP(text) === 4 ? "ipv4" : "ipv6");
      list.addSubnet(block, bits, type(block));
      const found = addressSet([`${block}/${bits}`]).has(address);
      expect(found).to.equal(list.check(address, type(address)));
    };
    fc.assert(fc.property(entry, fc.oneof(fc.ipV4(), hexAddress), check));
  });

  it("is the same in the forms of a socket, a header and a link", () => {
    fc.assert(
      fc.property(fc.ipV4(), hexAddress, (v4, v6) => {
        const none = addressSet([]);
        expect(viewerAddress(`::ffff:${v4}`, undefined, none)).to.equal(v4);
        const plain = viewerAddress(v6, undefined, none);
        expect(new URL(`http://[${v6}]`).hostname).to.equal(`[${plain}]`);
        for (const form of [`[${v6}]`, `${v6}%eth0.1`, v6.toUpperCase()])
          expect(viewerAddress(form, undefined, none)).to.equal(plain);
        expect(addressSet([v4]).has(`::ffff:${v4}`)).to.equal(true);
      }),
    );
  });

  it("shares its /64 with whatever has the same upper half, and with nothing else", () => {
    fc.assert(
      fc.property(hexAddress, hexAddress, (one, other) => {
        const upper = (text: string) => text.split(":").slice(0, 4).join(":");
        const lower = other.split(":").slice(4).join(":");
        expect(viewerNetwork(`${upper(one)}:${lower}`)).to.equal(viewerNetwork(one));
        expect(viewerNetwork(one) === viewerNetwork(other)).to.equal(upper(one) === upper(other));
      }),
    );
  });

  it("is the proxy's where a header is malformed, and is always an address", () => {
    const trusted = addressSet(["10.0.0.0/8"]);
    fc.assert(
      fc.property(fc.string(), (header) => {
        expect(isIP(viewerAddress("10.0.0.1", header, trusted))).to.not.equal(0);
        expect(
          viewerAddress("10.0.0.1", `1.1.1.1, x${header.replaceAll(",", "")}`, trusted),
        ).to.match(/^10\.0\.0\.1$/);
      }),
    );
  });
});

describe("infrastructure: a public address", () => {
  it("is none of a private, local, shared, reserved or translated network, in any form", () => {
    for (const text of [
      ...["0.0.0.0", "10.0.0.1", "100.64.0.1", "127.0.0.1", "169.254.169.254", "172.16.0.1"],
      ...["172.31.255.255", "192.0.0.8", "192.0.2.1", "192.168.0.1", "198.18.0.1", "198.51.100.1"],
      ...["203.0.113.1", "224.0.0.1", "240.0.0.1", "255.255.255.255"],
      ...["::", "::1", "::7f00:1", "fe80::1", "fec0::1", "fc00::1", "fd12::1", "ff02::1"],
      ...["::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:0:127.0.0.1", "64:ff9b::7f00:1"],
      ...[
        "64:ff9b:1::1",
        "2001:db8::1",
        "2001::1",
        "2002:7f00:1::1",
        "100::1",
        "[::1]",
        "fe80::1%eth0",
      ],
      ...["", "localhost", "2130706433", "0x7f.1", "010.0.0.1"],
    ])
      expect(isPublicAddress(text), text).to.equal(false);
    for (const text of [
      "1.1.1.1",
      "172.32.0.1",
      "100.128.0.1",
      "::ffff:8.8.8.8",
      "2606:4700::1111",
    ])
      expect(isPublicAddress(text), text).to.equal(true);
  });
});
