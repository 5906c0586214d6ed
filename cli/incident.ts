import { Command } from "commander";
import { actVerb } from "#cli/act-verb.ts";
import { line, verb } from "#cli/command.ts";
import { withDb } from "#cli/instance.ts";
import { table, type Output } from "#cli/output.ts";
import { shownDays } from "#src/alarms/service/days.ts";
import {
  closeIncident,
  editIncident,
  listIncidents,
  openIncident,
  updateIncident,
} from "#src/alarms/service/incidents.ts";
import { feeds } from "#src/domain/service-state.ts";
import { formatTime } from "#src/domain/time.ts";
import { createLog } from "#src/infrastructure/log.ts";
import { createQuarantine } from "#src/infrastructure/quarantine.ts";

const text = (most: number) => line(most, "not empty");

/** `operator incident open|update|edit|close|list`: the public incidents of `/status` (decisions 16.34). */
export function incidentCommand(output: () => Output): Command {
  const command = new Command("incident").description(
    "incidents in your own words, which /status shows to everybody",
  );

  const russian = ["--text-ru <text>", "the text in Russian", { parse: text(1000) }] as const;
  actVerb(command, output, openIncident, {
    name: "open",
    about: "tell everybody of an incident",
    examples: [
      'incident open --title "Dumps are late" --text "We make them by hand meanwhile." --feeds dumps',
    ],
    options: {
      title: ["--title <text>", "in English, at most 120 characters"],
      text: ["--text <text>", "what is known, in English"],
      title_ru: ["--title-ru <text>", "the title in Russian", { parse: text(120) }],
      text_ru: russian,
      feeds: ["--feeds <list>", `what it touches, of ${feeds.join(",")}; all without it`],
    },
    shown: (incident) => incident,
  });
  for (const [name, act, about] of [
    ["update", updateIncident, "tell more about an open incident"],
    ["close", closeIncident, "say that an incident is over, and why"],
  ] as const)
    actVerb(command, output, act, {
      ...{ name, about },
      examples: [`incident ${name} 3 --text "The disk has been replaced."`],
      subject: ["<id>", "the incident's id"],
      options: { text: ["--text <text>", "what is known now, in English"], text_ru: russian },
      shown: (incident) => incident,
    });

  actVerb(command, output, editIncident, {
    name: "edit",
    about: "correct the title or the newest text of an incident; the log keeps the former words",
    examples: ['incident edit 3 --text "The disk has been replaced."'],
    subject: ["<id>", "the incident's id"],
    options: {
      title: ["--title <text>", "in English", { parse: text(120) }],
      title_ru: ["--title-ru <text>", "the title in Russian", { parse: text(120) }],
      text: ["--text <text>", "the newest text, in English", { parse: text(1000) }],
      text_ru: russian,
    },
    shown: (incident) => incident,
  });

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
