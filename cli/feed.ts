import { readFileSync } from "node:fs";
import { Command } from "commander";
import { actVerb } from "#cli/act-verb.ts";
import { id, verb } from "#cli/command.ts";
import { withDb } from "#cli/instance.ts";
import { card, ExitError, type Output, table } from "#cli/output.ts";
import type { ConsoleFeed } from "#src/contract/console-imports.ts";
import { formatTime } from "#src/domain/time.ts";
import { dayS, hourS } from "#src/domain/units.ts";
import {
  addFeed,
  listFeeds,
  pauseFeed,
  removeFeed,
  resumeFeed,
  runFeed,
} from "#src/import/feeds/feeds.ts";
import { listRuns } from "#src/import/runs.ts";
import { unknown } from "#src/operators/act.ts";

/** `operator feed add|list|show|run|pause|resume|remove` (decisions 14.35). */
export function feedCommand(output: () => Output): Command {
  const command = new Command("feed").description(
    "sources whose files are fetched and imported by themselves",
  );
  const shown = (feed: { id: number }) => feed;
  const subject = ["<id>", "the feed's id"] as const;

  actVerb(command, output, addFeed, {
    name: "add",
    about: "fetch and import a source again and again; its first run comes at once",
    examples: [
      "feed add --source it-mimit --every 12h --replace-source true",
      "feed add --source it-mimit --every 1d --folder anagrafica*.csv --folder prezzo*.csv",
    ],
    options: {
      source: [
        "--source <name>",
        "a description by name or file, as `source list` and `source check` take it",
        { parse: named },
      ],
      every_s: ["--every <time>", "how often: 30m, 1h, 1d; 31d at most", { parse: duration(31) }],
      urls: [
        "--url <address>",
        "an address in place of the source's own; once for each of its files",
        { parse: oneMore },
      ],
      paths: [
        "--folder <path>",
        "a file below FEEDS_FOLDER, * for any letters in its name: the newest one; once for each file",
        { parse: oneMore },
      ],
      replace_source: [
        "--replace-source <true|false>",
        "take stations of this source out of service if they are not in its files",
      ],
      alarm_after_s: [
        "--alarm-after <time>",
        "tell an operator when nothing new has come for so long; by default three times --every, a day at least",
        { parse: duration(366) },
      ],
    },
    shown,
  });

  verb(command, "list", "all feeds, with their newest run", "feed list", "feed list --json").action(
    async () => {
      const feeds = await withDb(output(), (db) => listFeeds(db));
      output().result(feeds.map(readable), (list) =>
        table(list, "no feeds", [
          ...(["id", "source", "every_s", "state", "finished", "due", "failures"] as const),
          ...(["news", "silent"] as const),
        ]),
      );
    },
  );

  verb(command, "show", "one feed, and its newest runs with their results", "feed show 3 --json")
    .argument("<id>", "the feed's id", id)
    .action(async (feedId: number) => {
      const found = await withDb(output(), async (db) => {
        const [feed] = await listFeeds(db, feedId);
        if (feed === undefined) return unknown("feed", feedId);
        const runs = await listRuns(db, feedId);
        return { ...readable(feed), runs };
      });
      output().result(found, ({ runs, ...feed }) => {
        const lines = runs.map(({ id: run, state, started, finished, fault, summary }) => ({
          ...{ run, state, started: formatTime(started) },
          seconds: finished === null ? null : Math.round((finished - started) / 1000),
          result: fault ?? summary,
        }));
        return `${card(feed)}\n\n${table(lines, "no runs")}`;
      });
    });

  actVerb(command, output, runFeed, {
    name: "run",
    about: "run a feed now, and import its files even if they are those of before",
    examples: ["feed run 3", "feed run 3 --force all-no"],
    subject,
    options: {
      force: [
        "--force <list>",
        "guards that this run ignores, as the fault of the run before names them",
      ],
    },
    shown,
  });
  for (const [name, act, about] of [
    ["pause", pauseFeed, "run a feed no more until it is resumed"],
    ["resume", resumeFeed, "run a paused feed again, at once"],
    ["remove", removeFeed, "forget a feed; what it has imported stays"],
  ] as const)
    actVerb(command, output, act, { name, about, examples: [`feed ${name} 3`], subject, shown });
  return command;
}

const unitsS: Readonly<Record<string, number>> = { m: 60, min: 60, h: hourS, d: dayS };

/** A reader of `30m`, `12h`, `7d` in seconds, at most `days`. */
const duration =
  (days: number) =>
  (text: string): number => {
    const [, count = "", unit = ""] = /^([1-9]\d{0,4})(m|min|h|d)$/.exec(text) ?? [];
    if (unit === "") throw new ExitError(`must be a time such as 30m, 1h or 1d, not "${text}"`);
    const seconds = Number(count) * unitsS[unit]!;
    if (seconds > days * dayS) throw new ExitError(`must be ${days}d at most, not "${text}"`);
    return seconds;
  };

/** A name, or the description in a file. */
function named(text: string): string | object {
  if (!/[./\\]/.test(text)) return text;
  try {
    return JSON.parse(readFileSync(text, "utf8")) as object;
  } catch (error) {
    throw new ExitError(`must be a name or a JSON file: ${(error as Error).message}`);
  }
}

const oneMore = (text: string, before: readonly string[] = []): string[] => [...before, text];

const times = ["due", "news", "started", "finished"] as const;

const readable = (feed: ConsoleFeed) => ({
  ...{ ...feed, state: feed.paused ? "paused" : feed.state },
  ...Object.fromEntries(
    times.map((name) => [name, feed[name] === null ? null : formatTime(feed[name])]),
  ),
});
