import { expect } from "chai";
import { formerSettings, loadConfig, settings } from "#src/infrastructure/config.ts";
import { staleAfterHours } from "#src/domain/time.ts";

/** Texts that a setting must refuse, beside what no number and no switch can be. */
const garbage: Record<string, string[]> = {
  DATABASE_URL: [
    ...["here", "mysql://a@b/c", "postgres:/a", "postgres://a b/c", "postgres://a@b,/c"],
    "postgres://a@b/c?target_session_attrs=standby",
    // Signs of the password as they are: the rest of it would be taken for a host.
    ...["postgres://u:hunter/2@db:5432/f", "postgres://u:12/hunter@db/f"],
  ],
  DATABASE_DIRECT_URL: ["here", "mysql://a@b/c"],
  REDIS_SENTINELS: ["redis://one:26379", "one two", "one,,two", "one:port"],
  REDIS_CLUSTER: ["redis://one:6379", "one two", "one,,two", "one:port"],
  REDIS_SENTINEL_NAME: ["my master"],
  REDIS_SENTINEL_PASSWORD: ["two words"],
  REDIS_URL: ["localhost:6379", "http://localhost:6379"],
  REDIS_PREFIX: ["fuelmark", "{}", "{a b}"],
  HOST: ["my host", "http://0.0.0.0"],
  BASE_URL: ["fuel.example", "ftp://fuel.example", "https://", "https://a.example/?x=1"],
  PROBLEM_BASE: ["/problems", "https://a.example/#problems"],
  REPORTER_PEPPER: ["short"],
  TRUSTED_PROXIES: ["proxy.example", "10.0.0.0/33", "10.0.0.1,10.0.0", "::1/129"],
  METRICS_TOKEN: ["two words", "ключ"],
  LOG_LEVEL: ["loud", "INFO"],
  ALARM_EMAIL_TO: ["olga", "olga@a.example,", "a@b c@d", "a@b\r\nBcc: c@d"],
  ALARM_SMTP_URL: ["mail.example", "http://mail.example"],
  ALARM_EMAIL_FROM: ["olga", "Fuel <olga>", "Fu\nel <a@b.example>"],
  ALARM_WEBHOOK_URL: ["chat.example/hooks", "ftp://chat.example", "https://a:b@chat.example/"],
  ALARM_WEBHOOK_SECRET: ["whsec_short", "no prefix and long enough to be a secret key"],
  PUSH_CONTACT: [
    ...[
      "olga",
      "mailto:olga",
      "mailto:olga@localhost",
      "https://fuel.local",
      "http://fuel.example",
    ],
    ...["https://localhost:8080/", "mailto:a@b c"],
  ],
  CONSUMER_KEY: ["svc_live_1", "pk_live_1", `pk_live_${"0".repeat(49)}`],
  WIDGET_CENTER: ["55"],
  BASEMAP: ["none"],
  FEEDS_FOLDER: ["feeds", "./feeds"],
  FEED_NETWORKS: ["feeds.example", "10.0.0.0/33"],
  WEBHOOK_NETWORKS: ["hooks.example", "10.0.0.0/33"],
};

describe("the settings", () => {
  for (const { env } of Object.values(settings)) {
    // Shown as it is, whatever it is.
    if (env === "BASEMAP_ATTRIBUTION") continue;
    it(`refuse garbage in ${env} with a sentence that names it`, () => {
      for (const text of garbage[env] ?? ["many", "1.5", "-99999999999", "1e3", " "])
        expect(() => loadConfig({ [env]: text }), text).to.throw(
          new RegExp(`^bad settings: ${env} must be .+`),
        );
    });
  }

  it("of e-mail are given together", () => {
    const smtp = { ALARM_SMTP_URL: "smtp://mail.example" };
    const to = { ALARM_EMAIL_TO: "olga@fuel.example" };
    for (const one of [smtp, to])
      expect(() => loadConfig(one)).to.throw(/ALARM_EMAIL_TO and ALARM_SMTP_URL .* together/);
    expect(loadConfig({ ...smtp, ...to }).alarmEmailTo).to.deep.equal(["olga@fuel.example"]);
  });

  it("of a Redis Cluster go with neither Sentinels nor a database number", () => {
    const nodes = { REDIS_CLUSTER: "redis-1:6379, [::1]:6380" };
    expect(() => loadConfig({ ...nodes, REDIS_SENTINELS: "one" })).to.throw(/not be set together/);
    for (const number of ["1", "2/", "15"])
      expect(() => loadConfig({ ...nodes, REDIS_URL: `redis://:a@b:1/${number}` })).to.throw(
        /REDIS_URL must name no database/,
      );
    for (const end of ["", "/", "/0"])
      expect(loadConfig({ ...nodes, REDIS_URL: `rediss://:a@b:1${end}` }).redisCluster).to.eql([
        "redis-1:6379",
        "[::1]:6380",
      ]);
  });

  it("are told about all at once", () => {
    expect(() => loadConfig({ PORT: "x", LOG_LEVEL: "y" })).to.throw(/PORT must.*LOG_LEVEL must/);
  });

  it("never repeat what was given for a secret", () => {
    const given = {
      REPORTER_PEPPER: "hunter2",
      DATABASE_URL: "hunter2",
      METRICS_TOKEN: "hunter 2",
    };
    expect(() => loadConfig(given)).to.throw(/^(?!.*hunter).*$/);
  });

  it("say of a password with signs of a URL how to write it", () => {
    expect(() => loadConfig({ DATABASE_URL: "postgres://u:12/hunter@db/f" })).to.throw(
      /^(?!.*hunter).*%2F/,
    );
    for (const one of ["mailto:fuel@example.org", "https://fuel.example.org/contact"])
      expect(loadConfig({ PUSH_CONTACT: one }).pushContact).to.equal(one);
  });

  it("take what is meant", () => {
    const given = {
      DATABASE_URL: "postgres:///fuelmark?host=/var/run/postgresql",
      REDIS_URL: "rediss://user:pass@redis.example:6380/2",
      BASE_URL: "https://fuel.example/",
      TRUSTED_PROXIES: "10.0.0.0/8, ::ffff:192.0.2.1,FD00::/8,",
      HOST: "::1",
    };
    expect(loadConfig(given)).to.include({
      databaseUrl: given.DATABASE_URL,
      redisUrl: given.REDIS_URL,
      baseUrl: "https://fuel.example",
      problemBase: "https://fuel.example/problems",
      host: "::1",
    });
    expect(loadConfig(given).trustedProxies).to.deep.equal(["10.0.0.0/8", "192.0.2.1", "fd00::/8"]);
    expect(loadConfig({ DATABASE_URL: "postgres://me@/db" }).databaseUrl).to.not.equal("");
  });

  it("leave numbers that are none as they are, unless a test asks for others", () => {
    const given = { NEAR_M: "7", SLOT_MS: "soon" };
    expect(loadConfig(given)).to.include({ nearM: 500, slotMs: 10_000 });
    expect(loadConfig({ NEAR_M: "7", TEST_NUMBERS: "1" })).to.include({ nearM: 7, slotMs: 10_000 });
    expect(formerSettings(given)).to.deep.equal(["NEAR_M", "SLOT_MS"]);
  });

  it("tell the life of a status in whole hours, never less than it is", () => {
    expect([24 * 3600_000, 90 * 60_000, 45_000].map(staleAfterHours)).to.deep.equal([24, 2, 1]);
  });
});
