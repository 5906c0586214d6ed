import { expect } from "chai";
import { ExitError } from "#cli/output.ts";
import { flag, integer, line, moment, wordOr } from "#cli/command.ts";
import { entries } from "#src/contract/query.ts";

const refuses = (parse: (text: string) => unknown, texts: readonly string[]): void => {
  for (const text of texts) expect(() => parse(text), JSON.stringify(text)).to.throw(ExitError);
};

describe("what an operator types", () => {
  it("lists are entries between commas", () => {
    expect(entries("a.example, 10.0.0.0/8 ,,b")).to.deep.equal(["a.example", "10.0.0.0/8", "b"]);
    expect(entries("")).to.deep.equal([]);
  });

  it("numbers are whole and in their range", () => {
    const rpm = integer(1, 100_000);
    expect(rpm("100000")).to.equal(100_000);
    refuses(rpm, ["0", "100001", "-1", "1.5", "1e3", "", " 5", "0x10", "9".repeat(40)]);
    const ttl = wordOr("default", integer(0, 3600));
    expect([ttl("0"), ttl("3600"), ttl("default")]).to.deep.equal([0, 3600, "default"]);
    refuses(ttl, ["3601", "none"]);
  });

  it("switches are true or false, lines are lines", () => {
    expect([flag("true"), flag("false")]).to.deep.equal([true, false]);
    refuses(flag, ["yes", "1", "TRUE", ""]);
    expect(line(5, "not empty")(" abc ")).to.equal("abc");
    refuses(line(5, "not empty"), ["", "  ", "abcdef", "a\u0000b", "a\nb", "\ud800"]);
  });

  it("times are UTC, and a day is its beginning", () => {
    const parse = wordOr("never", moment);
    expect(parse("2026-02-01")).to.equal(Date.UTC(2026, 1, 1));
    expect(parse("2026-02-01 10:00:00")).to.equal(Date.UTC(2026, 1, 1, 10));
    expect(parse("never")).to.equal("never");
    refuses(parse, ["tomorrow", "2026-02-30", ""]);
  });
});
