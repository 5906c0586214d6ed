import { Command } from "commander";
import { verb } from "#cli/command.ts";
import { withDb } from "#cli/instance.ts";
import { card, table, type Output } from "#cli/output.ts";
import { choice, entries, id, line } from "#cli/values.ts";
import { shownDays } from "#src/alarms/service/days.ts";
import { listIncidents, openIncident, tellIncident } from "#src/alarms/service/incidents.ts";
import { type Feed, feeds } from "#src/domain/service-state.ts";
import { formatTime } from "#src/domain/time.ts";
import { createLog } from "#src/infrastructure/log.ts";
import { createQuarantine } from "#src/infrastructure/quarantine.ts";

const text = (most: number) => line(most, "not empty");
const feedsOf = (given: string): Feed[] => entries(given).map(choice(feeds));

interface Told {
  text: string;
  textRu?: string;
}

/** `operator incident open|update|close|list`: what `/status` tells everybody (decisions 16.34). */
export function incidentCommand(output: () => Output): Command {
  const command = new Command("incident").description(
    "incidents in your own words, which /status shows to everybody",
  );

  verb(
    command,
    "open",
    "tell everybody of an incident",
    'incident open --title "Dumps are late" --text "We make them by hand meanwhile." --feeds dumps',
  )
    .requiredOption("--title <text>", "in English, at most 120 characters", text(120))
    .requiredOption("--text <text>", "what is known, in English", text(1000))
    .option("--title-ru <text>", "the title in Russian", text(120))
    .option("--text-ru <text>", "the text in Russian", text(1000))
    .option("--feeds <list>", `what it touches, of ${feeds.join(",")}; all without it`, feedsOf, [])
    .action(async (given: Told & { title: string; titleRu?: string; feeds: Feed[] }) => {
      const { actor, result } = output();
      const title = { en: given.title, ru: given.titleRu ?? null };
      const told = { title, text: textOf(given), feeds: given.feeds };
      result(await withDb(output(), (db) => openIncident(db, actor, told)), card);
    });

  const telling = (name: string, end: "close" | "stays open", description: string): void => {
    verb(command, name, description, `incident ${name} 3 --text "The disk has been replaced."`)
      .argument("<id>", "the incident's id", id)
      .requiredOption("--text <text>", "what is known now, in English", text(1000))
      .option("--text-ru <text>", "the text in Russian", text(1000))
      .action(async (incident: number, given: Told) => {
        const { actor, result } = output();
        const told = await withDb(output(), (db) =>
          tellIncident(db, actor, incident, textOf(given), end),
        );
        result(told, card);
      });
  };
  telling("update", "stays open", "tell more about an open incident");
  telling("close", "close", "say that an incident is over, and why");

  verb(
    command,
    "list",
    `open incidents, and those of the last ${shownDays} days`,
    "incident list",
    "incident list --json",
  ).action(async () => {
    const incidents = await withDb(output(), (db) =>
      listIncidents(db, shownDays, createQuarantine(silent)),
    );
    const lines = incidents.map(({ id, title, feeds, opened, closed, updates }) => ({
      ...{ id, title: title.en, feeds, opened: formatTime(opened) },
      closed: closed === null ? null : formatTime(closed),
      last: updates.at(-1)!.text.en,
    }));
    output().result(lines, (list) => table(list, "no incidents"));
  });
  return command;
}

const silent = createLog({ logLevel: "silent" }, "operator");
const textOf = ({ text, textRu }: Told) => ({ en: text, ru: textRu ?? null });
