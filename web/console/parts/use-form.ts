import { useState } from "preact/hooks";

type Named<Values, Value> = {
  [Name in keyof Values]: Value extends Values[Name] ? Name : never;
}[keyof Values];

/**
 * The values of a form's fields, and what ties a field to its value. `changed` is told of each change. A field that
 * nobody has touched has its value of `start`, also when that changes.
 */
export function useForm<Values extends object>(start: Values, changed?: () => void) {
  const [typed, setTyped] = useState<Partial<Values>>({});
  const form: Values = { ...start, ...typed };
  const set = (change: Partial<Values>): void => {
    setTyped((now) => ({ ...now, ...change }));
    changed?.();
  };
  const change = (name: keyof Values) => (value: unknown) =>
    set({ [name]: value } as Partial<Values>);
  return {
    form,
    set,
    forget: () => setTyped({}),
    /** Ties a text or a choice. */
    at: (name: Named<Values, string>) => ({
      ...{ value: form[name] as string, onChange: change(name) },
    }),
    /** Ties a switch. */
    on: (name: Named<Values, boolean>) => ({
      ...{ checked: form[name] as boolean, onChange: change(name) },
    }),
  };
}

/** The fields of `now` that differ from those of `before`: what two people change at once is in force of both. */
export const changesOf = <Values extends object>(before: Values, now: Values): Partial<Values> =>
  Object.fromEntries(
    Object.entries(now).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name as keyof Values]),
    ),
  ) as Partial<Values>;
