import { Button } from "#web/kit/button.tsx";
import { signal, type ReadonlySignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import type { Failure, Result } from "#web/kit/page-api.ts";
import { say } from "#web/kit/say.ts";

/** A value of the server on a page: the newest one, and why there is no newer one. */
export interface Resource<T> {
  readonly value: ReadonlySignal<T | null>;
  readonly failure: ReadonlySignal<Failure | null>;
  /** Asks for the value. The last of several calls counts. `unattended`: by a timer. */
  load(unattended?: boolean): Promise<void>;
  /** Forgets the value: somebody else signs in. */
  clear(): void;
}

export function resource<T>(ask: (unattended: boolean) => Promise<Result<T>>): Resource<T> {
  const value = signal<T | null>(null);
  const failure = signal<Failure | null>(null);
  let asked = 0;
  return {
    value,
    failure,
    load: async (unattended = false) => {
      const nth = (asked += 1);
      const result = await ask(unattended);
      if (nth !== asked) return;
      failure.value = result.failure ?? null;
      if (result.failure === undefined) value.value = result.value;
    },
    clear: () => {
      asked += 1;
      value.value = null;
      failure.value = null;
    },
  };
}

/**
 * Shows the server's value as soon as it is there; until then a word, and after a failure its reason and a retry.
 * `quiet`: another part of the page tells the reason.
 */
export function Loaded<T>({
  of: { value, failure, load },
  quiet = false,
  children,
}: {
  of: Resource<T>;
  quiet?: boolean;
  children: (value: T) => ComponentChildren;
}) {
  const fault = failure.value;
  return (
    <>
      {fault !== null && !quiet && (
        <div class="note bad" role="alert">
          <p>
            {fault.words}
            {fault.requestId !== null && (
              <>
                {" "}
                {say("Request")} <code>{fault.requestId}</code>
              </>
            )}
            {value.value !== null && ` ${say("The data below is older.")}`}
          </p>
          <Button words={say("Try again")} onClick={() => load()} />
        </div>
      )}
      {value.value !== null ? (
        children(value.value)
      ) : fault === null ? (
        <p class="waiting" role="status">
          <span>{say("Loading …")}</span>
          <i />
          <i />
          <i />
        </p>
      ) : (
        quiet && <p class="waiting">{say("Not available at the moment.")}</p>
      )}
    </>
  );
}
