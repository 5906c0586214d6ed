import { expect } from "chai";
import { rows } from "#src/infrastructure/db.ts";
import { statuses } from "#src/domain/vocabulary.ts";
import { type Answer, type Client } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { useStage } from "#test/flow/stage.ts";
import { sized } from "#test/harness/long.ts";

const rounds = sized(5, 20);
const atOnce = 50;

describe("flow: 50 simultaneous marks of one user over two web processes", function () {
  const { country, clients } = useStage(rounds, ["web", "web", "marks"]);
  /** One user's marks on one station, all at once, every second one through the other process. */
  const send = (through: Client[], user: string, round: number, statusOf: (n: number) => string) =>
    Promise.all(
      Array.from({ length: atOnce }, (_, n) =>
        through[n % 2]!.mark(placeOf(round), user, { status: statusOf(n) }),
      ),
    );

  async function expectOneStored(answers: readonly Answer[], round: number) {
    const ids = answers.flatMap((answer) => (answer.body.report_id as string | undefined) ?? []);
    expect(new Set(ids).size).to.equal(1);
    const sql = "select id from marks where station_id = ?";
    const stored = await rows<{ id: number }>(country.db, sql, [placeOf(round).id]);
    expect(stored.map(({ id }) => String(id))).to.deep.equal([ids[0]]);
  }

  it("takes one of 50 marks in turns of every status: its repeats are duplicates, the rest 429 station-cooldown", async () => {
    for (let round = 0; round < rounds; round += 1) {
      const statusOf = (n: number) => statuses[n % 4]!;
      const answers = await send(clients, `changing ${round}`, round, statusOf);
      const taken = answers.findIndex((one) => one.status === 200 && one.body.duplicate === false);
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
      await expectOneStored(answers, round);
    }
  });
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
