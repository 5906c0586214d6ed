import { Button } from "#web/kit/button.tsx";
import type { ConsoleHeldMark, ConsoleReporter } from "#src/contract/console-review.ts";
import { minuteMs } from "#src/domain/units.ts";
import { mayChange } from "#web/console/api.ts";
import { BlockButtons } from "#web/console/parts/block-buttons.tsx";
import { MiniMap } from "#web/console/parts/mini-map.tsx";
import { ReporterFacts } from "#web/console/parts/reporter-facts.tsx";
import { Status } from "#web/console/parts/status.tsx";
import { say, sayWith } from "#web/console/words.ts";
import { Ago, Moment } from "#web/kit/time.tsx";

interface Props {
  mark: ConsoleHeldMark;
  others: readonly ConsoleHeldMark[];
  chosen: boolean;
  busy: boolean;
  choose: (on: boolean) => void;
  approve: () => void;
  reject: () => void;
}

/** One held mark with its place, its reporter and other marks from the same source. */
export function HeldMark({ mark, others, chosen, busy, choose, approve, reject }: Props) {
  const { id, station_id: stationId, station, status, served, effective, received } = mark;
  const about = say("the mark at {station}", { station });
  return (
    <article class="card held" aria-labelledby={`mark-${id}`}>
      <MiniMap mark={mark} others={others} />
      <div>
        <div class="title">
          <h2 id={`mark-${id}`} tabIndex={-1}>
            <a href={`#/stations/${stationId}`}>{station === "" ? stationId : station}</a>
          </h2>
          {mayChange() && (
            <label class="choose">
              <input
                type="checkbox"
                checked={chosen}
                onChange={({ currentTarget }) => choose(currentTarget.checked)}
              />
              {say("select")}
              <span class="unseen"> {about}</span>
            </label>
          )}
        </div>
        <p>
          <Status status={status} /> <span class="soft">{say("marked")}</span>{" "}
          <Ago at={effective} />
          {received - effective > minuteMs && (
            <span class="soft">
              {" "}
              {sayWith("(received {time})", { time: <Moment at={received} /> })}
            </span>
          )}
          <span class="soft"> · {say("shown now:")}</span> <Status status={served} />
        </p>
        {mark.comment !== null && <p class="said-by">{mark.comment}</p>}
        <p>
          <span class="soft">{say("Source:")}</span> <Source mark={mark} />
        </p>
        <p>
          <span class="soft">{say("Reporter:")}</span> <Reporter reporter={mark.reporter} />
        </p>
        {mayChange() && (
          <div class="buttons">
            <Button words={say("Approve")} of={about} disabled={busy} onClick={approve} />
            <Button words={say("Reject")} of={about} disabled={busy} onClick={reject} />
            <BlockButtons mark={mark} />
          </div>
        )}
      </div>
    </article>
  );
}

const Source = ({ mark }: { mark: ConsoleHeldMark }) => (
  <>
    {mark.partner === null ? (
      say("the map itself")
    ) : (
      <a href={`#/partners/${mark.partner_id}`}>{mark.partner}</a>
    )}
    {", "}
    {mark.source === "widget"
      ? say("a driver on the map")
      : say("key #{id}", { id: String(mark.key_id) })}
    {": "}
    {say(
      "{n} “no” {n|mark|marks} by {reporters} {reporters|newcomer|newcomers} in the hour before.",
      {
        n: String(mark.source_no),
        reporters: String(mark.source_reporters),
      },
    )}{" "}
    {mark.key_id !== null && (
      <a href={`#/rollback?key=${mark.key_id}&status=no`}>{say("Withdraw its marks …")}</a>
    )}
  </>
);

const Reporter = ({ reporter }: { reporter: ConsoleReporter }) => (
  <>
    <ReporterFacts reporter={reporter} />{" "}
    <a href={`#/rollback?reporter=${reporter.id}`}>{say("Withdraw its marks …")}</a>
  </>
);
