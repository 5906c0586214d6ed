import { useState } from "preact/hooks";

type Named<Values, Value> = {
  [Name in keyof Values]: Value extends Values[Name] ? Name : never;
}[keyof Values];

/** The values of a form's fields, and what ties a field to its value. `changed` is told of each change. */
export function useForm<Values extends object>(start: Values, changed?: () => void) {
  const [form, setForm] = useState(start);
  const set = (change: Partial<Values>): void => {
    setForm((now) => ({ ...now, ...change }));
    changed?.();
  };
  const change = (name: keyof Values) => (value: unknown) =>
    set({ [name]: value } as Partial<Values>);
  return {
    form,
    set,
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
