import { Button } from "#web/kit/button.tsx";
import { useId } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { Dialog } from "#web/kit/dialog.tsx";
import { say } from "#web/kit/say.ts";

interface Props {
  title: string;
  /** The word on the button that does it. */
  action: string;
  danger?: boolean;
  /** While it is being done nothing can be pressed. */
  busy?: boolean;
  children?: ComponentChildren;
  onConfirm: () => void;
  onCancel: () => void;
}

/** A question before a grave act. It is open as long as it is on the page; Escape cancels. */
export function Confirm({ title, action, danger, busy, children, onConfirm, onCancel }: Props) {
  const id = useId();
  return (
    <Dialog title={id} close={() => busy !== true && onCancel()}>
      <form
        method="dialog"
        onSubmit={(event) => {
          event.preventDefault();
          onConfirm();
        }}
      >
        <h2 id={id}>{title}</h2>
        {children}
        <div class="buttons">
          <Button words={say("Cancel")} disabled={busy} onClick={onCancel} />
          <button type="submit" class={danger === true ? "danger" : "primary"} disabled={busy}>
            {busy === true ? say("Working …") : action}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
