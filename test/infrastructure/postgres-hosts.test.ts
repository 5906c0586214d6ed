import { expect } from "chai";
import { createDb, rows } from "#src/infrastructure/db.ts";
import { listen } from "#src/infrastructure/listen.ts";
import { createLog } from "#src/infrastructure/log.ts";
import { parseHosts } from "#src/infrastructure/postgres-hosts.ts";
import { useInstance } from "#test/harness/use.ts";

describe("a Postgres URL with several hosts", function () {
  const instance = useInstance();

  it("is one URL for each host, and means the primary of them", () => {
    const query = "?sslmode=require&target_session_attrs=read-write&application_name=x";
    expect(parseHosts(`postgres://me:p%40ss@one,two:5433,[::1]:5434/db${query}`)).to.deep.equal({
      urls: ["one", "two:5433", "[::1]:5434"].map(
        (host) => `postgres://me:p%40ss@${host}/db?sslmode=require&application_name=x`,
      ),
      primaryOnly: true,
    });
    expect(parseHosts("postgres://one,two/db")).to.include({ primaryOnly: true });
    expect(parseHosts("postgres://one,two/db?target_session_attrs=any")).to.deep.equal({
      urls: ["postgres://one/db", "postgres://two/db"],
      primaryOnly: false,
    });
  });

  it("is left as it is with one host or a socket", () => {
    for (const url of [
      "postgres://me:a,b@one:5433/db?sslmode=require",
      "postgres:///db?host=/var/run/postgresql",
      "postgres://me@/db",
    ])
      expect(parseHosts(url)).to.deep.equal({ urls: [url], primaryOnly: false });
    expect(parseHosts("postgres://one/db?target_session_attrs=primary")).to.deep.equal({
      urls: ["postgres://one/db"],
      primaryOnly: true,
    });
  });

  it("leads past a host that does not answer, for statements and for notifications", async () => {
    const { databaseUrl } = instance;
    const host = new URL(databaseUrl).host;
    const both = databaseUrl.replace(host, `127.0.0.1:1,${host}`);
    const config = { ...instance.config, databaseUrl: both };
    const db = createDb(config, "test", 2);
    await Promise.all([1, 2].map(() => rows(db, "select 1")));
    let notified = (): void => undefined;
    const woken = new Promise<void>((resolve) => (notified = resolve));
    const log = createLog({ logLevel: "silent" }, "test");
    const listener = listen(config, log, "changes", notified);
    await woken;
    await listener.stop();
    await db.destroy();
  });
});
