import { signal } from "@preact/signals";
import { api } from "#web/console/api.ts";
import { doingBy } from "#web/kit/doing.ts";

/** The last thing that was done, said to the viewer for some seconds. */
export const said = signal<string | null>(null);
let timer = 0;

export function tell(words: string): void {
  said.value = words;
  clearTimeout(timer);
  timer = window.setTimeout(() => (said.value = null), 6000);
}

export const useDoing = doingBy(api, tell);
