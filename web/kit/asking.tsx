import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Confirm } from "#web/kit/confirm.tsx";

interface Question {
  title: string;
  /** The figures for which it is asked. */
  why: ComponentChildren;
  /** The word on the button that does it. */
  action: string;
  danger?: boolean;
  run: () => Promise<unknown>;
}

/** A question before an act that can go badly wrong; without a question the act is done at once. */
export function useAsking(): {
  ask: (question: Omit<Question, "why"> & { why: ComponentChildren | null }) => void;
  /** To put on the page: the open question. */
  question: ComponentChildren;
} {
  const [asked, setAsked] = useState<Question | null>(null);
  const [busy, setBusy] = useState(false);
  const run = async (): Promise<void> => {
    setBusy(true);
    await asked?.run();
    setBusy(false);
    setAsked(null);
  };
  return {
    ask: ({ why, ...question }) => {
      if (why === null) void question.run();
      else setAsked({ ...question, why });
    },
    question: asked !== null && (
      <Confirm
        title={asked.title}
        action={asked.action}
        danger={asked.danger === true}
        busy={busy}
        onConfirm={() => void run()}
        onCancel={() => setAsked(null)}
      >
        {asked.why !== "" && <p>{asked.why}</p>}
      </Confirm>
    ),
  };
}
