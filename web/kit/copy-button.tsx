import { Button } from "#web/kit/button.tsx";
import { useState } from "preact/hooks";
import { say } from "#web/kit/say.ts";

interface Props {
  text: string;
  label?: string;
  done?: string;
  byHand?: string;
}

/** Copies `text`; says so, and says when the browser would not. */
export function CopyButton({
  text,
  label = say("Copy"),
  done = say("Copied"),
  byHand = say("Select the text and copy it"),
}: Props) {
  const [said, say] = useState<string | null>(null);
  const copy = async (): Promise<void> => {
    say((await copied(text)) ? done : byHand);
    setTimeout(() => say(null), 2500);
  };
  return (
    <Button class="copy" onClick={() => copy()}>
      <span aria-live="polite">{said ?? label}</span>
    </Button>
  );
}

/** Over plain http there is no clipboard but the old command's. */
async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const field = document.createElement("textarea");
    field.value = text;
    document.body.append(field);
    field.select();
    // oxlint-disable-next-line typescript/no-deprecated -- the only way without https
    const done = document.execCommand("copy");
    field.remove();
    return done;
  }
}
