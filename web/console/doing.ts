import { useState } from "preact/hooks";
import { signal } from "@preact/signals";
import { api } from "#web/console/api.ts";

/** The last thing that was done, said to the viewer for some seconds. */
export const said = signal<string | null>(null);
let timer = 0;

export function tell(words: string): void {
  said.value = words;
  clearTimeout(timer);
  timer = window.setTimeout(() => (said.value = null), 6000);
}

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
  forget(): void;
}

/** Changes that are made one at a time, with the result of the last. */
export function useDoing(): Doing {
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  return {
    busy,
    fault,
    forget: () => setFault(null),
    run: async <T>(
      words: string | ((answer: T) => string),
      method: "POST" | "PATCH" | "DELETE",
      path: string,
      body?: object,
    ): Promise<T | null> => {
      setBusy(true);
      setFault(null);
      const answer = await api.send<T>(method, path, body);
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
    },
  };
}
