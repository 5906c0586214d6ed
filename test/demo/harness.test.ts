import { expect } from "chai";
import pg from "pg";
import { createTestInstance } from "#test/harness/instance.ts";

describe("the test harness", () => {
  it("refuses to drop a database that a test is still connected to", async () => {
    const instance = await createTestInstance();
    const client = new pg.Client({
      connectionString: instance.databaseUrl,
      application_name: "forgotten",
    });
    client.on("error", () => undefined);
    await client.connect();
    const fault = await instance.drop().then(
      () => "",
      (error: Error) => error.message,
    );
    expect(fault).to.match(/left open.*forgotten/s);
  });
});
