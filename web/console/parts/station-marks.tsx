import { Button } from "#web/kit/button.tsx";
import { useOlder } from "#web/console/parts/use-older.ts";
import type { ConsoleMark } from "#src/contract/console.ts";
import type { ConsoleChance } from "#src/contract/console-review.ts";
import { minuteMs } from "#src/domain/units.ts";
import { metres } from "#web/console/parts/mini-map.tsx";
import { Status } from "#web/console/parts/status.tsx";
import { outcomeWords, ruleWords } from "#web/console/reasons.ts";
import { say, sayWith, type Text } from "#web/console/words.ts";
import { Fault } from "#web/kit/fault.tsx";
import { Table } from "#web/kit/table.tsx";
import { Moment } from "#web/kit/time.tsx";

/** Every mark that was made on a station, the newest first, and the way to the older ones. */
export function StationMarks({
  id,
  first,
  next,
  chances,
}: {
  id: string;
  first: ConsoleMark[];
  next: number | null;
  /** What the marks of the last days did to the chance. */
  chances: ConsoleChance["marks"];
}) {
  const path = `/stations/${encodeURIComponent(id)}?`;
  const { entries, more, fault } = useOlder("marks", path, { marks: first, next });
  const moved = new Map(chances.map((one) => [one.id, one]));
  return (
    <div class="card">
      <h2>{say("Marks")}</h2>
      <Table
        caption={say("Marks of this station")}
        rows={entries}
        id={(mark) => mark.id}
        empty={say("No marks for this station yet.")}
        columns={[
          ...columns,
          {
            name: say("Chance"),
            cell: ({ id }) => {
              const one = moved.get(id);
              if (one === undefined) return "–";
              const before = one.before === null ? "–" : `${one.before} %`;
              return `${before} → ${one.after} %`;
            },
          },
        ]}
      />
      <Fault words={fault} />
      {more !== null && <Button words={say("Load older marks")} onClick={more} />}
    </div>
  );
}

const sources: Record<ConsoleMark["source"], Text> = {
  partner: "partner",
  widget: "widget",
  demo: "demo",
};

const columns = [
  {
    name: say("Made at"),
    by: ({ effective }: ConsoleMark) => effective,
    cell: ({ effective, received }: ConsoleMark) => (
      <>
        <Moment at={effective} />
        {received - effective > minuteMs && (
          <div class="soft">{sayWith("received {time}", { time: <Moment at={received} /> })}</div>
        )}
      </>
    ),
  },
  {
    name: say("Status"),
    by: ({ status }: ConsoleMark) => status,
    cell: ({ status, express, comment }: ConsoleMark) => (
      <>
        <Status status={status} />
        {express && <span class="tag">{say("express")}</span>}
        {comment !== null && <div class="said-by">{comment}</div>}
      </>
    ),
  },
  {
    name: say("Outcome"),
    by: outcomeWords,
    cell: (mark: ConsoleMark) => <span class={`tag ${tone(mark)}`}>{outcomeWords(mark)}</span>,
  },
  {
    name: say("Needs"),
    cell: ({ needed, rule, have }: ConsoleMark) => (
      <>
        {say("{have} of {needed}", { have: String(have ?? 0), needed: String(needed) })}{" "}
        <div class="soft">{ruleWords[rule]}</div>
      </>
    ),
  },
  {
    name: say("From"),
    by: ({ reporter_id: reporter }: ConsoleMark) => reporter,
    cell: ({ reporter_id: reporter, source, key_id: key, distance_m: away }: ConsoleMark) => (
      <>
        <a href={`#/rollback?reporter=${reporter}`}>{say("reporter #{id}", { id: reporter })}</a>
        <div class="soft">
          {say(sources[source])}
          {key !== null && `, ${say("key #{id}", { id: key })}`}
          {away !== null && `, ${say("{distance} away", { distance: metres(away) })}`}
        </div>
      </>
    ),
  },
];

function tone({ review, outcome, failure }: ConsoleMark): string {
  if (failure !== null || review === "rejected" || review === "withdrawn") return "bad";
  if (review === "expired") return "";
  if (outcome === "published" || outcome === "confirmed") return "good";
  return outcome === "held" || outcome === "conflict" ? "warn" : "";
}
