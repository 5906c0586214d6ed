import { signal } from "@preact/signals";

const shownMs = 6000;

/** A sentence for the viewer that goes away by itself. */
export const message = signal<string | null>(null);
let timer: ReturnType<typeof setTimeout> | undefined;

export function say(text: string): void {
  clearTimeout(timer);
  message.value = text;
  timer = setTimeout(() => (message.value = null), shownMs);
}
