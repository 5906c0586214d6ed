import { tmpdir } from "node:os";
import { PassThrough } from "node:stream";
import { expect } from "chai";
import type { Command } from "commander";
import { confirmed } from "#cli/command.ts";
import { nouns } from "#cli/operate.ts";
import { createOutput } from "#cli/output.ts";
import { raiseAlarms } from "#src/alarms/raise.ts";
import { type AlarmKind, alarmKinds } from "#src/contract/alarm-kinds.ts";
import { inTransaction, rows } from "#src/infrastructure/db.ts";
import { type Ran, runOperator } from "#test/harness/operator.ts";
import { useInstance } from "#test/harness/use.ts";

/** Every command that does something, by its whole name. */
function leaves(): [string, Command][] {
  const found: [string, Command][] = [];
  const walk = (command: Command, names: string[]): void => {
    const name = [...names, command.name()];
    const isVerb = helpOf(command).includes("Examples:");
    if (command.commands.length === 0 || isVerb) found.push([name.join(" "), command]);
    for (const verb of command.commands) walk(verb, name);
  };
  for (const noun of nouns)
    walk(
      noun(() => createOutput(false, "test")),
      [],
    );
  return found;
}

/** All that `--help` prints. */
function helpOf(command: Command): string {
  let text = "";
  command.configureOutput({ writeOut: (piece) => void (text += piece) }).outputHelp();
  return text;
}

describe("the operator's commands", () => {
  it("are those of the manual, each with a sentence and lines to copy", () => {
    const all = leaves();
    expect(all.map(([name]) => name)).to.include.members([
      ...["partner create", "partner list", "partner show", "partner update"],
      ...["key issue", "key list", "key update", "key revoke"],
      ...[
        "limit-request list",
        "limit-request approve",
        "limit-request reject",
        "limit-request undo",
      ],
      ...["review list", "review approve", "review reject", "review undo"],
      ...["marks rollback", "marks rollback list", "marks rollback show", "marks rollback undo"],
      ...[
        ...["station show", "station edit", "station close", "station reopen"],
        ...["station merge", "station keep-apart", "station split", "station doubtful"],
        ...["brand list", "brand aliases", "brand alias", "brand unalias"],
        ...["source list", "source show", "source check", "source try"],
        "stations import",
        "cities import",
        "statuses import",
        "queues list",
        "log list",
        "config",
      ],
    ]);
    for (const [name, command] of all) {
      expect(command.description(), name).to.not.equal("");
      const noun = name.replace(/ list$/, "");
      expect(helpOf(command), name).to.match(
        new RegExp(`Examples:\\n  npm run -s operator -- ${noun}`),
      );
    }
  });

  it("say of each argument what it is", () => {
    for (const [name, { registeredArguments }] of leaves())
      for (const one of registeredArguments)
        expect(one.description, `${name} ${one.name()}`).to.not.equal("");
  });

  it("ask for consent on a terminal, and nowhere else", async () => {
    const answer = async (word: string, json = false): Promise<[boolean, string]> => {
      const input = Object.assign(new PassThrough(), { isTTY: true });
      const output = Object.assign(new PassThrough(), { isTTY: true });
      let asked = "";
      output.on("data", (piece: Buffer) => (asked += piece.toString()));
      input.write(`${word}\n`);
      return [await confirmed({ json, stdin: input, stderr: output }, "Revoke key 7?"), asked];
    };
    const [consent, asked] = await answer("y");
    expect(consent).to.equal(true);
    expect(asked).to.contain("Revoke key 7? [y/N] ");
    expect((await answer("YES"))[0]).to.equal(true);
    for (const word of ["n", "", "yesterday", "7"]) expect((await answer(word))[0]).to.equal(false);
    expect(await answer("n", true)).to.deep.equal([true, ""]);
    const [input, output] = [new PassThrough(), new PassThrough()];
    expect(await confirmed({ json: false, stdin: input, stderr: output }, "?")).to.equal(true);
  });
});

describe("the operator's command line, command by command", function () {
  const instance = useInstance();

  const operator = (...args: string[]): Promise<Ran> => runOperator(instance.env, ...args);

  it("says of each unknown id where ids are listed, with exit code 1 and nothing done", async () => {
    const runs = await Promise.all(
      [
        ["partner", "show", "404"],
        ["partner", "update", "404", "--rpm", "1"],
        ["key", "issue", "--partner", "404", "--kind", "secret"],
        ["key", "update", "404", "--reports", "true"],
        ["key", "revoke", "404"],
        ["limit-request", "approve", "404"],
        ["limit-request", "reject", "404"],
        ["review", "approve", "404"],
        ["review", "reject", "404"],
        ["review", "undo", "404"],
        ["limit-request", "undo", "404"],
        ["marks", "retry", "404"],
        ["marks", "rollback", "--reporter", "404"],
        ["marks", "rollback", "--key", "404", "--dry-run"],
        ["review", "approve", "--partner", "404"],
        ["key", "list", "--partner", "404"],
        ["limit-request", "list", "--partner", "404"],
        ["webhook", "list", "--partner", "404"],
        ["queues", "retry", "marks", "404"],
        ["alarm", "acknowledge", "404"],
        ["account", "disable", "404"],
        ["webhook", "show", "404"],
        ["marks", "rollback", "show", "404"],
        ["review", "decisions", "undo", "404"],
        ["feed", "show", "404"],
        ["feed", "run", "404"],
        ["incident", "close", "404", "--text", "over"],
        ["suggestion", "done", "404"],
        ["brand", "unalias", "x404"],
        ["retention", "allow", "x404"],
        ["network", "block", "00000404", "--until", "2100-01-01"],
      ].map(async (args) => ({ args: args.join(" "), ran: await operator(...args, "--json") })),
    );
    for (const { args, ran } of runs) {
      expect(ran.code, args).to.equal(1);
      expect(ran.json.error, args).to.match(/^there is no .*404: `operator [a-z- ]+` shows/);
      expect(ran.err.trim(), args).to.equal(ran.json.error);
    }
    expect(await rows(instance.db, "select id from operator_log")).to.deep.equal([]);
  });

  it("answers every list, and help, with exactly one JSON value", async () => {
    const lists = ["partner list", "key list", "limit-request list", "review list", "marks failed"];
    lists.push("queues", "queues failed", "queues refolds", "log list", "config");
    const runs = await Promise.all(
      lists.map(async (name) => [name, await operator(...name.split(" "), "--json")] as const),
    );
    for (const [name, { code, json }] of runs) {
      expect(code, name).to.equal(0);
      expect(json, name).to.be.an("array");
    }
    const help = await operator("key", "revoke", "--help", "--json");
    expect([help.code, Object.keys(help.json as object)]).to.deep.equal([0, ["help"]]);
  });

  it("names the verbs where one is missing, with code 2 and one JSON value", async () => {
    for (const [args, said] of [
      [[], /^`operator` needs a noun: account, partner, key, .*, demo$/],
      [["partner"], /^`operator partner` needs a verb: create, list, show, update, launch$/],
      [["log"], /^`operator log` needs a verb: list$/],
      [["runs"], /^`operator runs` needs a verb: list, rebuild$/],
      [["review"], /^`operator review` needs a verb: list, groups, .*, decisions$/],
      [["review", "decisions"], /^`operator review decisions` needs a verb: list, show, undo$/],
      [["--actor", "review", "key"], /^`operator key` needs a verb: issue, /],
    ] as const) {
      const ran = await operator(...args, "--json");
      expect(ran.code, args.join(" ")).to.equal(2);
      expect(ran.json.error, args.join(" ")).to.match(said);
      expect(ran.err.trim()).to.equal(ran.json.error);
    }
    const people = await operator("partner");
    expect([people.code, people.out]).to.deep.equal([2, ""]);
    expect(people.err)
      .to.match(/^Usage: operator partner /)
      .and.to.not.contain("outputHelp");
  });

  it("marks in --help what must be given, and says defaults in words", async () => {
    const help = async (...words: string[]) =>
      (await operator(...words, "--help")).out.replaceAll(/\s+/g, " ");
    for (const [words, options] of [
      [
        ["key", "issue"],
        ["--partner <id>", "--kind <secret|publishable>"],
      ],
      [
        ["account", "create"],
        ["--name <name>", "--role <viewer|operator>"],
      ],
      [
        ["incident", "open"],
        ["--title <text>", "--text <text>"],
      ],
      [["partner", "launch"], ["--until <time|now>"]],
    ] as const) {
      const text = await help(...words);
      const marked = [...text.matchAll(/(--[a-z-]+ <[^>]+>)(?:(?! --).)* \(required\)/g)];
      expect(marked.map(([, option]) => option)).to.deep.equal(options);
    }
    const runs = await help("runs", "list");
    expect(runs).to.contain("by default all").and.to.not.contain("default: 0");
    expect(await help("incident", "open")).to.not.contain("default: []");
    expect(await help("stations", "import")).to.contain("Arguments: files the files of the source");
  });

  it("names what cannot be taken as it is typed", async () => {
    const made = await operator("partner", "create", "--name", "Named", "--json");
    const partner = String(made.json.id);
    const issued = ["key", "issue", "--partner", partner, "--kind"];
    const { id } = (await operator(...issued, "secret", "--json")).json as { id: number };
    const rowsSql = "insert into stations (id, source, lat, lon) values ('n7', 'osm', 55, 37)";
    await rows(instance.db, rowsSql);
    const feed = ["feed", "add", "--source", "it-mimit", "--every"];
    const statuses = ["statuses", "import", "x.csv", "--format", "csv"];
    for (const [args, said] of [
      [["partner", "create", "--name", "x", "--rpm", "0"], /^--rpm: must be a whole number from 1/],
      [["doctor"], /^unknown command 'doctor': see `operator --help`$/],
      [
        ["key", "lst"],
        /^unknown command 'lst' \(Did you mean list\?\): see `operator key --help`$/,
      ],
      [["key", "revoke", "7", "--y"], /^unknown option '--y'.*: see `operator key revoke --help`$/],
      [["key", "revoke"], /^missing required argument 'id': see `operator key revoke --help`$/],
      [["stations", "import", "x".repeat(300)], /^x+: there is no such file; nothing was changed/],
      [
        ["source", "check", tmpdir()],
        /^\S+: this is a folder; nothing was changed. Name one file in it.$/,
      ],
      [["cities", "import", tmpdir()], /^\S+: this is a folder; /],
      [["statuses", "import", tmpdir(), "--format", "csv"], /^\S+: this is a folder; /],
      [["partner", "show", "x"], /^<id>: must be a whole number from 1 to \d+, not "x"$/],
      [["partner", "list", "--actor", " "], /^--actor: must not be empty$/],
      [["partner", "launch", partner, "--until", "2020-01-01"], /^--until: is in the past$/],
      [["partner", "launch", partner, "--until", "then"], /^--until: must be now, or "YYYY/],
      [["key", "update", String(id), "--confirm-min", "2"], /^--confirm-min: must be 0 for the/],
      [["key", "update", String(id), "--domains", "a.example"], /^--domains: a secret key is /],
      [[...issued, "secret", "--expires", "2020-01-01"], /^--expires: is in the past$/],
      [[...feed, "99999d"], /^--every: must be 31d at most, not "99999d"$/],
      [[...feed, "1d", "--alarm-after", "400d"], /^--alarm-after: must be 366d at most/],
      [[...feed, "1d", "--url", "ftp://it.example/a"], /^--url: an address should begin with http/],
      [[...feed, "1d", "--folder", "../a.csv"], /^--folder: a path should lie below FEEDS_FOLDER/],
      [
        ["feed", "run", "1", "--force", "all_no"],
        /^--force: must be one of .*all-no.*, not "all_no"$/,
      ],
      [["stations", "import", "x.csv", "--force", "half,moved,al-no"], /^--force: .*not "al-no"$/],
      [[...statuses, "--force", "swap"], /^--force: must be one of swapped, .*, not "swap"$/],
      [["network", "block", "x", "--until", "now"], /^<network>: must be 8 hex/],
      [["station", "edit", "n7", "--lat", "0", "--lon", "0"], /^--lat: 0, 0 is no place/],
      [["station", "edit", "n7", "--address", "x".repeat(201)], /^--address: must have at most/],
    ] as const) {
      const ran = await operator(...args, "--json");
      expect(
        [ran.code, ran.json.error],
        `${args.join(" ")}: ${ran.code} ${ran.json.error}`,
      ).to.satisfy(([code, error]: [number, string]) => code === 2 && said.test(error));
    }
  });

  it("shows a partner's limits and what it has used today", async () => {
    const { id } = (
      await operator("partner", "create", "--name", "Maps", "--daily", "100", "--json")
    ).json as { id: number };
    await rows(
      instance.db,
      `insert into usage_days (partner_id, day, audience, method, requests, not_modified, errors)
       select ?, (server_now() at time zone 'UTC')::date - back, audience, 'GET /stations', n, 1, 2
       from (values (0, 'partner', 30), (1, 'partner', 40), (0, 'widget', 5)) as v(back, audience, n)`,
      [id],
    );
    const [listed, shown, people] = await Promise.all([
      operator("partner", "list", "--json"),
      operator("partner", "show", String(id), "--days", "2", "--json"),
      operator("partner", "list"),
    ]);
    const today = { daily: 100, used_today: 30, remaining_today: 70, widget_today: 5 };
    expect(listed.json.find((one: { id: number }) => one.id === id)).to.include(today);
    expect(shown.json).to.include(today);
    const requests = (days: { requests: number }[]) => days.map((day) => day.requests);
    expect(requests(shown.json.usage)).to.deep.equal([30, 40]);
    expect(requests(shown.json.widget_usage)).to.deep.equal([5, 0]);
    expect(people.out.split("\n")[0]).to.match(/^id +name +enabled +rpm +daily +used_today/);
  });

  it("writes down who did what, and shows it by time, actor, action and subject", async () => {
    const made = await operator("partner", "create", "--name", "Log", "--json", "--actor", "olga");
    const partner = String(made.json.id);
    await operator("partner", "update", partner, "--rpm", "77", "--actor", "ivan");
    const list = async (...args: string[]) =>
      (await operator("log", "list", ...args, "--json")).json as Record<string, unknown>[];
    const all = await list("--subject", `partner ${partner}`);
    expect(all.map(({ actor, action }) => [actor, action])).to.deep.equal([
      ["ivan", "partner.update"],
      ["olga", "partner.create"],
    ]);
    expect(all[0]!["details"]).to.deep.equal({ before: { rpm: 120 }, after: { rpm: 77 } });
    expect(all[0]!["at"]).to.match(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
    expect(await list("--by", "ivan", "--action", "partner")).to.have.length(1);
    expect(await list("--by", "ivan", "--action", "partner.create")).to.have.length(0);
    expect(await list("--until", "2020-01-01")).to.have.length(0);
    expect(await list("--since", "2020-01-01", "--limit", "1")).to.have.length(1);
  });

  it("says of each setting where its value is from", async () => {
    const { json } = await operator("config", "--json");
    const named = (name: string) =>
      (json as { setting: string }[]).find(({ setting }) => setting === name);
    expect(named("PORT")).to.deep.include({ value: 0, source: "environment", default: 8080 });
    expect(named("REPORTER_PEPPER")).to.deep.include({ value: "set", source: "environment" });
    expect(named("POOL_MAX")).to.deep.include({ value: 10, source: "default" });
    for (const one of json as { meaning: string }[]) expect(one.meaning).to.not.equal("");
  });

  it("says beside the alarms what each kind means and what to look at, by commands that work", async () => {
    const kinds = Object.entries(alarmKinds);
    await inTransaction(instance.db, (tx) =>
      raiseAlarms(
        tx,
        ["a", "b"].flatMap((subject) =>
          kinds.map(([kind]) => ({ kind: kind as AlarmKind, subject, at: Date.now() })),
        ),
      ),
    );
    const [listed, people] = await Promise.all([
      operator("alarm", "list", "--json"),
      operator("alarm", "list"),
    ]);
    expect(listed.json).to.have.length(2 * kinds.length);
    for (const [kind, { meaning, command, page }] of kinds) {
      const shown = (listed.json as { kind: string }[]).find((alarm) => alarm.kind === kind);
      const place = { look_at: `operator ${command}`, console: `/console/#${page}` };
      expect(shown, kind).to.include({ meaning, ...place });
      expect(people.out.split(`\n${kind}: ${meaning}\n`), kind).to.have.length(2);
      expect((await operator(...command.split(" "))).code, command).to.equal(0);
    }
  });

  it("shows stations whose fold does not come to an end", async () => {
    await rows(
      instance.db,
      "insert into stations (id, source, lat, lon) values ('n1', 'osm', 55, 37)",
    );
    await rows(
      instance.db,
      `insert into station_status (station_id, refold) values ('n1', true)
       on conflict (station_id) do update set refold = true`,
    );
    const [depth, refolds] = await Promise.all([
      operator("queues", "--json"),
      operator("queues", "refolds", "--json"),
    ]);
    expect(depth.json[0]).to.include({ queue: "marks", stations_to_refold: 1 });
    expect(depth.err).to.match(/queues refolds/);
    expect(refolds.json).to.have.length(1);
    expect(refolds.json[0]).to.include({ station_id: "n1" });
  });
});
