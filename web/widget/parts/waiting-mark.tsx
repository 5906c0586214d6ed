import { hold, sendNow, undo, waiting } from "#web/widget/sending.ts";
import { words } from "#web/widget/words.ts";

interface Props {
  /** Whether there is room for a sheet with details. */
  detailed?: boolean;
}

/** A mark in the seconds in which it can be taken back. */
export const WaitingMark = ({ detailed = false }: Props) => {
  const said = waiting.value;
  if (said === null) return null;
  const isPlain = said.what === "report" && Object.keys(said.statement).length === 1;
  return (
    <div class="waiting-mark" role="group" aria-label={words.yourMark}>
      <p>
        <strong>{words.saying(words.statuses[said.statement.status])}</strong>{" "}
        <span aria-hidden="true">{words.sentIn(said.leftS)}</span>
      </p>
      {detailed && isPlain ? (
        <button type="button" class="button" onClick={hold}>
          {words.details}
        </button>
      ) : null}
      <button type="button" class="button" onClick={undo}>
        {words.undo}
      </button>
      <button type="button" class="button primary" onClick={sendNow}>
        {words.sendNow}
      </button>
    </div>
  );
};
