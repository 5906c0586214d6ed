import type { ComponentChildren } from "preact";
import type { ConsoleHealth } from "#src/contract/console.ts";
import { hear } from "#web/console/heard.ts";
import { say, sayWith, type Said } from "#web/console/words.ts";
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
    {Object.entries(checks).map(([part, { ok, detail }]) => (
      <li key={part} class={ok ? "ok" : degradedIs}>
        <span aria-hidden="true">{ok ? "✓" : "!"}</span> {partName(part)}
        <span class="soft"> {ok ? say("OK") : say("degraded")}</span>
        {detail !== undefined && <div class="soft">{detailWords(part, detail)}</div>}
      </li>
    ))}
  </ul>
);

function detailWords(part: string, detail: unknown): ComponentChildren {
  if (typeof detail === "string")
    return detail
      .split("; ")
      .map((text) => (
        <div key={text}>{hear(sentences, text) ?? <Unknown part={part} text={text} />}</div>
      ));
  return figures[part]?.(detail as Figures) ?? <span lang="en">{JSON.stringify(detail)}</span>;
}

/** A setting of Redis as it stands there, or a sentence of a later version. */
const Unknown = ({ part, text }: { part: string; text: string }) =>
  part === "eviction" ? <code>{text}</code> : <span lang="en">{text}</span>;

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

/** The server's sentences about parts. */
const sentences = [
  "none yet",
  "on time",
  "unknown",
  "unknown without Redis",
  "unknown without Postgres",
  "every station can be folded",
  "every row can be read",
  "set aside: {rows}",
  "not measured",
  "takes writes",
  "takes no writes: the database is read-only",
  "takes no writes: the disk of the database is full",
  "has gone back to an earlier state, upkeep is to follow it",
  "collation version {versions}",
  "serving from the snapshot of {time} until the database is back",
  "clock: no clock process has enqueued anything for {s} s, so no duty runs",
  "{duty}: has not succeeded for {s} s, though a clock enqueues it",
  "{duty}: was noted {s} s in the future: the time of a process is wrong",
  "{station}: Postgres broke off its refold ({code}) since {time}",
  "{station}: its refold fails ({error}) since {time}",
  "{n} more",
] as const satisfies readonly Said[];
