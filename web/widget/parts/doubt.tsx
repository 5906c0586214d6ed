import { useSignal } from "@preact/signals";
import type { Station } from "#web/widget/api.ts";
import { isOwnMark } from "#web/widget/device.ts";
import { confirmMark, type Result } from "#web/widget/mark.ts";
import { StatusSign } from "#web/widget/parts/status-sign.tsx";
import { words } from "#web/widget/words.ts";

interface Props {
  station: Station;
  /** Whether marks are taken here. */
  reports: boolean;
  onDone: (result: Result) => void;
}

/** What is said and not served: a dispute with both its sides, or a mark that waits, and the button to confirm it. */
export const Doubt = ({ station: { id, fuel }, reports, onDone }: Props) => {
  const sending = useSignal(false);
  if (fuel.conflict !== null) {
    return (
      <div class="doubt conflict">
        <strong>{words.conflict}</strong>
        <ul>
          {fuel.conflict.versions.map(({ status, count }) => (
            <li key={status}>
              <StatusSign status={status} size={18} />
              {words.conflictSide(words.statuses[status], count)}
            </li>
          ))}
        </ul>
      </div>
    );
  }
  const pending = fuel.pending_status;
  if (pending === "") return null;
  const own = isOwnMark(id, pending);
  const confirm = async (): Promise<void> => {
    sending.value = true;
    onDone(await confirmMark(id, pending));
    sending.value = false;
  };
  return (
    <div class="doubt">
      <p>
        <StatusSign status={pending} size={18} />
        <span>
          <strong>{words.pending(words.statusesInside[pending])}</strong>
          {`, ${words.pendingBy(fuel.pending_count)}`}
        </span>
      </p>
      {own ? <p class="hint">{words.pendingOwn}</p> : null}
      {own || !reports ? null : (
        <button
          type="button"
          class="button"
          disabled={sending.value}
          onClick={() => void confirm()}
        >
          {sending.value ? words.sending : words.confirm(words.statusesInside[pending])}
        </button>
      )}
    </div>
  );
};
