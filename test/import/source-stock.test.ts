import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { loadConfig } from "#src/infrastructure/config.ts";
import { rows } from "#src/infrastructure/db.ts";
import { importSource } from "#src/import/import-source.ts";
import { isFault } from "#src/import/read-text.ts";
import { sourceNamed } from "#src/import/source-list.ts";
import { useFolder, useInstance } from "#test/harness/use.ts";

const hourMs = 3_600_000;
// Once: the same file comes again, maybe seconds later.
const begin = Date.now();
/** What a clock in Paris shows, as the feed writes it. */
const paris = (hoursAgo: number): string =>
  new Date(begin - hoursAgo * hourMs).toLocaleString("sv-SE", { timeZone: "Europe/Paris" });
const out = (fuel: string, hoursAgo: number, more = 'fin=""'): string =>
  `<rupture nom="${fuel}" id="1" debut="${paris(hoursAgo)}" ${more}/>`;
const price = (fuel: string): string =>
  `<prix nom="${fuel}" id="1" maj="${paris(5)}" valeur="1.626"/>`;
const station = (id: number, ...inner: string[]): string =>
  `<pdv id="${id}" latitude="${4_600_000 + id * 1000}" longitude="500000" cp="01000" pop="R"><adresse>${id} RUE A</adresse><ville>Bourg</ville>${inner.join("")}</pdv>`;

describe("stock-outs in the records of a source", () => {
  const instance = useInstance();
  const folder = useFolder();

  const run = async (dryRun: boolean) => {
    const path = join(folder.path, "instantane.xml");
    await writeFile(
      path,
      `<?xml version="1.0" encoding="ISO-8859-1"?><pdv_liste>${[
        // Diesel is there; 95 of both kinds is out; 98 is not sold for good.
        station(
          1,
          price("Gazole"),
          out("E10", 3),
          out("SP95", 2),
          out("SP98", 50, 'fin="" type="definitive"'),
        ),
        // All that it sells is out.
        station(2, out("Gazole", 4)),
        // Out for too long to be sold; over; another fuel.
        station(
          3,
          price("E10"),
          out("SP98", 31 * 24),
          out("Gazole", 6, `fin="${paris(1)}"`),
          out("E85", 1),
        ),
      ].join("")}</pdv_liste>`,
      "latin1",
    );
    const touched: string[] = [];
    const done = await importSource(
      instance.db,
      loadConfig({ DATABASE_URL: instance.databaseUrl }),
      {
        ...{ source: sourceNamed("fr-prix-carburants")!, paths: [path], dryRun },
        ...{ progress: () => undefined, waiting: () => undefined },
        touched: (ids) => void touched.push(...ids),
      },
    );
    if (isFault(done)) throw new Error(done.fault);
    return { ...done, touched };
  };

  it("become statuses of its stations, once, and fuels that are out count as sold", async () => {
    // A dry run finds no stations yet, and says nothing of their statuses.
    expect((await run(true)).statuses).to.equal(null);
    const first = await run(false);
    expect(first.stations).to.include({ read: 3, added: 3, refused: 0 });
    expect(first.statuses).to.include({ read: 7, added: 2, merged: 1 });
    expect(first.statuses!.reasons).to.deep.equal({ "other-fuel": 1, over: 1, "not-sold-here": 2 });
    expect(first.touched).to.deep.equal(["fr-1", "fr-2"]);
    const seeds = await rows(
      instance.db,
      "select station_id, status, array_to_string(fuels_no, ',') as no, source from seeds order by 1",
    );
    expect(seeds).to.deep.equal([
      { station_id: "fr-1", status: "low", no: "95", source: "fr" },
      { station_id: "fr-2", status: "no", no: "ДТ", source: "fr" },
    ]);
    const sold = await rows(instance.db, "select id, grades_sold from stations order by id");
    expect(sold).to.deep.equal([
      { id: "fr-1", grades_sold: "95,ДТ" },
      { id: "fr-2", grades_sold: "ДТ" },
      { id: "fr-3", grades_sold: "95" },
    ]);
    const again = await run(false);
    expect(again.stations).to.include({ added: 0, changed: 0, unchanged: 3 });
    expect(again.statuses).to.include({ added: 0, changed: 0, unchanged: 2 });
  });
});
