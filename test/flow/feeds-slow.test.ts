import type { ServerResponse } from "node:http";
import { expect } from "chai";
import { beginRun, wakeDueFeeds } from "#src/import/feeds/feed-runs.ts";
import { rows } from "#src/infrastructure/db.ts";
import { createLog } from "#src/infrastructure/log.ts";
import { createProducer } from "#src/infrastructure/queues.ts";
import { until } from "#test/flow/client.ts";
import { useStage } from "#test/flow/stage.ts";
import { file, startSourceServer } from "#test/harness/source-server.ts";
import { use } from "#test/harness/use.ts";

const register = (id: number): string => `id,lat,lon,name\n${id},45.1,9.1,Mine\n`;

describe("flow: slow feeds", function () {
  this.timeout(120_000);
  const server = use(startSourceServer, (one) => one.close());
  const settings = { FEED_HTTP: "true", FEED_NETWORKS: "127.0.0.1", FEED_SILENCE_MS: "1000" };
  const { instance, country } = useStage(1, ["imports"], settings);
  const producer = use(
    async () => {
      const made = createProducer(instance.config, createLog({ logLevel: "silent" }, "test"));
      await new Promise<void>((ready) => made.onReady(ready));
      return made;
    },
    (one) => one.close(),
  );
  let feeds = 0;
  const add = async (path: string, more = ""): Promise<number> => {
    const name = `mine${(feeds += 1)}`;
    const description = {
      ...{ name, title: "My stations", files: [{ name: "s", read: { format: "csv" } }] },
      fields: { id: "id", lat: "lat", lon: "lon", name: "name" },
    };
    const sql = `insert into feeds (source, description, files, every_s, alarm_after_s, replace_source ${more === "" ? "" : ", failures"})
      values (?, ?::jsonb, array[?], 3600, 86400, false ${more}) returning id`;
    const [made] = await rows<{ id: number }>(country.db, sql, [
      ...[name, JSON.stringify(description), `${server.origin}${path}`],
    ]);
    return made!.id;
  };
  const stateOf = async (id: number): Promise<string | undefined> => {
    await wakeDueFeeds(country.db, producer);
    const sql = "select state from feeds f join imports i on i.id = f.run_id where f.id = ?";
    return (await rows<{ state: string }>(country.db, sql, [id]))[0]?.state;
  };
  const done = (id: number) =>
    until(
      () => stateOf(id),
      (state) => state === "done",
      30_000,
    );
  /** Twice as fast as it has to be, and never at its end. */
  const held = new Set<ServerResponse>();
  const endless = (response: ServerResponse): void => {
    held.add(response);
    const timer = setInterval(() => response.write("0".repeat(200)), 100);
    response.on("close", () => clearInterval(timer));
  };

  it("that failed before hold a quarter of the places, and a healthy one runs at once", async () => {
    for (let n = 0; n < 12; n += 1) {
      server.answers.set(`/endless/${n}`, endless);
      await add(`/endless/${n}`, ", 1");
    }
    await until(
      async () => wakeDueFeeds(country.db, producer).then(() => server.asked.length),
      (count) => count > 1,
    );
    server.answers.set("/good", file(register(1)));
    await done(await add("/good"));
    expect(server.asked.map(({ path }) => path).filter((path) => path !== "/good")).to.have.length(
      2,
    );
  });

  it("are known by how long their last fetch took, until one was quick", async () => {
    server.answers.set("/slow", (response) => {
      let left = 12;
      const timer = setInterval(() => {
        response.write("\n".repeat(300));
        if ((left -= 1) > 0) return;
        clearInterval(timer);
        response.end();
      }, 150);
      response.write(register(2));
    });
    const id = await add("/slow");
    await done(id);
    const isSlow = async (): Promise<unknown> => {
      await stateOf(id);
      return (await country.db("feeds").where({ id }).first<{ seen: { slow?: true } }>("seen"))
        ?.seen.slow;
    };
    expect(await isSlow()).to.equal(true);
    server.answers.set("/slow", file(register(3)));
    // All places of the slow ones are taken by the test before.
    const due = "update feeds set due_at = now() where id = ?";
    await rows(country.db, due, [id]);
    expect(await beginRun(country.db, id, false)).to.equal(null);
    await rows(country.db, "delete from feeds where id <> ?", [id]);
    for (const response of held) response.destroy();
    await until(isSlow, (slow) => slow === undefined);
  });
});
