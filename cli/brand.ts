import { Command } from "commander";
import { actVerb } from "#cli/act-verb.ts";
import { verb } from "#cli/command.ts";
import { withDb } from "#cli/instance.ts";
import { type Output, readable, table } from "#cli/output.ts";
import { aliasBrand, listAliases, listBrands, unaliasBrand } from "#src/import/brand-aliases.ts";

/** `operator brand list|aliases|alias|unalias` (decisions 14.25). */
export function brandCommand(output: () => Output): Command {
  const command = new Command("brand").description(
    "brands of the stations, and spellings that you give to a brand",
  );

  verb(
    command,
    "list",
    "the brands of the stations in service, most stations first, and who knows them",
    "brand list --unknown",
  )
    .option("--unknown", "only brands that neither the list nor an alias knows")
    .action(async ({ unknown = false }: { unknown?: boolean }) => {
      const brands = await withDb(output(), listBrands);
      const shown = unknown ? brands.filter(({ known }) => known === "no") : brands;
      output().result(shown.map(readable), (list) => table(list, "no such brands"));
    });

  verb(command, "aliases", "the spellings that you have given to a brand", "brand aliases").action(
    async () => {
      const aliases = await withDb(output(), listAliases);
      output().result(aliases.map(readable), (list) => table(list, "no aliases"));
    },
  );

  const subject = ["<spelling>", "a spelling of the brand, as files write it"] as const;
  actVerb(command, output, aliasBrand, {
    name: "alias",
    about:
      "give a spelling to a brand: for imports, for the filter, and for the stations in service",
    examples: ['brand alias "Полюс плюс" --brand Полюс', 'brand alias "Private" --brand ""'],
    subject,
    options: { brand: ["--brand <name>", 'the brand as it is to be served; "" for none'] },
    shown: readable,
    notes: ({ left }) =>
      left === 0
        ? []
        : [`${left} more stations have this spelling: run the command again, or import their file`],
  });
  actVerb(command, output, unaliasBrand, {
    name: "unalias",
    about: "take an alias away; stations keep their brand until an import says otherwise",
    examples: ['brand unalias "Полюс плюс"'],
    subject,
    shown: readable,
  });
  return command;
}
