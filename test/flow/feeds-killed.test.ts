import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { expect } from "chai";
import { listFeeds } from "#src/import/feeds/feeds.ts";
import { wakeDueFeeds } from "#src/import/feeds/feed-runs.ts";
import { rows } from "#src/infrastructure/db.ts";
import { createLog } from "#src/infrastructure/log.ts";
import { createProducer } from "#src/infrastructure/queues.ts";
import { until } from "#test/flow/client.ts";
import { useStage } from "#test/flow/stage.ts";
import { startRoleProcess } from "#test/harness/processes.ts";
import { startRole } from "#test/harness/roles.ts";
import { startSourceServer } from "#test/harness/source-server.ts";

describe("flow: an imports process that is killed", function () {
  this.timeout(120_000);
  const settings = { FEED_HTTP: "true", FEED_NETWORKS: "127.0.0.1" };
  const { instance, country, operator } = useStage(1, [], settings);

  it("leaves a run that the next process does again with the same force, and removes its files", async () => {
    const server = await startSourceServer();
    const producer = createProducer(instance.config, createLog({ logLevel: "silent" }, "test"));
    await new Promise<void>((ready) => producer.onReady(ready));
    // Never to its end.
    server.answers.set("/r", (response) => void response.writeHead(200).write("idImpianto"));
    const { json } = await operator(
      ...["feed", "add", "--source", "it-mimit", "--every", "1h", "--url", `${server.origin}/r`],
    );
    await operator("feed", "run", String(json.id), "--force", "half");
    const imports = await startRoleProcess("imports", instance.env);
    const look = async (): Promise<string | null> => {
      await wakeDueFeeds(country.db, producer);
      return (await listFeeds(country.db, json.id as number))[0]!.state;
    };
    await until(look, (state) => state === "running");
    const left = () =>
      readdirSync(tmpdir()).filter((name) => name.startsWith(`fuelmark-feed-${imports.pid}-`));
    await until(
      async () => left().length,
      (count) => count === 1,
    );
    await imports.kill9();
    await rows(country.db, "update imports set seen_at = seen_at - interval '1 minute'");
    expect(await look()).to.equal("interrupted");
    const forces = async () => (await country.db("feeds").first("force"))!.force as string[];
    expect(await forces()).to.deep.equal(["half"]);
    const next = await startRole("imports", instance.env);
    expect(left()).to.deep.equal([]);
    // At once: a part of the file may be saved.
    server.answers.clear();
    await until(look, (state) => state === "failed");
    expect((await listFeeds(country.db))[0]).to.include({ failures: 2 });
    expect(await forces()).to.deep.equal([]);
    // Not for ever: what kills each of them has time.
    const dies = `update imports set state = 'running', seen_at = seen_at - interval '1 minute'
      where id in (select id from imports where feed_id is not null order by id desc limit ?)`;
    await rows(country.db, dies, [1]);
    await until(look, (state) => state === "failed");
    await rows(country.db, dies, [3]);
    await rows(country.db, "update feeds set force = '{half}'");
    expect(await wakeDueFeeds(country.db, producer)).to.equal(0);
    // In its time it is of another file.
    await rows(country.db, "update feeds set due_at = now()");
    await until(look, (state) => state === "failed");
    expect(await forces()).to.deep.equal([]);
    await next.stop();
    await producer.close();
    await server.close();
  });
});
