import { useState } from "preact/hooks";
import { api } from "#web/console/api.ts";

/** A part of a list, the newest entries first; `next` leads to older ones, null: there are none. */
export type Part<Name extends string, Entry> = Record<Name, Entry[]> & { next: number | null };

/**
 * A list that is read further back, part by part: the entries so far, the way to more of them (null: there are none),
 * and why the last part is missing. `path` is that of the first part, with its query.
 */
export function useOlder<Name extends string, Entry>(
  name: Name,
  path: string,
  /** Null while it is being read. */
  first: Part<Name, Entry> | null,
) {
  const [older, setOlder] = useState<{ entries: Entry[]; next: number | null } | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const next = (older ?? first)?.next ?? null;
  const more = async (): Promise<void> => {
    const { value, failure } = await api.get<Part<Name, Entry>>(`${path}before=${next}`);
    setFault(failure?.words ?? null);
    if (failure === undefined)
      setOlder({ entries: [...(older?.entries ?? []), ...value[name]], next: value.next });
  };
  return {
    entries: [...(first?.[name] ?? []), ...(older?.entries ?? [])],
    more: next === null ? null : more,
    fault,
    forget: () => setOlder(null),
  };
}
