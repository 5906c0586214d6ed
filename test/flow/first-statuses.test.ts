import { expect } from "chai";
import { rows } from "#src/infrastructure/db.ts";
import { until } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { useStage } from "#test/flow/stage.ts";

const limit = 20;
const known = 5;

/** decisions 4.19. Two marks processes at once: test/long/attacks.test.ts. */
describe("flow: first statuses by many new users of one key", function () {
  const { country, client } = useStage(limit + known + 1, ["web", "marks"]);

  before(async () => {
    for (let n = 0; n < known; n += 1) await country.meet(`known-${n}`, 26 * 60 + 15 * n);
  });

  const sayYes = async (n: number, user: string): Promise<void> => {
    const { body } = await client.mark(placeOf(n), user, { status: "yes" });
    expect(body.published.outcome).to.equal("published");
  };
  const alarms = () =>
    rows<{ subject: string; count: number; details: object }>(
      country.db,
      "select subject, count, details from alarms where kind = 'first-statuses'",
    );

  it("holds none of them, and tells the operator of the one that passes the key's limit", async () => {
    const upTo = Array.from({ length: limit }, (_, n) => sayYes(n, `new-${n}`));
    const older = Array.from({ length: known }, (_, n) => sayYes(limit + n, `known-${n}`));
    await Promise.all([...upTo, ...older]);
    await sayYes(limit + known, "new-last");
    await until(alarms, (found) => found.length > 0);
    expect(await alarms()).to.deep.equal([
      { subject: `partner ${country.partnerId}`, count: 1, details: { stations: limit + 1 } },
    ]);
  });

  it("is no harmful change, and counts towards no limit of the review", async () => {
    expect(await rows(country.db, "select from harmful_changes")).to.have.length(0);
    const { body } = await client.mark(placeOf(0), "known-0", { status: "no" });
    expect(body.published.outcome).to.equal("pending");
    const { body: again } = await client.mark(placeOf(0), "known-1", { status: "no" });
    expect(again.published.outcome).to.equal("published");
  });
});
