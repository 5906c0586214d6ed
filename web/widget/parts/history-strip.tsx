import { useSignal } from "@preact/signals";
import { useEffect, useId } from "preact/hooks";
import { hasFuel } from "#src/domain/grade-answer.ts";
import { parseTime } from "#src/domain/time.ts";
import { hourMs } from "#src/domain/units.ts";
import type { ServedStatus } from "#src/domain/vocabulary.ts";
import { ask, type Station } from "#web/widget/api.ts";
import { historyWords } from "#web/widget/history-words.ts";
import "#web/widget/parts/history-strip.css";
import { roomOf } from "#web/widget/parts/last-hours.tsx";
import { StatusSign } from "#web/widget/parts/status-sign.tsx";
import { usualRefill } from "#web/widget/usual-refill.ts";
import { words } from "#web/widget/words.ts";

interface History {
  as_of: string;
  runs: { status: ServedStatus; from: string; to: string | null }[];
}

interface Segment {
  status: ServedStatus;
  /** ms */
  from: number;
  to: number;
  /** The share of the whole, 0 to 1. */
  part: number;
}

const hours = 48;
/** What is told of when the station is refilled is of so long. */
const daysAsked = 7;
/** Narrower ones have no room for a sign. */
const signedPart = 0.09;

/** A station's statuses of the last 48 hours: as a strip, and as sentences for screen readers. */
export const HistoryStrip = ({ station }: { station: Station }) => {
  const { id, fuel } = station;
  const history = useSignal<History | null>(null);
  /** Nobody answers. */
  const isSilent = useSignal(false);
  const name = useId();
  useEffect(() => {
    const stop = new AbortController();
    const path = `/stations/${encodeURIComponent(id)}/history?hours=${daysAsked * 24}`;
    void ask<History>(path, { signal: stop.signal }).then((told) => {
      if (told.kind === "ok") history.value = told.body;
      else isSilent.value = true;
    });
    return () => stop.abort();
    // A new mark has changed it.
  }, [id, fuel.status, fuel.updated]);
  const segments = history.value === null ? [] : segmentsOf(history.value);
  if (history.value === null && !isSilent.value) return <div class={roomOf(station)} />;
  if (segments.every(({ status }) => status === "nodata")) return null;
  const usual = usualRefill(refillsOf(history.value!.runs));
  return (
    <section class="last-hours" aria-labelledby={name}>
      <h3 id={name}>{historyWords.title}</h3>
      <div class="strip" aria-hidden="true">
        {segments.map(({ status, from, to, part }) => (
          <span
            key={from}
            class={`part ${status}`}
            style={{ flexGrow: part }}
            title={historyWords.span(words.statuses[status], from, to)}
          >
            {part >= signedPart && status !== "nodata" ? (
              <StatusSign status={status} size={16} />
            ) : null}
          </span>
        ))}
      </div>
      <p class="scale" aria-hidden="true">
        <span>{historyWords.ago(hours)}</span>
        <span>{historyWords.ago(hours / 2)}</span>
        <span>{historyWords.now}</span>
      </p>
      {usual === null ? null : <p>{historyWords.refilled(usual, daysAsked)}</p>}
      <details>
        <summary>{historyWords.asText}</summary>
        <ol reversed>
          {segments.toReversed().map(({ status, from, to }) => (
            <li key={from}>{historyWords.span(words.statuses[status], from, to)}</li>
          ))}
        </ol>
      </details>
    </section>
  );
};

function segmentsOf({ as_of, runs }: History): Segment[] {
  const end = parseTime(as_of)!;
  const start = end - hours * hourMs;
  return runs
    .map((run) => ({
      status: run.status,
      from: Math.max(start, parseTime(run.from) ?? start),
      to: (run.to === null ? null : parseTime(run.to)) ?? end,
    }))
    .filter(({ to }) => to > start)
    .map((run) => ({ ...run, part: Math.max(0, (run.to - run.from) / (end - start)) }));
}

/** The viewer's hours at which fuel came where there was none. */
const refillsOf = (runs: History["runs"]): number[] =>
  runs
    .filter(({ status }, at) => hasFuel(status) && runs[at - 1]?.status === "no")
    .map(({ from }) => new Date(from).getHours());
