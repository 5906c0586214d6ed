import { useRef, useState } from "preact/hooks";
import { api } from "#web/console/api.ts";

/** A part of a list, the newest entries first; `next` leads to older ones, null: there are none. */
export type Part<Name extends string, Entry> = Record<Name, Entry[]> & { next: number | null };

/**
 * A list that is read further back, part by part: the entries so far, the way to more of them (null: there are none),
 * and why the last part is missing. `path` is that of the first part, with its query. Once older parts are in sight,
 * entries that newer ones push out of the first part stay.
 */
export function useOlder<Name extends string, Entry extends { id: number }>(
  name: Name,
  path: string,
  /** Null while it is being read. */
  first: Part<Name, Entry> | null,
) {
  /** Where the last older part ends; undefined while there is none. */
  const [end, setEnd] = useState<number | null | undefined>();
  const [fault, setFault] = useState<string | null>(null);
  const known = useRef(new Map<number, Entry>());
  const note = (entries: readonly Entry[]): void => {
    for (const entry of entries) known.current.set(entry.id, entry);
  };
  if (end === undefined) known.current.clear();
  note(first?.[name] ?? []);
  const next = end === undefined ? (first?.next ?? null) : end;
  const more = async (): Promise<void> => {
    const { value, failure } = await api.get<Part<Name, Entry>>(`${path}before=${next}`);
    setFault(failure?.words ?? null);
    if (failure !== undefined) return;
    note(value[name]);
    setEnd(value.next);
  };
  return {
    entries: [...known.current.values()].sort((a, b) => b.id - a.id),
    more: next === null ? null : more,
    fault,
    forget: () => setEnd(undefined),
  };
}
