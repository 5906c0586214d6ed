import { Command } from "commander";
import { actVerb, doAct, stationIdOf } from "#cli/act-verb.ts";
import { choice, degrees, line, verb } from "#cli/command.ts";
import { withDb } from "#cli/instance.ts";
import { card, ExitError, type Output, table } from "#cli/output.ts";
import type { HandSet } from "#src/contract/console.ts";
import { cleanText } from "#src/import/clean-text.ts";
import { unknown } from "#src/operators/act.ts";
import {
  addStation,
  editStation,
  findStation,
  type StationCard,
  stationTextMax,
} from "#src/stations/edit-station.ts";
import type { HandField } from "#src/stations/hand-edits.ts";
import {
  doubtfulPairs,
  joinsOf,
  keepStationsApart,
  mergeStation,
  splitStation,
} from "#src/stations/join-stations.ts";
import { closeStation, reopenStation } from "#src/stations/station-service.ts";

const idWords = "the station's id, or its source's own, also as source:id";

/** `operator station …`: one station corrected by hand (decisions 13.16), or made one with another (14.29). */
export function stationCommand(output: () => Output): Command {
  const command = new Command("station").description(
    "one station: correct it by hand, close and reopen it, make it one with another",
  );

  verb(command, "show", "one station, with what is set by hand", "station show n123 --json")
    .argument("<id>", idWords)
    .action(async (text: string) => {
      const found = await withDb(output(), async (db) => {
        const stationId = await stationIdOf(db, text);
        const station = await findStation(db, stationId);
        return station === null
          ? unknown("station", stationId)
          : { ...station, ...(await joinsOf(db, stationId)) };
      });
      output().result(found, ({ part_of: whole, parts, ...station }) =>
        [
          people(station),
          ...(whole === null ? [] : [`A part of station ${whole}.`]),
          ...parts.map(
            ({ id, source, actor, shows }) =>
              `Part: ${id} (${source}), joined by ${actor}${shows.length > 0 ? `; gives ${shows.join(", ")}` : ""}`,
          ),
        ].join("\n"),
      );
    });

  verb(
    command,
    "edit",
    "set what a station shows; imports leave it so until --from-file",
    'station edit n123 --name "АЗС 5" --brand Полюс',
    "station edit n123 --lat 55.75124 --lon 37.61842",
    'station edit n123 --grades 92,95,ДТ --hours "Mo-Su 06:00-23:00"',
    "station edit n123 --from-file name position",
  )
    .argument("<id>", idWords)
    .option("--name <name>", "its name", text(stationTextMax.name))
    .option("--brand <brand>", 'its brand; "" for none', text(stationTextMax.brand))
    .option("--address <address>", "its address", text(stationTextMax.addr))
    .option(
      "--grades <list>",
      'the grades that it sells, like 92,95,ДТ; "" for unknown',
      text(stationTextMax.grades_sold),
    )
    .option(
      "--hours <hours>",
      'its opening hours as OSM writes them; "" for unknown',
      text(stationTextMax.opening_hours),
    )
    .option("--lat <degrees>", "its latitude; together with --lon", degrees(90))
    .option("--lon <degrees>", "its longitude; together with --lat", degrees(180))
    .option(
      "--from-file <field...>",
      `back to the value of the imports: ${fieldNames.join(", ")}`,
      (word: string, before: FileField[] | undefined) => [...(before ?? []), fileField(word)],
    )
    .action(async (stationId: string, options: Changes) => {
      const out = output();
      if (Object.keys(options).length === 0)
        throw new ExitError("nothing to change: give at least one option");
      const { name, brand, address: addr, lat, lon, fromFile = [] } = options;
      const sales = { grades_sold: options.grades, opening_hours: options.hours };
      if ((lat === undefined) !== (lon === undefined))
        throw new ExitError("give --lat and --lon together");
      const position = lat === undefined || lon === undefined ? undefined : { lat, lon };
      const fromFields = fromFile.map((field): HandField => fileFields[field]);
      const given = { name, brand, addr, ...sales, position, from_file: fromFields };
      const wish = Object.fromEntries(
        Object.entries(given).filter(([, value]) => value !== undefined),
      );
      const edited = await doAct(out, editStation, wish, stationId);
      out.result(edited, ({ station, before, after }) => {
        const names = Object.keys(after) as HandField[];
        const changes = names.map((field) => [
          field,
          `${said(before[field])} → ${said(after[field])}`,
        ]);
        return `Changed\n${card(Object.fromEntries(changes))}\n\n${people(station)}`;
      });
    });

  actVerb(command, output, addStation, {
    name: "add",
    about: "add a station that no import has",
    examples: ['station add --name "АЗС 5" --lat 55.75124 --lon 37.61842'],
    options: {
      name: ["--name <name>", "its name"],
      brand: ["--brand <brand>", "its brand"],
      addr: ["--address <address>", "its address"],
      lat: ["--lat <degrees>", "its latitude", { parse: degrees(90) }],
      lon: ["--lon <degrees>", "its longitude", { parse: degrees(180) }],
    },
    shown: (added) => added,
  });
  const subject = ["<id>", idWords, (text: string) => text] as const;
  actVerb(command, output, closeStation, {
    name: "close",
    about: "take a station out of service; it stays closed when an import still has it",
    examples: ['station close n123 --comment "demolished"'],
    subject,
    options: { comment: ["--comment <text>", "why, for the operator's log"] },
    consent: [(id: string) => `Take station ${id} out of service?`, "nothing changed"],
    shown: (station) => station,
    people: (_, station) => people(station),
  });
  actVerb(command, output, reopenStation, {
    name: "reopen",
    about: "put a station in service again, whoever has taken it out",
    examples: ["station reopen n123"],
    subject,
    shown: (station) => station,
    people: (_, station) => people(station),
  });
  const pairVerb = (name: string, about: string, pairAct: typeof mergeStation): unknown =>
    verb(command, name, about, `station ${name} it-mimit-3474 n123`)
      .argument("<id>", idWords)
      .argument("<other>", "the id of the other station")
      .action(async (id: string, text: string) => {
        const out = output();
        const input = await withDb(out, async (db) => ({ other: await stationIdOf(db, text) }));
        const done = await doAct(out, pairAct, input, id);
        out.result(done, card);
      });
  pairVerb(
    "merge",
    "make a station a part of the other one, with its marks; its id answers with the other",
    mergeStation,
  );
  pairVerb(
    "keep-apart",
    "decide that two stations are two; no import joins them",
    keepStationsApart,
  );
  actVerb(command, output, splitStation, {
    name: "split",
    about: "take a station out of the one that it is a part of; no import joins the two again",
    examples: ["station split it-mimit-3474"],
    subject,
    shown: (done) => done,
  });
  verb(command, "doubtful", "pairs of stations that may be one", "station doubtful --json").action(
    async () =>
      output().result(await withDb(output(), doubtfulPairs), (pairs) =>
        table(
          pairs.map(({ station, into, evidence, distance_m }) => {
            return { id: station.id, into: into.id, distance_m, evidence: evidence.join(", ") };
          }),
          "no pairs wait for a decision",
        ),
      ),
  );
  return command;
}

/** The words of the command line for what can be set. */
export const fileFields = {
  ...({ name: "name", brand: "brand", address: "addr" } as const),
  ...({ grades: "grades_sold", hours: "opening_hours", position: "position" } as const),
};
type FileField = keyof typeof fileFields;
const fieldNames = Object.keys(fileFields) as FileField[];
export const fileField = choice(fieldNames);

interface Changes {
  name?: string;
  brand?: string;
  address?: string;
  grades?: string;
  hours?: string;
  lat?: number;
  lon?: number;
  fromFile?: FileField[];
}

const text = (most: number) => line(most, "may be empty");

/** A station for people; fields that are set by hand also show the imports' value. */
function people({ by_hand: hand, in_service: inService, lat, lon, ...facts }: StationCard): string {
  const { id: stationId, source, name, brand, addr } = facts;
  const beside = (field: keyof HandSet): string => {
    const value = hand[field];
    return value === null ? "" : `  (set by hand; the file has ${said(value as string)})`;
  };
  const service = { true: "  (kept by hand)", false: "  (closed by hand)", null: "" };
  return card({
    id: stationId,
    source,
    name: `${cleanText(name, shownMax)}${beside("name")}`,
    brand: `${cleanText(brand, shownMax)}${beside("brand")}`,
    address: `${cleanText(addr, shownMax)}${beside("addr")}`,
    grades: `${facts.grades_sold || "unknown"}${beside("grades_sold")}`,
    hours: `${cleanText(facts.opening_hours, shownMax) || "unknown"}${beside("opening_hours")}`,
    position: `${lat}, ${lon}${beside("position")}`,
    in_service: `${inService ? "yes" : "no"}${service[`${hand.in_service}`]}`,
  });
}

const shownMax = 300;

const said = (value: string | { lat: number; lon: number } | undefined): string =>
  typeof value === "object"
    ? `${value.lat}, ${value.lon}`
    : `"${cleanText(value ?? "", shownMax)}"`;
