import type { Status } from "#src/domain/vocabulary.ts";
import type { Station } from "#web/widget/api.ts";
import { isOwnMark } from "#web/widget/device.ts";
import { StatusSign } from "#web/widget/parts/status-sign.tsx";
import { askForMark } from "#web/widget/position.ts";
import { sendSoon } from "#web/widget/sending.ts";
import { words } from "#web/widget/words.ts";

interface Props {
  station: Station;
  /** Whether marks are taken here now. */
  reports: boolean;
}

/** Marks that are not served: a dispute with both its sides, or a mark that waits, and a button for each. */
export const Doubt = ({ station: { id, fuel }, reports }: Props) => {
  const say = (what: "report" | "confirm", status: Status) => (): void => {
    askForMark();
    sendSoon({ stationId: id, what, statement: { status } });
  };
  if (fuel.conflict !== null) {
    return (
      <div class="doubt conflict">
        <strong>{words.conflict}</strong>
        <ul>
          {fuel.conflict.versions.map(({ status, count }) => (
            <li key={status}>
              <StatusSign status={status} size={18} />
              <span>{words.conflictSide(words.statuses[status], count)}</span>
              {!reports || isOwnMark(id, status) ? null : (
                <button type="button" class="button" onClick={say("report", status)}>
                  {words.confirm(words.statusesInside[status])}
                </button>
              )}
            </li>
          ))}
        </ul>
      </div>
    );
  }
  const pending = fuel.pending_status;
  if (pending === "") return null;
  const own = isOwnMark(id, pending);
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
        <button type="button" class="button" onClick={say("confirm", pending)}>
          {words.confirm(words.statusesInside[pending])}
        </button>
      )}
    </div>
  );
};
