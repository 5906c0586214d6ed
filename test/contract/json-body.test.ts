import { expect } from "chai";
import { parseBody } from "#src/contract/json-body.ts";

const read = (text: string): unknown => {
  const parsed = parseBody(Buffer.from(text));
  if (parsed.faults === undefined) return parsed.value;
  return parsed.faults.map(({ loc, type }) => `${loc.join(".")} ${type}`);
};

describe("a JSON body", () => {
  it("is read as it is", () => {
    expect(read('{"a":[1,"б",null],"e":"\\u0431\\ud83d\\ude00"}')).to.deep.equal({
      a: [1, "б", null],
      e: "б😀",
    });
    expect(read('{"a":1,"a":2}')).to.deep.equal({ a: 2 });
  });

  it("is refused when it is empty or no JSON", () => {
    expect(read("")).to.deep.equal(["body missing"]);
    expect(read(" \n")).to.deep.equal(["body missing"]);
    for (const bad of ["{", "{'a':1}", "undefined", "{a:1}", "[1,]", '"a\0"', "NaN"]) {
      expect(read(bad), bad).to.deep.equal(["body json_invalid"]);
    }
  });

  it("is refused when its bytes are not UTF-8, instead of being repaired", () => {
    for (const bytes of [
      [0x22, 0xff, 0x22],
      [0x22, 0xc3, 0x22],
      [0x22, 0xed, 0xa0, 0x80, 0x22],
    ]) {
      expect(parseBody(Buffer.from(bytes)).faults?.[0]?.type).to.equal("encoding");
    }
  });

  it("may nest 32 deep and not deeper; brackets in strings do not count", () => {
    expect(read("[".repeat(32) + "]".repeat(32))).to.be.an("array");
    expect(read("[".repeat(33) + "]".repeat(33))).to.deep.equal(["body too_deep"]);
    expect(read('{"a":'.repeat(20_000))).to.deep.equal(["body too_deep"]);
    expect(read(JSON.stringify('"'.repeat(50) + "[".repeat(50)))).to.be.a("string");
  });

  it("is refused when a text holds NUL or half a surrogate pair, names included", () => {
    expect(read('{"a":["\\u0000"]}')).to.deep.equal(["body.a.0 string_unicode"]);
    expect(read('{"a":"\\ud800"}')).to.deep.equal(["body.a string_unicode"]);
    expect(read('{"a":"\\ude00\\ud83d"}')).to.deep.equal(["body.a string_unicode"]);
    expect(read('{"\\udfff":1}')).to.deep.equal(["body string_unicode"]);
    expect(read('{"a":"\\\\u0000"}')).to.deep.equal({ a: "\\u0000" });
  });

  it("cannot reach the prototype of what is read", () => {
    const value = read('{"__proto__":{"status":"yes"}}');
    expect((value as { status?: string }).status).to.equal(undefined);
    expect(({} as { status?: string }).status).to.equal(undefined);
  });
});
