import { expect } from "chai";
import fc from "fast-check";
import { Secret, TOTP } from "otpauth";
import { newTotpSecret, openTotp, sealTotp, stepOfCode, totpSetUp } from "#src/operators/totp.ts";

describe("TOTP", () => {
  const stepMs = 30_000;

  it("takes the codes of RFC 6238, of this step and the two beside it", async () => {
    // Appendix B: the secret "12345678901234567890" at 59 s; the last six of eight digits.
    const secret = Buffer.from("12345678901234567890");
    expect(await stepOfCode(secret, "287082", 59_000)).to.equal(1);
    const codeAt = (step: number): string =>
      TOTP.generate({ secret: Secret.fromLatin1(secret.toString()), timestamp: step * stepMs });
    const property = fc.asyncProperty(
      fc.integer({ min: 10, max: 2 ** 32 }),
      fc.integer({ min: -5, max: 5 }),
      fc.integer({ min: 0, max: stepMs - 1 }),
      async (step, off, ms) => {
        const found = await stepOfCode(secret, codeAt(step + off), step * stepMs + ms);
        if (Math.abs(off) <= 1) expect(found).to.not.equal(null);
        // Six digits can be those of another step by chance.
        if (found !== null) expect(codeAt(found)).to.equal(codeAt(step + off));
        if (found !== null) expect(found).to.be.within(step - 1, step + 1);
      },
    );
    await fc.assert(property, { numRuns: 50 });
    for (const code of ["", "28708", "2870822", "28708a", "２８７０８２"])
      expect(await stepOfCode(secret, code, 59_000), code).to.equal(null);
  });

  it("keeps a secret readable with its pepper and for its account alone", () => {
    const secret = newTotpSecret();
    const sealed = sealTotp("a pepper", 7, secret);
    expect(sealed.includes(secret)).to.equal(false);
    expect(openTotp("a pepper", 7, sealed)).to.deep.equal(secret);
    expect(openTotp("another pepper", 7, sealed)).to.equal(null);
    expect(openTotp("a pepper", 8, sealed)).to.equal(null);
    sealed[sealed.length - 1]! ^= 1;
    expect(openTotp("a pepper", 7, sealed)).to.equal(null);
  });

  it("gives an app what it needs", async () => {
    const { secret, address } = await totpSetUp(Buffer.alloc(20), "olga & co");
    expect(secret).to.equal("A".repeat(32));
    const url = new URL(address);
    expect(url.protocol + url.host + decodeURIComponent(url.pathname)).to.equal(
      "otpauth:totp/Fuelmark:olga & co",
    );
    expect(Object.fromEntries(url.searchParams)).to.include({ secret, digits: "6", period: "30" });
  });
});
