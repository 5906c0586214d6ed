import { Command } from "commander";
import { actVerb } from "#cli/act-verb.ts";
import { listLimit, verb } from "#cli/command.ts";
import { withDb } from "#cli/instance.ts";
import { type Output, table } from "#cli/output.ts";
import { formatTime } from "#src/domain/time.ts";
import { decideSuggestion, openSuggestions, undoSuggestion } from "#src/stations/suggestions.ts";

/** `operator suggestion …`: what drivers say of stations themselves (decisions 15.47). */
export function suggestionCommand(output: () => Output): Command {
  const command = new Command("suggestion").description(
    "what drivers say of stations themselves: gone, closed, elsewhere, missing",
  );
  verb(command, "list", "open ones, those that say the same together", "suggestion list --json")
    .option("--limit <n>", "highest number to show", listLimit, 200)
    .action(async ({ limit }: { limit: number }) => {
      const open = await withDb(output(), (db) => openSuggestions(db, limit));
      const listed = open.map(({ first, station, ...one }) => {
        return { ...one, name: station?.name ?? "", first: formatTime(first) };
      });
      output().result(listed, (list) =>
        table(
          list.map(({ places, texts, ...one }) => ({
            ...{ ...one, texts: texts.length },
            place: places[0] === undefined ? "" : `${places[0].lat}, ${places[0].lon}`,
          })),
          "no suggestions are open",
        ),
      );
    });
  const subject = ["<id>", "the suggestion's id"] as const;
  for (const [name, about, act] of [
    [
      "done",
      "note that it was right and is dealt with; the station stays as it is",
      decideSuggestion.done,
    ],
    ["dismiss", "note that it is not so", decideSuggestion.dismiss],
    ["undo", "open it again", undoSuggestion],
  ] as const)
    actVerb(command, output, act, {
      ...{ name, about, subject, examples: [`suggestion ${name} 4`] },
      shown: (done) => done,
    });
  return command;
}
