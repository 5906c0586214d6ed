import type { ComponentChildren, RefObject } from "preact";
import { Button } from "#web/kit/button.tsx";
import type { Doing } from "#web/kit/doing.ts";
import { Fault } from "#web/kit/fault.tsx";
import { say } from "#web/kit/say.ts";

interface Props {
  class?: string;
  box?: RefObject<HTMLFormElement | null>;
  send: () => unknown;
  /** What is under way, and why the last try was refused. */
  doing: Pick<Doing, "busy" | "fault">;
  /** The word on the button that sends it; without one there are no buttons. */
  action?: string | false;
  /** Its look, if it is not the first thing to do on the page. */
  plain?: boolean;
  /** It cannot be sent as it is. */
  disabled?: boolean;
  cancel?: () => unknown;
  /** Further buttons. */
  more?: ComponentChildren;
  children: ComponentChildren;
}

/** Fields with the reason of a refusal and the buttons below. */
export const Form = ({ doing, action, cancel, children, more, ...props }: Props) => (
  <form
    class={props.class ?? "card"}
    {...(props.box === undefined ? {} : { ref: props.box })}
    onSubmit={(event) => {
      event.preventDefault();
      void props.send();
    }}
  >
    {children}
    <Fault words={doing.fault} />
    {action && (
      <div class="buttons">
        <button
          type="submit"
          class={props.plain ? "" : "primary"}
          disabled={doing.busy || props.disabled}
        >
          {action}
        </button>
        {more}
        {cancel && <Button words={say("Cancel")} disabled={doing.busy} onClick={cancel} />}
      </div>
    )}
  </form>
);
