import { expect } from "chai";
import { openStage, type Stage } from "#test/fault/stage.ts";

describe("flow: usage and limit requests without Postgres", function () {
  let stage: Stage;

  before(async () => {
    stage = await openStage({ own: "postgres", webs: 1, workers: 0 });
  });
  after(() => stage.close());

  it("are answered 503 with Retry-After, and again 200 and 201 when it is back", async () => {
    const client = stage.clients[0]!;
    const wish = { requested_rpm: 1, requested_daily: 1 };
    expect((await client.get("/usage")).status).to.equal(200);
    await stage.postgres!.stop();
    const refused = [
      await client.get("/usage"),
      await client.get("/limit-requests"),
      await client.post("/limit-requests", wish),
    ];
    for (const { status, headers, body } of refused) {
      expect([status, headers.get("retry-after")]).to.deep.equal([503, "5"]);
      expect(body.type).to.match(/\/upstream-unavailable$/);
      expect(headers.get("x-ratelimit-limit")).to.equal("100000");
    }
    await stage.postgres!.restart();
    expect((await client.get("/usage")).body.today.requests).to.equal(5);
    expect((await client.post("/limit-requests", wish)).status).to.equal(201);
  });
});
