import { expect } from "chai";
import { rows } from "#src/infrastructure/db.ts";
import { statuses } from "#src/domain/vocabulary.ts";
import { type Answer, type Client, createClient } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { itLong } from "#test/harness/long.ts";
import { useStage } from "#test/flow/stage.ts";
import { useRoles } from "#test/harness/use.ts";

const rounds = 20;
const atOnce = 50;

describe("flow: 50 simultaneous marks of one user over two web processes", function () {
  const { instance, country, clients } = useStage(rounds, ["web", "web", "marks"]);
  /** Two more web processes that know no repeated opinion, so that only the cooldown can refuse one. */
  const more = useRoles(["web", "web"], instance, { DUPLICATE_MS: "0" });
  let withoutRepeats: Client[];
  before(() => {
    withoutRepeats = more.map((role) => createClient(role.baseUrl, country.secret));
  });

  /** One user's marks on one station, all at once, every second one through the other process. */
  const send = (through: Client[], user: string, round: number, statusOf: (n: number) => string) =>
    Promise.all(
      Array.from({ length: atOnce }, (_, n) =>
        through[n % 2]!.mark(placeOf(round), user, { status: statusOf(n) }),
      ),
    );

  async function expectOneStored(answers: readonly Answer[], round: number, user: number) {
    const ids = answers.flatMap((answer) => (answer.body.report_id as string | undefined) ?? []);
    expect(new Set(ids).size).to.equal(1);
    const stored = await rows<{ id: number }>(
      country.db,
      "select id from marks where station_id = ? order by id",
      [placeOf(round).id],
    );
    expect(stored.length).to.equal(user);
    expect(String(stored.at(-1)!.id)).to.equal(ids[0]);
  }

  it("takes one of 50 identical marks, and answers the rest as its duplicates", async () => {
    for (let round = 0; round < rounds; round += 1) {
      const answers = await send(clients, `same ${round}`, round, () => "yes");
      expect(tally(answers), `round ${round}`).to.deep.equal({ accepted: 1, duplicate: 49 });
      await expectOneStored(answers, round, 1);
    }
  });

  itLong(
    "takes one of 50 marks in turns of every status: its repeats are duplicates, the rest 429 station-cooldown",
    async () => {
      for (let round = 0; round < rounds; round += 1) {
        const statusOf = (n: number) => statuses[n % 4]!;
        const answers = await send(clients, `changing ${round}`, round, statusOf);
        const taken = answers.findIndex(
          (one) => one.status === 200 && one.body.duplicate === false,
        );
        const repeats = answers.filter((_, n) => statusOf(n) === statusOf(taken)).length - 1;
        expect(tally(answers), `round ${round}`).to.deep.equal({
          accepted: 1,
          duplicate: repeats,
          "station-cooldown": atOnce - 1 - repeats,
        });
        for (const [n, { body }] of answers.entries())
          expect(body.duplicate === true, `mark ${n}`).to.equal(
            n !== taken && statusOf(n) === statusOf(taken),
          );
        await expectOneStored(answers, round, 2);
      }
    },
  );

  itLong(
    "takes one of 50 marks of different statuses where no repeat is a duplicate, and refuses the rest with 429 station-cooldown",
    async () => {
      for (let round = 0; round < rounds; round += 1) {
        const answers = await send(
          withoutRepeats,
          `other ${round}`,
          round,
          (n) => statuses[n % 4]!,
        );
        expect(tally(answers), `round ${round}`).to.deep.equal({
          accepted: 1,
          "station-cooldown": 49,
        });
        for (const { status, headers, body } of answers.filter((one) => one.status === 429)) {
          expect([status, body.limit, body.window]).to.deep.equal([429, 1, "1200s"]);
          expect(Number(headers.get("retry-after"))).to.be.within(1195, 1200);
        }
        await expectOneStored(answers, round, 3);
      }
    },
  );
});

/** How many answers there are of each kind: accepted, duplicate, or the code of the problem. */
function tally(answers: readonly Answer[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, body } of answers) {
    const taken = status === 200 || status === 202;
    const kind = taken
      ? body.duplicate
        ? "duplicate"
        : "accepted"
      : String(body.type).split("/").at(-1)!;
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}
