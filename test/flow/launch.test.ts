import { expect } from "chai";
import { dayMs } from "#src/domain/units.ts";
import { rows } from "#src/infrastructure/db.ts";
import { until } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { useStage } from "#test/flow/stage.ts";

const budget = 3;
const limit = 25;
/** Every second one: they are 600 m apart, so that no mark is near another's station. */
const place = (n: number) => placeOf(2 * n);

describe("flow: the launch of a partner's app", function () {
  const settings = { NEW_REPORTERS_DAILY: String(budget), CITY_HARM_MIN: "1000" };
  const { country, operator, client } = useStage(80, ["web", "marks"], settings);
  let users = 0;
  let published = 0;

  /** A new user's lone `no`: its outcome, or the code of its refusal. */
  const sayNo = async (): Promise<string> => {
    // A station of its own for each that is published, however often it is tried.
    const { body } = await client.mark(place(published), `new-${(users += 1)}`, { status: "no" });
    const outcome: string = body.published?.outcome ?? body.type.split("/").at(-1);
    if (outcome === "published") published += 1;
    return outcome;
  };
  const launch = (...args: string[]): Promise<unknown> =>
    operator("partner", "launch", String(country.partnerId), ...args);

  it("needs no more than one command, which lets new users in and counts their marks", async () => {
    for (let n = 0; n < budget; n += 1) expect(await sayNo()).to.equal("published");
    expect(await sayNo()).to.equal("new-users-limit");
    const tomorrow = new Date(Date.now() + dayMs).toISOString().slice(0, 10);
    await launch("--until", tomorrow, "--new-users", "1000", "--limit", String(limit));
    await until(sayNo, (outcome) => outcome === "published");
    for (let n = budget + 1; n < limit; n += 1) expect(await sayNo()).to.equal("published");
    expect(await sayNo()).to.equal("held");
    expect(
      await rows(country.db, "select distinct held_reason from marks where review = 'held'"),
    ).to.deep.equal([{ held_reason: "source" }]);
  });

  it("ends by a command", async () => {
    await launch("--until", "now");
    await until(sayNo, (outcome) => outcome === "new-users-limit");
  });
});
