import { expect } from "chai";
import fc from "fast-check";
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
    expect(read('{"a":{"a":1},"b":[{"a":1},{"a":2}]}')).to.deep.equal({
      a: { a: 1 },
      b: [{ a: 1 }, { a: 2 }],
    });
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

  it("is refused when a name stands twice in one object, with its place", () => {
    expect(read('{"a":1,"a":1}')).to.deep.equal(["body.a repeated"]);
    expect(read('{"a":1,"\\u0061":1}')).to.deep.equal(["body.a repeated"]);
    expect(read('{"r":[{"a":[1,{}]},["a",{"a":"\\",a","b":{"c":1,"c":2}}]]}')).to.deep.equal([
      "body.r.1.1.b.c repeated",
    ]);
    expect(read('{"a":1,"a":2,"a":3}')).to.deep.equal(["body.a repeated", "body.a repeated"]);
    expect(read('{"a":"a","b":["a","a"],"":{"a":1}}')).to.be.an("object").with.keys("a", "b", "");
  });

  it("has one value for each name, as JSON.parse reads it, when it is read", () => {
    const name = fc.constantFrom("a", "b", '"', "\\", "{", "", ",");
    const { value } = fc.letrec<{ value: string }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.oneof(fc.string(), fc.integer(), fc.constant(null)).map((one) => JSON.stringify(one)),
        fc.array(tie("value"), { maxLength: 4 }).map((list) => `[${list.join(", ")}]`),
        fc
          .array(fc.tuple(name, tie("value")), { maxLength: 4 })
          .map((list) => `{${list.map(([key, one]) => `${JSON.stringify(key)} :${one}`).join()}}`),
      ),
    }));
    fc.assert(
      fc.property(value, (text) => {
        const parsed = parseBody(Buffer.from(text));
        // A reviver sees what is left; a name that was lost makes the text longer than the value.
        const compact = text.replaceAll(/"(?:[^"\\]|\\.)*"|\s/g, (part) => part.trim());
        const isWhole = JSON.stringify(JSON.parse(text)).length === compact.length;
        expect(parsed.faults === undefined).to.equal(isWhole);
      }),
    );
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
