import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { instanceConfig, settingsOf } from "#cli/instance.ts";
import { runOperator } from "#test/harness/operator.ts";

const databaseUrl = "postgres://fuelmark@127.0.0.1:21000/fuelmark";

describe("the instance that the command line works on", () => {
  let folder: string;
  let file: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "fuelmark-run-"));
    file = join(folder, "run.json");
  });
  after(() => rmSync(folder, { recursive: true }));

  const runs = (run: object): void =>
    writeFileSync(file, JSON.stringify({ pid: process.pid, databaseUrl, port: 8081, ...run }));
  const told = (env: Record<string, string>, name: string) =>
    settingsOf(env, file).find(({ setting }) => setting === name);

  it("has the settings that `npm start` was given, unless the environment says otherwise", () => {
    runs({ settings: { DEFAULT_RPM: "77", WEBHOOK_HTTP: "true", PORT: "8080" } });
    const here = { defaultRpm: 77, webhookHttp: true, port: 8081, databaseUrl };
    expect(instanceConfig({}, file)).to.include(here);
    expect(told({}, "DEFAULT_RPM")).to.include({ value: 77, source: "npm start", default: 120 });
    expect(told({}, "DEFAULT_DAILY")).to.include({ value: 50_000, source: "default" });
    const own = { DEFAULT_RPM: "99", WEBHOOK_HTTP: "" };
    expect(instanceConfig(own, file)).to.include({ defaultRpm: 99, webhookHttp: true });
    expect(told(own, "DEFAULT_RPM")).to.include({ value: 99, source: "environment" });
  });

  it("has none of them when the environment leads to another database", () => {
    runs({ settings: { DEFAULT_RPM: "77" } });
    const env = { DATABASE_URL: "postgres://a@b/c" };
    expect(instanceConfig(env, file)).to.include({ defaultRpm: 120, port: 8080, redisUrl: "" });
    expect(told(env, "DEFAULT_RPM")).to.include({ value: 120, source: "default" });
  });

  it("is understood when an earlier version started it, and is none when it was killed", () => {
    runs({ reporterPepper: "a pepper of sixteen" });
    expect(instanceConfig({}, file)).to.include({ databaseUrl, port: 8081, defaultRpm: 120 });
    const { pid } = spawnSync(process.execPath, ["-e", ""]);
    runs({ pid, settings: { DEFAULT_RPM: "77" } });
    expect(instanceConfig({}, file)).to.include({ databaseUrl: "", port: 8080, defaultRpm: 120 });
    expect(instanceConfig({}, join(folder, "none.json"))).to.include({ databaseUrl: "" });
  });

  it("is shown with its switches as they are set", async () => {
    const { out } = await runOperator({ DATABASE_URL: databaseUrl }, "config");
    expect(out)
      .to.match(/^WEBHOOK_HTTP +false +default/m)
      .and.to.match(/^DEMO_TRICKLE +true/m);
    expect(out).to.not.match(/^\w+ +(yes|no) /m);
  });
});
