import { expect } from "chai";
import fc from "fast-check";
import { hashKey, isKeyText, keyPrefix, newKey } from "#src/keys/key-text.ts";

const random = fc.uint8Array({ minLength: 32, maxLength: 32 });
const kind = fc.constantFrom("secret" as const, "publishable" as const);

describe("the text of a key", () => {
  it("has a fixed width and passes its own checksum", () => {
    fc.assert(
      fc.property(kind, random, (which, bytes) => {
        const key = newKey(which, bytes);
        expect(key).to.match(which === "secret" ? /^svc_live_\w{49}$/ : /^pk_live_\w{49}$/);
        expect(isKeyText(key)).to.equal(true);
        expect(hashKey(key)).to.match(/^[0-9a-f]{64}$/);
      }),
    );
  });

  it("fails its checksum after any single typing error", () => {
    fc.assert(
      fc.property(random, fc.nat(48), fc.constantFrom(..."0Az9"), (bytes, at, sign) => {
        const key = newKey("secret", bytes);
        const place = "svc_live_".length + at;
        const typo = key.slice(0, place) + sign + key.slice(place + 1);
        expect(isKeyText(typo)).to.equal(typo === key);
      }),
    );
  });

  it("does not pass as the other kind", () => {
    const key = newKey("secret", new Uint8Array(32));
    expect(isKeyText(key.replace("svc_", "pk_"))).to.equal(false);
  });

  it("refuses too little randomness", () => {
    expect(() => newKey("secret", new Uint8Array(31))).to.throw("32 random bytes");
  });

  it("shows a start that tells keys apart and gives nothing away", () => {
    expect(keyPrefix("pk_live_abcdefgh")).to.equal("pk_live_abcd");
  });
});
