import { expect } from "chai";
import { rows } from "#src/infrastructure/db.ts";
import { createTestInstance, type TestInstance, usualPatience } from "#test/harness/instance.ts";
import { type RoleProcess, startRoleProcess } from "#test/harness/processes.ts";
import { type OwnServer, startPrivateRedis } from "#test/harness/servers.ts";
import { type Answer, type Client, createClient, until } from "#test/flow/client.ts";
import { type Country, openCountry, placeOf } from "#test/flow/country.ts";
import { itLong, sized } from "#test/harness/long.ts";
import { expectRefolded, untilProcessed } from "#test/flow/refold.ts";

const statuses = ["yes", "low", "no", "queue"] as const;
const stations = 25;
const marks = sized(240, 500);

/** Users with one mark each, 40 at a time; something is `dying` while the fourth 40 are under way. */
async function sendAll(
  clients: readonly Client[],
  prefix: string,
  dying: () => Promise<void>,
): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let sent = 0; sent < marks; sent += 40) {
    const batch = Array.from({ length: Math.min(40, marks - sent) }, (_, i) => sent + i);
    const answering = batch.map((n) =>
      clients[n % clients.length]!.mark(placeOf(n % stations), `${prefix}${n}`, {
        status: statuses[n % 4],
        external_id: `${prefix}${n}`,
      }),
    );
    if (sent === 120) await dying();
    answers.push(...(await Promise.all(answering)));
  }
  return answers;
}

describe("flow: marks survive what dies around them", function () {
  let instance: TestInstance;
  let redis: OwnServer;
  let country: Country;
  let roles: RoleProcess[];
  let clients: Client[];

  beforeEach(async () => {
    redis = await startPrivateRedis();
    instance = await createTestInstance({
      ...usualPatience,
      REDIS_URL: "",
      NEW_REPORTERS_DAILY: "100000",
      MASS_NO_LIMIT: "100000",
      WAIT_MS: "2000",
    });
    instance.env["REDIS_URL"] = redis.url;
    country = await openCountry(instance.config, stations);
    await country.db("keys").update({ mass_no_limit: 100_000 });
    roles = await Promise.all(
      ["web", "web", "marks", "marks"].map((role) => startRoleProcess(role, instance.env)),
    );
    clients = roles.slice(0, 2).map((role) => createClient(role.baseUrl, country.secret));
  });

  afterEach(async () => {
    await Promise.all(roles.map((role) => role.stop().catch(() => role.kill9())));
    await country.close();
    await instance.drop();
    await redis.drop();
  });

  const expectNothingLost = async (answers: Answer[]): Promise<void> => {
    const refused = answers.filter((answer) => answer.status !== 200 && answer.status !== 202);
    expect(refused.map((answer) => answer.body)).to.deep.equal([]);
    await untilProcessed(country.db);
    const ids = answers.map((answer) => Number(answer.body.report_id));
    expect(new Set(ids).size).to.equal(marks);
    const stored = await rows<{ id: number }>(
      country.db,
      "select id from marks where processed_at is not null and outcome is not null and failed_at is null",
    );
    expect(stored.map((row) => row.id)).to.have.members(ids);
    await expectRefolded(country.db, instance.config);
    // What both processes serve is what the database holds.
    for (const client of clients) {
      for (const id of country.stationIds) {
        const state = (await country.db("station_status").where({ station_id: id }).first("status"))
          .status as string;
        await until(
          () => client.get(`/stations/${id}`),
          (answer) => answer.body.station.fuel.status === state,
        );
      }
    }
  };

  it(`loses no mark and counts none twice when the marks workers are killed in the middle of ${marks} marks`, async () => {
    const answers = await sendAll(clients, "killed-", async () => {
      await roles[2]!.kill9();
      await roles[3]!.kill9();
      roles.push(await startRoleProcess("marks", instance.env));
    });
    await expectNothingLost(answers);
  });

  itLong(
    `loses no mark and counts none twice when Redis is wiped in the middle of ${marks} marks`,
    async () => {
      const answers = await sendAll(clients, "wiped-", async () => {
        await redis.kill9();
        await redis.restart({ wiped: true });
      });
      await expectNothingLost(answers);
    },
  );
});
