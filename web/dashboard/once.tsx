import type { ComponentChildren } from "preact";
import { say } from "#web/dashboard/words.ts";
import { Button } from "#web/kit/button.tsx";
import { CopyButton } from "#web/kit/copy-button.tsx";

interface Props {
  words: ComponentChildren;
  text: string;
  /** More to say of it. */
  children?: ComponentChildren;
  /** The word on the button that puts it away. */
  done?: string;
  close: () => void;
}

/** A text that is shown this once. */
export const Once = ({ words, text, children, done = say("Done"), close }: Props) => (
  <div class="note" role="status">
    <p>{words}</p>
    <p>
      <code class="said">{text}</code> <CopyButton text={text} />
    </p>
    {children}
    <Button words={done} onClick={close} />
  </div>
);
