import { expect } from "chai";
import { databaseFault } from "#src/infrastructure/database-fault.ts";

describe("faults of Postgres in an operator's words", () => {
  it("name the right that is missing, for tables and for a schema", () => {
    const fault = (message: string) =>
      databaseFault(Object.assign(new Error(message), { code: "42501" }));
    expect(fault("create table x () - permission denied for schema public")).to.include(
      "grant create on schema public to",
    );
    expect(fault("permission denied for table marks")).to.include("the owner of the tables");
  });
});
