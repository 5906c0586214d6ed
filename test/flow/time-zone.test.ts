import { expect } from "chai";
import { minuteMs } from "#src/domain/units.ts";
import { addKey, addPartner } from "#test/api/edge.ts";
import { writeStations } from "#test/api/reads-country.ts";
import { createClient, until } from "#test/flow/client.ts";
import { startRoleProcess } from "#test/harness/processes.ts";
import { useInstance } from "#test/harness/use.ts";

const places = [
  { id: "new-york", lat: 40.75, lon: -73.99 },
  { id: "rome", lat: 41.9, lon: 12.5 },
];

describe("flow: the zone of a process", function () {
  this.timeout(120_000);
  const instance = useInstance();

  // 02:30 where the station is, in the hour that the clocks of the host's zone leave out on this day.
  for (const [zone, moment, open] of [
    ["Europe/Rome", "2027-03-28T06:30:00Z", "new-york"],
    ["America/New_York", "2027-03-14T01:30:00Z", "rome"],
  ] as const)
    it(`makes no difference: with TZ=${zone} stations are open as with UTC, on the night of its change`, async () => {
      const { db } = instance;
      // Other hours in the other months: the weeks differ, so that each day is read by itself.
      const opening_hours = "Mar 02:10-02:50; Apr-Feb 08:00-20:00";
      await writeStations(
        db,
        places.map((place) => ({ ...place, opening_hours })),
      );
      const key = await addKey(db, await addPartner(db));
      const ahead = Math.round((Date.parse(moment) - Date.now()) / minuteMs) * 60;
      const found = [];
      for (const TZ of [zone, "UTC"]) {
        const env = {
          ...instance.env,
          TZ,
          CLOCK_OFFSET_S: String(ahead),
          REDIS_PREFIX: `{${ahead}-${TZ.length}}`,
        };
        const web = await startRoleProcess("web", env);
        const client = createClient(web.baseUrl, key);
        const { body } = await until(
          () => client.get("/stations/all?opened=true"),
          ({ status }) => status === 200,
        );
        found.push((body.stations as { id: string }[]).map(({ id }) => id));
        await web.stop();
      }
      expect(found).to.deep.equal([[open], [open]]);
    });
});
