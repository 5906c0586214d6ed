import { expect } from "chai";
import type { Route } from "#api/http/route.ts";
import { ConnectionFault } from "#src/infrastructure/faults.ts";
import { addKey, addPartner, bearer, useEdge } from "#test/api/edge.ts";

const bugs: unknown[] = [
  new TypeError("Cannot read properties of undefined (reading 'connection')"),
  new RangeError("connection timeout"),
  new Error("Connection terminated unexpectedly"),
  "Connection terminated unexpectedly",
];
const outages: unknown[] = [
  Object.assign(new Error("shutting down"), { code: "57P01" }),
  Object.assign(new Error("connect"), { code: "ECONNREFUSED" }),
  new ConnectionFault("Command timed out"),
];

const routes = (): Route[] =>
  [...bugs, ...outages].map((error, index) => ({
    method: "GET",
    path: `/throw/${index}`,
    access: "any",
    summary: "",
    handle: () => {
      throw error;
    },
  }));

describe("what a thrown error means to the caller", () => {
  const edge = useEdge({ routes });
  let codes: string[];

  before(async () => {
    const headers = bearer(await addKey(edge.db, await addPartner(edge.db)));
    codes = await Promise.all(
      [...bugs, ...outages].map(async (_error, index) => {
        const answer = await fetch(`${edge.url}/throw/${index}`, { headers });
        const { type } = (await answer.json()) as { type: string };
        return type.split("/").at(-1)!;
      }),
    );
  });

  it("is a fault here for a bug, whatever its message speaks of", () =>
    expect(codes.slice(0, bugs.length)).to.deep.equal(bugs.map(() => "internal-error")));

  it("is a part that is away for what the drivers of Postgres and Redis say then", () =>
    expect(codes.slice(bugs.length)).to.deep.equal(outages.map(() => "upstream-unavailable")));
});
