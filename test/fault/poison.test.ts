import { expect } from "chai";
import { rows } from "#src/infrastructure/db.ts";
import { createClient, until } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { useStage } from "#test/flow/stage.ts";
import { type RunningRole, startRole, startWorker } from "#test/harness/roles.ts";

/** What may stand in a row that somebody, or a fault, has written: all of it is JSON that Postgres takes. */
const details = '{"fuelsNow":[],"fuelsNo":[],"queue":"","limitL":null,"noCash":false}';
const served = (updated: string, more = "") =>
  `{"served":{"status":"yes","updated":${updated},"confirmations":1,"realCount":1,"details":${details}${more}},` +
  `"seeded":null,"versions":[],"prices":[],"publications":{},"lastUpdated":null,"last":null,"next":null}`;
const badStates: Record<string, string> = {
  "a word": '"yes"',
  "a number": "17",
  "an empty object": "{}",
  "a list": "[[]]",
  nulls: '{"served":null,"seeded":null,"versions":null,"prices":null,"next":null}',
  "a wrong enum": served("1").replace('"yes"', '"maybe"'),
  "a huge time": served("1e300"),
  "a time that is no number": served('"NaN"'),
  "details of another shape": served("1").replace(details, "7"),
  "a price that is a text": served("1").replace(
    '"prices":[]',
    '"prices":[{"grade":"95","price":"dear","from":{"at":9e12,"id":1}}]',
  ),
  "a nested state that is broken": served("1").replace(
    '"next":null',
    '"next":{"at":1,"state":{"served":3}}',
  ),
  "a very long text": `"${"x".repeat(1_000_000)}"`,
};

describe("fault: rows that cannot be read", function () {
  this.timeout(600_000);
  const { instance, country, web, client } = useStage(8, ["web"], { KEYS_REFRESH_MS: "200" });
  let user = 0;

  const publish = async (n: number, status = "yes"): Promise<void> => {
    user += 1;
    await country.meet(`user ${user}`, 600);
    const answer = await client.mark(placeOf(n), `user ${user}`, { status });
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
  };
  const statusOf = async (n: number, from = client): Promise<unknown> =>
    (await from.get(`/stations/${placeOf(n).id}`)).body.station.fuel.status;
  const readyz = async (from: RunningRole): Promise<{ status: number; rows: unknown }> => {
    const response = await fetch(`${from.baseUrl}/readyz`);
    const { checks } = (await response.json()) as { checks: Record<string, unknown> };
    return { status: response.status, rows: checks["rows"] };
  };
  /** One commit that changes both stations: the first gets the state, the second the name. */
  const change = (bad: number, state: string, good: number, name: string): Promise<void> =>
    country.db.transaction(async (tx) => {
      await tx.raw("update station_status set state = ?::jsonb where station_id = ?", [
        ...[state, placeOf(bad).id],
      ]);
      await tx("stations")
        .where({ id: placeOf(good).id })
        .update({ name });
      await tx.raw("select feed_stamp(?::text[])", [[placeOf(bad).id, placeOf(good).id]] as never);
    });

  it("states: serves everything else, keeps the last good status, starts anew, and gives the mended station out as a change", async () => {
    const stopWorker = await startWorker("marks", instance.config);
    for (const n of [0, 1]) await publish(n);
    await stopWorker();
    for (const [what, state] of Object.entries(badStates)) {
      const { as_of: since } = (await client.get(`/stations/${placeOf(1).id}`)).body as {
        as_of: string;
      };
      await change(0, state, 1, what);
      await until(
        () => client.get(`/stations/${placeOf(1).id}`),
        ({ body }) => body.station.name === what,
      );
      expect(await statusOf(0), what).to.equal("yes");
      await until(
        () => readyz(web),
        ({ rows: found }) => JSON.stringify(found).includes("station_status: 1"),
      );
      expect((await readyz(web)).status, what).to.equal(200);
      // A start without a model snapshot: nothing better is known.
      const fresh = await startRole("web", instance.env);
      const other = createClient(fresh.baseUrl, country.secret);
      expect(await statusOf(1, other), what).to.equal("yes");
      expect(await statusOf(0, other), what).to.equal("nodata");
      // Others of the same batch go on, whatever the worker finds at this one.
      const stop = await startWorker("marks", instance.config);
      await until(
        () => statusOf(0, other),
        (status) => status === "yes",
      );
      await until(
        () => client.get(`/stations/delta?updated_since=${encodeURIComponent(since)}`),
        ({ body }) =>
          (body.stations as { id: string }[]).filter(({ id }) => id === placeOf(0).id).length === 1,
      );
      await until(
        () => readyz(web),
        ({ rows: found }) => (found as { ok: boolean }).ok,
      );
      await stop();
      await fresh.stop();
    }
    const [alarm] = await rows<{ subject: string; kind: string }>(
      country.db,
      "select subject, kind from alarms where kind = 'rows-unreadable'",
    );
    expect(alarm).to.deep.equal({ subject: "table station_status", kind: "rows-unreadable" });
    expect(web.lines.some((line) => line.includes("rows cannot be read"))).to.equal(true);
    expect(web.lines.some((line) => line.includes("rows read again"))).to.equal(true);
  });
});
