import type { ComponentChildren } from "preact";

interface Props<T extends string> {
  title: string;
  items: readonly T[];
  chosen: readonly T[];
  label?: (item: T) => ComponentChildren;
  onChange: (chosen: T[]) => void;
}

/** Any number of some things, each a large button that is on or off. */
export const ChipGroup = <T extends string>({
  title,
  items,
  chosen,
  label = (item) => item,
  onChange,
}: Props<T>) => (
  <fieldset class="group">
    <legend>{title}</legend>
    <div class="chips">
      {items.map((item) => (
        <label key={item} class="chip">
          <input
            type="checkbox"
            checked={chosen.includes(item)}
            onChange={({ currentTarget: { checked } }) =>
              onChange(checked ? [...chosen, item] : chosen.filter((one) => one !== item))
            }
          />
          <span>{label(item)}</span>
        </label>
      ))}
    </div>
  </fieldset>
);
