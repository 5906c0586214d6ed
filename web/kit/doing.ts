import { useState } from "preact/hooks";
import type { PageApi } from "#web/kit/page-api.ts";

export interface Doing {
  busy: boolean;
  /** The reason of a refusal. */
  fault: string | null;
  /**
   * Sends the change. Says `words` ("" where the page itself shows it) and gives the answer, or null when it was
   * refused.
   */
  run<T>(
    words: string | ((answer: T) => string),
    method: "POST" | "PATCH" | "DELETE",
    path: string,
    body?: object,
  ): Promise<T | null>;
  /** Forgets the refusal. */
  forget(): void;
}

/** Gives `useDoing`: changes that are made one at a time, with the result of the last. */
export const doingBy =
  (api: PageApi, tell: (words: string) => void = () => undefined) =>
  (): Doing => {
    const [busy, setBusy] = useState(false);
    const [fault, setFault] = useState<string | null>(null);
    const run: Doing["run"] = async <T>(
      words: string | ((answer: T) => string),
      ...call: Parameters<PageApi["send"]>
    ): Promise<T | null> => {
      setBusy(true);
      setFault(null);
      const answer = await api.send<T>(...call);
      setBusy(false);
      if (answer.failure !== undefined) {
        setFault(answer.failure.words);
        return null;
      }
      // An answer without a body is one all the same.
      const value = answer.value ?? ({} as T);
      const text = typeof words === "string" ? words : words(value);
      if (text !== "") tell(text);
      return value;
    };
    return { busy, fault, run, forget: () => setFault(null) };
  };
