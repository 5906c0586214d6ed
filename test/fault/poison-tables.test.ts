import { expect } from "chai";
import { formatTime } from "#src/domain/time.ts";
import { minuteMs } from "#src/domain/units.ts";
import { rows } from "#src/infrastructure/db.ts";
import { readDuties } from "#src/infrastructure/duty-times.ts";
import { createLog } from "#src/infrastructure/log.ts";
import { createProducer, type Producer } from "#src/infrastructure/queues.ts";
import { createWorkerRedis, type Redis } from "#src/infrastructure/redis.ts";
import { dutiesOf, type DutyName } from "#src/infrastructure/schedule.ts";
import { type Answer, type Client, createClient, until } from "#test/flow/client.ts";
import { type Country, openCountry, type Place, placeOf } from "#test/flow/country.ts";
import { addPartner } from "#test/flow/more-partners.ts";
import {
  type Browser,
  newBrowser,
  type PushService,
  startPushService,
} from "#test/flow/push-services.ts";
import { type Receiver, startReceiver, status } from "#test/flow/webhook-receivers.ts";
import { createTestInstance, type TestInstance } from "#test/harness/instance.ts";
import { type RoleProcess, startRoleProcess } from "#test/harness/processes.ts";
import { startRole } from "#test/harness/roles.ts";

/** Tables that get no bad row here, and why. */
const leftOut: Record<string, string> = {
  knex_migrations: "read by the release role alone, which changes nothing when it cannot read it",
  knex_migrations_lock: "the same",
  database_identity: "one row that says which database this is: another value is another database",
  database_tokens: "the same",
  fuel_alert_cursor: "one row that is changed and not copied, see `countedOn`",
};
/** The ends of each type, and what JSON can be where something else was meant. */
const endsOf: Record<string, readonly string[]> = {
  text: ["", "x".repeat(10_000), "\u202e\ufeff\u0001\u{1f6e2}\u0301'\"<%"],
  ...{ int2: ["32767", "-1"], int4: ["2147483647", "-1"] },
  int8: ["9223372036854775807", "4503599627370496", "-1"],
  float8: ["NaN", "Infinity", "-Infinity", "-1", "1e308"],
  timestamptz: ["infinity", "-infinity", "9999-12-31", "294276-12-31"],
  date: ["infinity", "-infinity", "9999-12-31"],
  jsonb: [
    "null",
    "[]",
    '"x"',
    "{}",
    "7",
    '{"stations":7,"c0":7}',
    '{"stations":[["a","b"],["c"]]}',
  ],
  ...{ _text: ["{}", "{NULL}", '{""}'], bytea: ["", `\\x${"ab".repeat(10_000)}`] },
};
/** What stands in a table that nothing has filled: by name of a text column, else by type. */
const usual: Record<string, string> = {
  ...{ station_id: "v0", kind: "rows-unreadable", feed: "dumps", feeds: "{dumps}", rule: "remote" },
  ...{ status: "yes", from_status: "yes", to_status: "no", review: "none" },
  ...{ text: "usual", int2: "1", int4: "0", int8: "0", float8: "1", bool: "false", bytea: "" },
  ...{
    timestamptz: "now",
    date: "yesterday",
    uuid: "00000000-0000-0000-0000-000000000000",
    jsonb: "{}",
    _text: "{}",
  },
};
const [int, bigint] = [endsOf["int4"]![0], endsOf["int8"]![0]];
/** Rows that are changed again and again: at the end of their type nothing can be added. */
const countedOn = [
  `fuel_alert_cursor set change_seq = ${endsOf["int8"]![1]}, time_change_seq = ${bigint}`,
  `usage_days set requests = ${bigint}, not_modified = ${bigint}, errors = ${bigint} where partner_id = 2`,
  `usage_hours set requests = ${bigint}, errors = ${bigint} where partner_id = 2`,
  `harmful_changes set count = ${bigint}`,
  `alarms set count = ${int}`,
  `service_days set well = ${int}`,
];
/** Stations v0 to v150 are those of the bad rows; none that a table has takes more. */
const victims = 150;

interface Column {
  table: string;
  name: string;
  type: string;
  /** Part of a unique index. */
  isKey: boolean;
}

describe("fault: bad rows in every table", function () {
  this.timeout(1_200_000);
  let instance: TestInstance;
  let country: Country;
  let producer: Producer;
  let redis: Redis;
  let receivers: Receiver[];
  let push: PushService;
  let driver: Browser;
  let client: Client;
  /** Whose rows are the bad ones. */
  let other: Client;
  let web: RoleProcess;
  const roles: RoleProcess[] = [];
  let round = 0;

  before(async () => {
    instance = await createTestInstance({
      ...{ WEBHOOK_HTTP: "true", WEBHOOK_NETWORKS: "127.0.0.1", WEBHOOK_PAUSE_MS: "20" },
      ...{ WEBHOOK_STATIONS_GAP_MS: "0", ALERT_GAP_MS: "0", ALERTS_PER_DAY: "100" },
      ...{ POLL_MS: "200", KEYS_REFRESH_MS: "500" },
    });
    country = await openCountry(instance.config, 100);
    const log = createLog({ logLevel: "silent" }, "test");
    producer = createProducer(instance.config, log);
    redis = createWorkerRedis(instance.config, log);
    receivers = [await startReceiver(), await startReceiver()];
    receivers[0]!.answer = status(500);
    push = await startPushService();
    for (const role of ["web", "marks", "snapshots", "upkeep", "webhooks"])
      roles.push(await startRoleProcess(role, instance.env));
    web = roles[0]!;
    client = createClient(web.baseUrl, country.secret);
    await fill();
  });
  after(async () => {
    for (const role of roles) await role.stop();
    for (const one of [...receivers, push]) await one.close();
    redis.disconnect();
    await producer.close();
    await country.close();
    await instance.drop();
  });

  /** First whom the bad rows are copied from, then whom nothing may happen to. */
  const fill = async (): Promise<void> => {
    await rows(
      country.db,
      `insert into stations (id, source, lat, lon)
       select 'v' || n, 'test', 45 + n * 0.003, 37 from generate_series(0, ${victims}) n`,
    );
    await rows(country.db, "select feed_stamp(array(select id from stations where id like 'v%'))");
    const first = { id: "v0", lat: 45, lon: 37 };
    await until(
      () => client.get("/stations/v0"),
      ({ status }) => status === 200,
    );
    other = createClient(web.baseUrl, (await addPartner(country)).secret);
    const events = ["stations.changed", "report.processed"];
    await other.post("/webhooks", { url: receivers[0]!.url, events });
    await ask(newBrowser(push));
    await mark(first);
    await client.post("/webhooks", { url: receivers[1]!.url, events });
    driver = newBrowser(push);
    await ask(driver);
  };
  const ask = async ({ device, subscription }: Browser): Promise<void> => {
    // A zone in which it is about noon: nobody is told at night.
    const ahead = (36 - new Date().getUTCHours()) % 24;
    const zone = ahead <= 12 ? `Etc/GMT-${ahead}` : `Etc/GMT+${24 - ahead}`;
    const wish = { grade: "95", lat: 55, lon: 37, radius_km: 20, lang: "en", time_zone: zone };
    const response = await fetch(`${web.baseUrl}/alerts/ask`, {
      method: "POST",
      headers: { Origin: web.baseUrl, "Content-Type": "application/json" },
      body: JSON.stringify({ device, subscription, ...wish }),
    });
    expect(response.status, await response.text()).to.equal(201);
  };
  const mark = async (place: Place): Promise<void> => {
    await country.meet(`driver ${place.id}`, 9000);
    const said = { status: "yes", fuels: ["95"], express: true, external_id: place.id };
    const answer = await client.mark(place, `driver ${place.id}`, said);
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
  };

  const findColumns = (): Promise<Column[]> =>
    rows<Column>(
      country.db,
      `select c.table_name as table, c.column_name as name, c.udt_name as type,
         exists (select from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any(i.indkey)
           where i.indisunique and i.indrelid = c.table_name::regclass and a.attname = c.column_name) as "isKey"
       from information_schema.columns c where c.table_schema = 'public' and c.table_name !~ '^marks_'
       order by c.table_name, c.ordinal_position`,
    );
  /** SQL of what keeps copy number `n` apart from the others, and from what a process has read before. */
  const keyOf = ({ table, name, type, isKey }: Column, n: number): string | null => {
    if (/^(made|looked)_at$/.test(name)) return `now() - interval '${20 + n} minutes'`;
    if (!isKey) return null;
    if (name === "station_id" || (table === "stations" && name === "id")) return `'v${n + 1}'`;
    if (table === "marks" && name === "id") return `t.id + ${1_000_000 + n}`;
    const byType: Record<string, string> = {
      ...{ text: `'k${n}'`, int4: `${1_000_000 + n}`, int8: `${1_000_000 + n}` },
      ...{ bytea: `decode(md5('${n}'), 'hex')`, date: `current_date + ${4 - n}` },
      timestamptz: `now() - interval '${n + 1} hours'`,
    };
    return byType[type] ?? null;
  };

  /**
   * Copies of a table's first row, in each of which one column has one of the ends of its type. Those that an index on an
   * expression refuses are left out.
   */
  const poison = (table: string, own: readonly Column[]): Promise<void> =>
    country.db.transaction(async (tx) => {
      const names = own.map(({ name }) => name).join();
      const ends = own
        .filter(({ name, isKey }) => !isKey || name === "seq")
        .flatMap((bad) => (endsOf[bad.type] ?? []).map((end) => ({ bad, end })));
      for (const [n, { bad, end }] of ends.entries()) {
        const keys = own.map((column) => (column === bad ? null : keyOf(column, n)));
        const values = own.map((column, at) =>
          column === bad
            ? `'${end.replaceAll("'", "''")}'::${bad.type}`
            : (keys[at] ?? `t.${column.name}`),
        );
        const same = own.flatMap(({ name, isKey }, at) =>
          isKey && keys[at] !== null ? [`p.${name} = ${keys[at]}`] : [],
        );
        if (same.length > 0)
          await tx.raw(
            `delete from ${table} p using templates.${table} t where ${same.join(" or ")}`,
          );
        await tx.raw(
          `insert into ${table} (${names}) overriding system value select ${values.join()} from templates.${table} t on conflict do nothing`,
        );
      }
      if (table !== "changes")
        await tx.raw("select feed_stamp(array(select id from stations where id ~ '^v[1-9]'))");
    });

  /** A mark at a station that has none is given out in every way, every duty is done, and a process can start. */
  const expectServed = async (): Promise<void> => {
    const place = placeOf((round += 1));
    const { redisPrefix } = instance.config;
    const began = Date.now();
    const isShown = ({ body }: Answer): boolean =>
      body.stations?.some(
        (one: Answer["body"]) => one.id === place.id && one.fuel.status === "yes",
      );
    const told = (): number => push.pushed.filter(({ path }) => path === driver.path).length;
    const toldBefore = told();
    await mark(place);
    await other.get("/webhooks");
    // Every answer is compared with the API's document.
    for (const id of ["v1", "v2", "v3"]) await client.get(`/stations/${id}/history`);
    await until(
      () => client.get(`/stations/${place.id}`),
      ({ body }) => body.station.fuel.status === "yes",
    );
    const box = [place.lat - 0.001, 36.9, place.lat + 0.001, 37.1].join();
    const since = encodeURIComponent(formatTime(began - minuteMs));
    await until(() => client.get(`/stations?bbox=${box}`), isShown);
    await until(() => client.get(`/stations/delta?updated_since=${since}`), isShown);
    const before = await readDuties(redis, redisPrefix);
    for (const queue of ["snapshots", "upkeep"] as const)
      for (const duty of dutiesOf(queue) as DutyName[])
        await producer.addSlot(queue, { duty, slot: round });
    await until(
      () => readDuties(redis, redisPrefix),
      (done) =>
        [...dutiesOf("snapshots"), ...dutiesOf("upkeep")].every(
          (duty) => done[duty] !== undefined && done[duty] !== before[duty],
        ),
    );
    await until(() => client.get("/stations/all"), isShown);
    await until(
      async () => receivers[1]!.posts.some(({ raw }) => raw.includes(`"${place.id}"`)),
      (isSent) => isSent,
    );
    await until(
      async () => told(),
      (count) => count > toldBefore,
    );
    await until(
      async () =>
        (await (await fetch(`${web.baseUrl}/status.json`)).json()) as { known_at: string },
      ({ known_at }) => known_at > formatTime(began),
    );
    for (const path of ["readyz", "metrics"])
      expect((await fetch(`${web.baseUrl}/${path}`)).status, path).to.equal(200);
    await (await startRole("web", instance.env)).stop();
    const gone = await Promise.race([
      ...roles.map(({ exited }) => exited),
      Promise.resolve("none"),
    ]);
    expect(gone, "a process has exited").to.equal("none");
  };

  it("take nothing else along", async () => {
    const { db } = country;
    const columns = await findColumns();
    const names = new Set(columns.map(({ table }) => table));
    const tables = [...names]
      .filter((table) => leftOut[table] === undefined)
      .map((table) => [table, columns.filter((one) => one.table === table)] as const);
    // A fault, an older version or a hand may have written what a constraint refuses today.
    const constraints = await rows<{ sql: string }>(
      db,
      `select format('alter table %s drop constraint %I cascade', conrelid::regclass, conname) as sql
       from pg_constraint where connamespace = 'public'::regnamespace and contype in ('c', 'f')
         and conparentid = 0 and coninhcount = 0`,
    );
    for (const { sql } of constraints) await rows(db, sql);
    await expectServed();
    await rows(db, "create schema templates");
    for (const [table, own] of tables) {
      const values = own.map(
        ({ name, type }) => `'${(/text/.test(type) && usual[name]) || usual[type]}'::${type}`,
      );
      const list = own.map(({ name }) => name).join();
      await rows(
        db,
        `insert into ${table} (${list}) overriding system value
         select ${values.join()} where not exists (select from ${table})`,
      );
      await rows(db, `create table templates.${table} as select * from ${table} limit 1`);
    }
    for (const [table, own] of tables) {
      await poison(table, own);
      await expectServed().catch((error: Error) => {
        throw new Error(`${table}: ${error.message}`, { cause: error });
      });
    }
    for (const sql of countedOn) await rows(db, `update ${sql}`);
    await expectServed();
    const lines = roles
      .flatMap((role) => role.lines)
      .filter((line) => /(integer|bigint) out of range/.test(line));
    expect(lines, "numbers at their end are counted on").to.deep.equal([]);
    const found = await rows<{ subject: string }>(
      db,
      "select distinct subject from alarms where kind = 'rows-unreadable'",
    );
    expect(found.map(({ subject }) => subject)).to.include.members(
      ["incidents", "service_days", "insight_days", "insight_grades"].map((one) => `table ${one}`),
    );
  });
});
