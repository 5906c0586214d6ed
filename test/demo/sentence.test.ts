import { expect } from "chai";
import { sentenceOf } from "#demo/sentence.ts";

const failed = (code: string, message: string): string =>
  sentenceOf(Object.assign(new Error(message), { code }), "/srv/data");

describe("what npm start says of an error", () => {
  it("is that the disk is full, whoever noticed it", () => {
    for (const code of ["53100", "ENOSPC"])
      expect(failed(code, "insert into marks - could not extend file")).to.match(
        /^The disk that \/srv\/data lies on is full/,
      );
  });

  it("is whose folder it is", () => {
    for (const code of ["EACCES", "EPERM"])
      expect(failed(code, "open failed")).to.match(/^open failed\nSome of \/srv\/data belongs/);
  });

  it("leaves a failed statement out", () => {
    expect(failed("57P03", "select 1 - the database is starting")).to.equal(
      "the database is starting",
    );
    expect(failed("ECONNREFUSED", "a - b")).to.equal("a - b");
  });
});
