import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { rows, type Db } from "#src/infrastructure/db.ts";
import { projectRoot } from "#src/infrastructure/project-root.ts";
import { hashKey, isKeyText } from "#src/keys/key-text.ts";
import { runOperator, spawnOperator } from "#test/harness/operator.ts";
import { useInstance } from "#test/harness/use.ts";

describe("the operator's command line", function () {
  const instance = useInstance();
  let db: Db;

  before(() => void ({ db } = instance));

  const operator = (...args: string[]) =>
    runOperator({ DATABASE_URL: instance.databaseUrl }, ...args);

  it("makes a partner and keys, shows a key once, changes and revokes, as a process and in this one", async () => {
    const told = async (line: string) => (await operator(...line.split(" "), "--json")).json;
    const env = { DATABASE_URL: instance.databaseUrl };
    const create = ["partner", "create", "--name", "Карта", "--rpm", "300", "--json"];
    const made = (await spawnOperator(env, ...create)).json;
    expect(made).to.deep.include({
      ...{ name: "Карта", rpm: 300, daily: 50_000, enabled: true, accept_remote: true },
      cache_ttl_s: null,
    });
    const issue = `key issue --partner ${made.id} --kind publishable --domains Пример.рф`;
    const options = ["--confirm-min", "3", "--label", "map", "--json"];
    const issued = (await operator(...issue.split(" "), ...options)).json;
    expect(issued).to.deep.include({
      ...{ kind: "publishable", domains: ["xn--e1afmkfd.xn--p1ai"], confirm_min: 3, label: "map" },
      ...{ reports: true, expires: null },
    });
    expect(isKeyText(issued.key)).to.equal(true);
    const stored = "select id from keys where hash = decode(?, 'hex')";
    expect(await rows(db, stored, [hashKey(issued.key)])).to.deep.equal([{ id: issued.id }]);
    const listed = await operator("key", "list", "--json");
    expect(listed.json).to.have.length(1);
    expect(listed.out).not.to.contain(issued.key);

    const update = `partner update ${made.id}`;
    expect(await told(`${update} --cache-ttl 0 --accept-remote false`)).to.include({
      ...{ cache_ttl_s: 0, accept_remote: false, rpm: 300 },
    });
    expect(await told(`${update} --cache-ttl default`)).to.include({ cache_ttl_s: null });
    expect(await told(`key update ${issued.id} --reports false --expires 2199-01-01`)).to.include({
      reports: false,
      expires: "2199-01-01 00:00:00",
    });
    expect((await told(`partner show ${made.id}`)).keys).to.have.length(1);
    expect((await told(`key revoke ${issued.id}`)).revoked).to.match(/^\d{4}-/);
    const again = await operator("key", "revoke", String(issued.id), "--json");
    expect([again.code, again.json]).to.deep.equal([
      1,
      {
        error: `key ${issued.id} is revoked permanently: \`operator key issue\` creates a new one`,
      },
    ]);

    const log = await rows(db, "select actor, details from operator_log order by id");
    expect(log).to.have.length(6);
    expect(log[0]).to.include({ actor: userInfo().username });
    expect(JSON.stringify(log)).not.to.contain(issued.key);
  });

  it("answers a fault with one sentence and code 2, and changes nothing", async () => {
    for (const args of [
      ["partner", "create", "--name", ""],
      ["partner", "create"],
      ["partner", "create", "--name", "x", "--rpm", "0"],
      ["partner", "update", "1"],
      ["key", "issue", "--partner", "1", "--kind", "public"],
      ["key", "issue", "--partner", "1", "--kind", "secret", "--domains", "a.example"],
      ["limit-request", "list", "--status", "open"],
      ["limit-request", "approve", "1", "--rpm", "100001"],
      ["nonsense"],
      ["stations", "import", "/does/not/exist"],
    ]) {
      const { code, err, json } = await operator(...args, "--json");
      expect([code, Object.keys(json as object)], args.join(" ")).to.deep.equal([2, ["error"]]);
      expect(err.trim().split("\n"), args.join(" ")).to.have.length(1);
    }
    expect(await rows(db, "select id from partners where name in ('', 'x')")).to.deep.equal([]);
  });

  it("imports, says what it did, and lets the demo stations go", async () => {
    const folder = await mkdtemp(join(tmpdir(), "fuelmark-"));
    try {
      const file = join(folder, "stations.json");
      await writeFile(
        file,
        JSON.stringify({
          elements: [{ type: "node", id: 1, lat: 55, lon: 37, tags: { amenity: "fuel" } }],
        }),
      );
      await db.raw(
        "insert into stations (id, source, lat, lon) values ('demo-00001', 'demo', 55, 37)",
      );
      const done = await operator(
        "stations",
        "import",
        file,
        "--format",
        "overpass",
        "--replace-source",
        "--json",
        "--actor",
        "olga",
      );
      expect(done.json).to.include({ read: 1, added: 1, removed: 0, dry_run: false });
      expect((await operator("stations", "import", file)).out).to.contain("unchanged  1");
      await db.raw(`insert into stations (id, source, lat, lon, removed_at) values ('n2', 'osm', 55, 37, now());
        insert into station_pairs (station_id, into_id, verdict, actor) values ('n2', 'demo-00001', 'joined', 'import')`);
      expect((await operator("demo", "remove", "--json")).json).to.deep.equal({
        stations: 1,
        cities: 0,
      });
      const left = await rows(db, "select id from stations where removed_at is null");
      expect(left).to.have.deep.members([{ id: "n1" }, { id: "n2" }]);
      const [entry] = await rows<{ actor: string }>(
        db,
        "select actor from operator_log where action = 'stations.import' order by id",
      );
      expect(entry?.actor).to.equal("olga");
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it("lists settings without secrets", async () => {
    const { json, out } = await operator("config", "--json");
    expect(json.find((one: { setting: string }) => one.setting === "DATABASE_URL").value).to.equal(
      "set",
    );
    expect(out).not.to.contain(instance.databaseUrl);
  });

  it("ends in silence when its reader has seen enough", async () => {
    const child = spawn(process.execPath, ["cli/operator.mjs", "config"], {
      cwd: projectRoot,
      env: { ...process.env, DATABASE_URL: instance.databaseUrl },
      stdio: ["ignore", "pipe", "pipe"],
    });
    child.stdout.destroy();
    const [err, [code]] = await Promise.all([text(child.stderr), once(child, "exit")]);
    expect([err, code]).to.deep.equal(["", 0]);
  });

  it("says when no website can use a publishable key, and beside the one JSON value", async () => {
    const { json } = await operator("partner", "create", "--name", "Pages", "--json");
    const issue = ["key", "issue", "--partner", String(json.id), "--kind"];
    const issued = await operator(...issue, "publishable", "--json");
    const { id } = issued.json as { id: number };
    const update = (domains: string) =>
      operator("key", "update", String(id), "--domains", domains, "--json");
    const said = `it has no domains, so their pages get 403 (operator key update ${id} --domains`;
    expect(issued.err).to.contain(said);
    expect((await update("maps.example")).err).to.equal("");
    expect((await update("")).err).to.contain(said);
    expect((await operator(...issue, "secret")).err).to.not.contain("403");
    const bound = ["publishable", "--domains", "maps.example"];
    expect((await operator(...issue, ...bound)).err).to.not.contain("403");
  });

  it("binds a key to no domain of one label but localhost", async () => {
    const { json } = await operator("partner", "create", "--name", "Labels", "--json");
    const issue = ["key", "issue", "--partner", String(json.id), "--kind", "publishable"];
    const bind = (domains: string) => operator(...issue, "--domains", domains, "--json");
    for (const [domains, top] of [
      ["com", "com"],
      ["maps.example,*.org.", "*.org."],
      ["рф", "рф"],
    ] as const) {
      const { code, json: refused } = await bind(domains);
      expect([code, refused.error], domains).to.deep.equal([
        2,
        `--domains: “${top}” would be all websites below it: give a whole domain, like maps.example`,
      ]);
    }
    const withPath = "http://maps.example/page";
    expect((await bind(withPath)).json.error).to.equal(
      `--domains: “${withPath}” is no domain: give it alone, like maps.example`,
    );
    expect((await bind("localhost,127.0.0.1,[::1]")).json.domains).to.have.length(3);
  });

  it("says when a key's addresses do not hold because the partner's switch is off", async () => {
    const { json } = await operator("partner", "create", "--name", "Bound", "--json");
    const issue = ["key", "issue", "--partner", String(json.id), "--kind", "secret"];
    const addresses = ["--ips", "192.0.2.7"];
    expect((await operator(...issue, ...addresses)).err).to.not.contain("--bind-ips");
    await operator("partner", "update", String(json.id), "--bind-ips", "false");
    expect((await operator(...issue, ...addresses)).err).to.contain("--bind-ips true");
    expect((await operator(...issue)).err).to.not.contain("--bind-ips");
  });

  it("says what an operator can do when Postgres refuses", async () => {
    const create = ["partner", "create", "--name", "Refused"];
    const at = (change: Partial<URL>) => {
      const url = Object.assign(new URL(instance.databaseUrl), change);
      return runOperator({ DATABASE_URL: url.href }, ...create);
    };
    const told = ({ code, out, err }: { code: number | null; out: string; err: string }) => {
      expect([code, out, err.trim().split("\n").length], err).to.deep.equal([1, "", 1]);
      return err.trim();
    };
    const name = new URL(instance.databaseUrl).pathname.slice(1);
    const role = `reader_${name}`;
    expect(told(await at({ password: "wrong" }))).to.match(
      /^Postgres refuses DATABASE_URL \(password authentication failed for user "\w+"\): check its user/,
    );
    expect(told(await at({ pathname: "/nothing_here" }))).to.match(
      /^Postgres refuses DATABASE_URL \(database "nothing_here" does not exist\): /,
    );
    await db.raw(`create role ${role} login password 'reads'; grant select on partners to ${role}`);
    try {
      expect(told(await at({ username: role, password: "reads" }))).to.match(
        /^this user of Postgres may not do that \(permission denied for \w+ \w+\): use the DATABASE_URL of the owner/,
      );
    } finally {
      await db.raw(`drop owned by ${role}; drop role ${role}`);
    }
    await db.raw(`alter database ${name} set default_transaction_read_only = on`);
    try {
      expect(told(await operator(...create))).to.match(
        /^the database takes no writes \(cannot execute INSERT .*\): see docs\/operations\.md/,
      );
    } finally {
      await db.raw(`alter database ${name} reset default_transaction_read_only`);
    }
    expect(await rows(db, "select id from partners where name = 'Refused'")).to.deep.equal([]);
  });
});
