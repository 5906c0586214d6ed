import { expect } from "chai";
import { Type } from "typebox";
import { compileCheck } from "#src/infrastructure/validation.ts";

const check = compileCheck(
  Type.Object({
    status: Type.Union([Type.Literal("yes"), Type.Literal("no")]),
    name: Type.String({ minLength: 1, maxLength: 3 }),
    limit: Type.Optional(Type.Union([Type.Integer({ minimum: 1 }), Type.Null()])),
    list: Type.Optional(Type.Array(Type.Number({ exclusiveMinimum: 0 }), { maxItems: 3 })),
    prices: Type.Optional(Type.Record(Type.String(), Type.Number())),
    fuels: Type.Optional(Type.Union([Type.Array(Type.String()), Type.Null()])),
    user_ref: Type.Optional(Type.String()),
    size: Type.Optional(Type.Integer({ default: 5, maximum: 9 })),
  }),
  "body",
);
const good = { status: "yes", name: "a" };
const faults = (value: unknown): string[] | null =>
  check(value)?.map(({ loc, type }) => `${loc.join(".")} ${type}`) ?? null;

describe("a schema check", () => {
  it("passes what fits, fills in defaults and ignores unknown fields", () => {
    const value: Record<string, unknown> = { ...good, limit: null, unknown: {} };
    expect(check(value)).to.equal(null);
    expect(value["size"]).to.equal(5);
  });

  it("names place and kind of each fault", () => {
    expect(faults({})).to.deep.equal(["body.status missing", "body.name missing"]);
    expect(faults({ ...good, status: "maybe" })).to.deep.equal(["body.status literal_error"]);
    expect(faults({ ...good, name: "" })).to.deep.equal(["body.name string_too_short"]);
    expect(faults({ ...good, list: [1, "x", 0] })).to.deep.equal([
      "body.list.1 float_type",
      "body.list.2 greater_than",
    ]);
    expect(faults({ ...good, prices: { ДТ: "1" } })).to.deep.equal(["body.prices.ДТ float_type"]);
    expect(faults({ ...good, size: 10 })).to.deep.equal(["body.size less_than_equal"]);
    for (const other of [null, [], "x", 1]) expect(faults(other)).to.deep.equal(["body dict_type"]);
  });

  it("names the element inside a list or an object that may also be null", () => {
    expect(faults({ ...good, fuels: ["92", 95] })).to.deep.equal(["body.fuels.1 string_type"]);
    expect(faults({ ...good, fuels: "92" })).to.deep.equal(["body.fuels list_type"]);
  });

  it("refuses a known name in another spelling, and ignores other names", () => {
    expect(faults({ ...good, Status: "yes" })).to.deep.equal(["body.Status name_spelling"]);
    expect(faults({ name: "a", STATUS: "yes" })).to.deep.equal([
      "body.STATUS name_spelling",
      "body.status missing",
    ]);
    for (const name of ["fuels[]", "userRef", "USER_REF", "user-ref", "user_ref[0]"])
      expect(faults({ ...good, [name]: 1 }), name).to.deep.equal([`body.${name} name_spelling`]);
    for (const name of ["fuel", "names", "user", "x".repeat(10_000), "_".repeat(100) + "name"])
      expect(faults({ ...good, [name]: 1 }), name.slice(0, 9)).to.equal(null);
    expect(check({ ...good, userRef: 1 })?.[0]?.ctx).to.deep.equal({ known: "user_ref" });
  });

  it("coerces nothing", () => {
    for (const limit of ["5", true, 1.5, [5]]) {
      expect(faults({ ...good, limit })).to.deep.equal(["body.limit int_type"]);
    }
    expect(faults({ ...good, list: [Number.POSITIVE_INFINITY] })).to.deep.equal([
      "body.list.0 float_type",
    ]);
  });

  it("speaks of the branch of a choice that was meant", () => {
    expect(faults({ ...good, limit: 0 })).to.deep.equal(["body.limit greater_than_equal"]);
  });

  it("counts code points, not UTF-16 units", () => {
    expect(faults({ ...good, name: "😀😀😀" })).to.equal(null);
    expect(faults({ ...good, name: "😀😀😀😀" })).to.deep.equal(["body.name string_too_long"]);
  });

  it("gives the same faults every time, at most 20, and long inputs cut", () => {
    const wild = { ...good, list: 1, name: "ю".repeat(500), prices: {} as Record<string, string> };
    for (let i = 0; i < 50; i += 1) wild.prices[`g${i}`] = "x";
    expect(check(wild))
      .to.have.length(20)
      .and.to.deep.equal(check(structuredClone(wild)));
    expect(JSON.stringify(check(wild)).length).to.be.below(4000);
  });
});
