import { signal, type ReadonlySignal } from "@preact/signals";
import type { Failure, Result } from "#web/kit/page-api.ts";

/** What a page shows of something that the server has: the newest value, and why there is no newer one. */
export interface Resource<T> {
  readonly value: ReadonlySignal<T | null>;
  readonly failure: ReadonlySignal<Failure | null>;
  /** Asks for it. Of several at once the last one counts. */
  load(): Promise<void>;
  /** Forgets it: somebody else signs in. */
  clear(): void;
}

export function resource<T>(ask: () => Promise<Result<T>>): Resource<T> {
  const value = signal<T | null>(null);
  const failure = signal<Failure | null>(null);
  let asked = 0;
  return {
    value,
    failure,
    load: async () => {
      const nth = (asked += 1);
      const result = await ask();
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
