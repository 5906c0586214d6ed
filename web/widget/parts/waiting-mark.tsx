import { sendNow, undo, waiting } from "#web/widget/sending.ts";
import { words } from "#web/widget/words.ts";

/** A mark in the seconds in which it can be taken back. */
export const WaitingMark = () => {
  const said = waiting.value;
  if (said === null) return null;
  return (
    <div class="waiting-mark" role="group" aria-label={words.yourMark}>
      <p>
        <strong>{words.saying(words.statuses[said.statement.status])}</strong>{" "}
        <span aria-hidden="true">{words.sentIn(said.leftS)}</span>
      </p>
      <button type="button" class="button" onClick={undo}>
        {words.undo}
      </button>
      <button type="button" class="button primary" onClick={sendNow}>
        {words.sendNow}
      </button>
    </div>
  );
};
