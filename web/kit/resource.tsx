import { signal, type ReadonlySignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import type { Failure, Result } from "#web/kit/page-api.ts";
import { say } from "#web/kit/say.ts";

/** What a page shows of something that the server has: the newest value, and why there is no newer one. */
export interface Resource<T> {
  readonly value: ReadonlySignal<T | null>;
  readonly failure: ReadonlySignal<Failure | null>;
  /** Asks for it. Of several at once the last one counts. `unattended`: by a timer. */
  load(unattended?: boolean): Promise<void>;
  /** Forgets it: somebody else signs in. */
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
 * What the server has, as soon as it is there; before that a word, and why it is not there with a way to retry.
 * `quiet` where another part of the page tells why already.
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
          <button type="button" onClick={() => void load()}>
            {say("Try again")}
          </button>
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
