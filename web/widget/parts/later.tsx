import { signal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { useEffect } from "preact/hooks";
import type * as NotFirst from "#web/widget/parts/not-first.ts";

type Parts = typeof NotFirst;

const parts = signal<Parts | null>(null);

/** Loads what the first list does not need: when it is first asked for, or when nothing more urgent needs the network. */
export async function loadParts(): Promise<Parts> {
  return (parts.value ??= await import("#web/widget/parts/not-first.ts"));
}

// Offline, in a page that was never kept: the next look asks again.
const load = (): void => void loadParts().catch((error: unknown) => console.warn(error));

/** A part whose code is no part of the page's first; until it has come there is `Instead`. */
export const later =
  <Props extends object>(
    pick: (parts: Parts) => FunctionComponent<Props>,
    Instead: FunctionComponent<Props> = () => null,
  ): FunctionComponent<Props> =>
  (props) => {
    useEffect(load, []);
    const Part = parts.value === null ? Instead : pick(parts.value);
    return <Part {...props} />;
  };
