import type { ComponentChildren } from "preact";
import type { ConsoleHealth } from "#src/contract/console.ts";
import { say, saySentence, sayWith } from "#web/console/words.ts";
import { Ago } from "#web/kit/time.tsx";

/** The parts of a web process, as `/readyz` names them. */
const names: Readonly<Record<string, string>> = {
  keys: say("Keys"),
  stations: say("Feed of changes"),
  snapshot: say("Data from the database"),
  dump: say("Dump of the country"),
  duties: say("Periodic duties"),
  folding: say("Calculation of stations"),
  alarms: say("Sending of alarms"),
  redis: "Redis",
  database: say("The database"),
  eviction: say("Memory of Redis"),
  clock: say("Clocks"),
  rows: say("Rows of the database"),
  stored: say("What is stored in Redis"),
  proxies: say("Proxies before this process"),
  stopping: say("the process is stopping"),
};

/** A part's name in words; a part of a later version keeps the server's name. */
export const partName = (part: string): string => names[part] ?? part;

/** The state of each part of the process, in words. */
export const HealthParts = ({
  checks,
  degradedIs,
}: {
  checks: ConsoleHealth["checks"];
  /** Whether the process serves in spite of its degraded parts. */
  degradedIs: "warn" | "bad";
}) => (
  <ul class="parts card">
    {Object.entries(checks).map(([part, { ok, says = [], detail }]) => (
      <li key={part} class={ok ? "ok" : degradedIs}>
        <span aria-hidden="true">{ok ? "✓" : "!"}</span> {partName(part)}
        <span class="soft"> {ok ? say("OK") : say("degraded")}</span>
        {says.map((sentence) => {
          const text = saySentence(sentence);
          return (
            <div key={text} class="soft">
              {text}
            </div>
          );
        })}
        {detail !== undefined && (
          <div class="soft">
            {figures[part]?.(detail as Figures) ?? <span lang="en">{JSON.stringify(detail)}</span>}
          </div>
        )}
      </li>
    ))}
  </ul>
);

/** Figures in the details of parts; each part has its own. */
interface Figures {
  count: number;
  seq: number;
  age_ms: number | null;
  age_s: number;
  sets: number;
  open: number;
  failing?: Record<string, number>;
  off: string[];
}

const agoOf = (ms: number) => <Ago at={Date.now() - ms} />;
const neverRead = say("not read yet");

const figures: Record<string, (detail: Figures) => ComponentChildren> = {
  keys: ({ count, age_ms: ms }) =>
    ms === null ? neverRead : sayWith("{n} {n|key|keys}, read {ago}", { n: count, ago: agoOf(ms) }),
  stations: ({ seq, age_ms: ms }) =>
    ms === null
      ? neverRead
      : sayWith("up to change {seq}, read {ago}", { seq: String(seq), ago: agoOf(ms) }),
  dump: ({ seq, age_s: s, sets }) =>
    sayWith("up to change {seq}, made {ago}; kept for {n} {n|filter|filters}", {
      ...{ seq: String(seq), ago: agoOf(s * 1000), n: sets },
    }),
  clock: ({ off }) =>
    off.length === 0 ? say("all clocks agree") : say("wrong: {clocks}", { clocks: off.join(", ") }),
  stored: (counts) =>
    say("{n} damaged so far", { n: Object.values(counts).reduce((all, n) => all + Number(n), 0) }),
  alarms: ({ open, failing = {} }) =>
    Object.keys(failing).length === 0
      ? say("{n} open", { n: open })
      : say("{n} open; not sent by: {channels}", {
          ...{ n: open, channels: Object.keys(failing).join(", ") },
        }),
};
