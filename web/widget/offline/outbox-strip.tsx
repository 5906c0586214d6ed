import { minuteMs } from "#src/domain/units.ts";
import { refusalText } from "#web/widget/mark.ts";
import "#web/widget/offline/outbox.css";
import { drop, outbox } from "#web/widget/offline/outbox.ts";
import type { WaitingEntry } from "#web/widget/offline/waiting-entry.ts";
import { offlineWords } from "#web/widget/offline/words-offline.ts";
import { now } from "#web/widget/state.ts";
import { words } from "#web/widget/words.ts";

/** What waits for the network and can be dropped, and what was not taken when it was back. */
export const OutboxStrip = () => {
  if (outbox.value.length === 0) return null;
  return (
    <div class="outboxes">
      {[false, true].flatMap((isRefused) =>
        [true, false].map((isMark) => {
          const entries = outbox.value.filter(
            ({ refused, status }) =>
              (refused !== null) === isRefused && (status !== null) === isMark,
          );
          if (entries.length === 0) return null;
          const { waiting, notTaken } = offlineWords[isMark ? "marks" : "suggestions"];
          const title = (isRefused ? notTaken : waiting)(entries.length);
          return <Strip key={title} title={title} entries={entries} isOpen={isRefused} />;
        }),
      )}
    </div>
  );
};

interface Props {
  title: string;
  entries: readonly WaitingEntry[];
  isOpen: boolean;
}

const Strip = ({ title, entries, isOpen }: Props) => (
  <details class={`outbox${isOpen ? " bad" : ""}`} open={isOpen}>
    <summary>{title}</summary>
    <ul>
      {entries.map((entry) => (
        <li key={entry.id}>
          <span>
            {lineOf(entry)}
            {entry.refused === null ? null : <small>{reasonOf(entry.refused)}</small>}
          </span>
          <button
            type="button"
            class="button"
            aria-label={entry.refused === null ? offlineWords.dropOne(entry.title) : undefined}
            onClick={() => void drop(entry.id)}
          >
            {entry.refused === null ? offlineWords.drop : offlineWords.understood}
          </button>
        </li>
      ))}
    </ul>
  </details>
);

const lineOf = ({ title, status, saidAt }: WaitingEntry): string => {
  if (status === null) return offlineWords.suggested(title);
  const minutes = Math.max(0, Math.floor((now.value - saidAt) / minuteMs));
  return offlineWords.said(title, words.statusesInside[status], words.ago(minutes));
};

const reasonOf = (refused: NonNullable<WaitingEntry["refused"]>): string =>
  refused.code === "too-old" ? offlineWords.tooOld : refusalText(refused);
