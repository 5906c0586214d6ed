import { readFileSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { settings } from "#src/infrastructure/config.ts";
import { alarmSettings } from "#src/infrastructure/settings/alarms.ts";
import { callerSettings } from "#src/infrastructure/settings/callers.ts";
import { marksSettings } from "#src/infrastructure/settings/marks.ts";
import { processSettings } from "#src/infrastructure/settings/process.ts";
import { feedSettings } from "#src/infrastructure/settings/feeds.ts";
import { webhookSettings } from "#src/infrastructure/settings/webhooks.ts";
import { streamSettings } from "#src/infrastructure/settings/streams.ts";
import { workSettings } from "#src/infrastructure/settings/work.ts";

const document = new URL("../../docs/settings.md", import.meta.url);
const begin =
  "<!-- the tables: written by `WRITE_DOCS=1 npm test -- test/infrastructure/settings-document.test.ts` -->";

type Group = Record<string, { env: string; fallback: unknown; meaning: string }>;
const groups: [title: string, settings: Group][] = [
  ["A process", processSettings],
  ["Callers and pages", callerSettings],
  ["Streams of changes", streamSettings],
  ["Rules of marks", marksSettings],
  ["Work", workSettings],
  ["Alarms", alarmSettings],
  ["Webhooks and notifications", webhookSettings],
  ["Feeds", feedSettings],
];

describe("docs/settings.md", () => {
  it("names every setting with its default and meaning", () => {
    const [head] = readFileSync(document, "utf8").split(begin);
    const tables = groups.map(([title, group]) => `## ${title}\n\n${tableOf(group)}`);
    const wanted = `${head}${begin}\n\n${tables.join("\n\n")}\n`;
    if (process.env["WRITE_DOCS"] === "1") writeFileSync(document, wanted);
    else expect(readFileSync(document, "utf8")).to.equal(wanted);
    const shown = groups.flatMap(([, group]) => Object.keys(group));
    expect(shown.toSorted()).to.deep.equal(Object.keys(settings).toSorted());
  });
});

const tableOf = (group: Group): string =>
  [
    "| Setting | Default | Meaning |\n| --- | --- | --- |",
    ...Object.values(group).map(
      ({ env, fallback, meaning }) => `| \`${env}\` | ${shown(fallback)} | ${meaning} |`,
    ),
  ].join("\n");

const shown = (fallback: unknown): string => {
  const text = Array.isArray(fallback) ? fallback.join(",") : String(fallback);
  return text === "" ? "" : `\`${text}\``;
};
