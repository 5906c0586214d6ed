import { expect } from "chai";
import type { State } from "#api/http/context.ts";
import { explain } from "#api/http/explain.ts";
import { ConnectionFault } from "#src/infrastructure/faults.ts";
import { createLog } from "#src/infrastructure/log.ts";

describe("what a thrown error means to the caller", () => {
  const answer = explain({ log: createLog({ logLevel: "silent" }, "test") });
  const said = (error: unknown): string =>
    answer({ requestId: "r", path: "/" } as State, error).problem;

  it("is a fault here for a bug, whatever its message speaks of", () => {
    for (const error of [
      new TypeError("Cannot read properties of undefined (reading 'connection')"),
      new RangeError("connection timeout"),
      new Error("Connection terminated unexpectedly"),
      "Connection terminated unexpectedly",
    ])
      expect(said(error), String(error)).to.equal("internal-error");
  });

  it("is a part that is away for what the drivers of Postgres and Redis say then", () => {
    for (const error of [
      Object.assign(new Error("shutting down"), { code: "57P01" }),
      Object.assign(new Error("connect"), { code: "ECONNREFUSED" }),
      new ConnectionFault("Command timed out"),
    ])
      expect(said(error), error.message).to.equal("upstream-unavailable");
  });
});
