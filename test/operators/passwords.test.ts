import { expect } from "chai";
import { hashPassword, isPassword, newPassword } from "#src/operators/passwords.ts";

describe("passwords", function () {
  it("are told apart by their hash, each with a salt of its own", async () => {
    const [one, other] = [await hashPassword("tankstelle 95"), await hashPassword("tankstelle 95")];
    expect(one).to.match(/^scrypt\$32768\$8\$1\$[\w-]{22}\$[\w-]{43}$/);
    expect(one).not.to.equal(other);
    expect(one).not.to.include("tankstelle");
    expect(await isPassword("tankstelle 95", one)).to.equal(true);
    expect(await isPassword("tankstelle 96", one)).to.equal(false);
    expect(await isPassword("", one)).to.equal(false);
  });

  it("are the same however the keyboard composes them", async () => {
    const stored = await hashPassword("ёлка и ключи".normalize("NFC"));
    expect(await isPassword("ёлка и ключи".normalize("NFD"), stored)).to.equal(true);
  });

  it("are none where none is stored, whatever is tried", async () => {
    for (const guess of ["", "x", "a".repeat(200)])
      expect(await isPassword(guess, null)).to.equal(false);
  });

  it("go on being good under the cost that they were stored with", async () => {
    const cheap = "scrypt$1024$8$1$AAAAAAAAAAAAAAAAAAAAAA$" + "A".repeat(43);
    expect(await isPassword("anything", cheap)).to.equal(false);
  });

  it("that are made up are long, and never the same", () => {
    const made = Array.from({ length: 200 }, newPassword);
    expect(new Set(made)).to.have.property("size", 200);
    for (const one of made) expect(one).to.match(/^[2-9a-km-zA-HJ-NP-Z]{20}$/);
  });
});
