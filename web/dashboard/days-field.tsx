import { say } from "#web/dashboard/words.ts";

interface Props {
  id: string;
  label: string;
  between: readonly [min: number, max: number];
  value: string;
  set: (value: string) => void;
}

/** A number of days, with its bounds said. */
export const DaysField = ({ id, label, between: [min, max], value, set }: Props) => (
  <div class="field">
    <label for={id}>{label}</label>
    <input
      id={id}
      type="number"
      required
      min={min}
      max={max}
      step={1}
      value={value}
      onInput={({ currentTarget }) => set(currentTarget.value)}
      aria-describedby={`${id}-hint`}
    />
    <p class="soft small" id={`${id}-hint`}>
      {say("{min} to {max}", { min, max })}
    </p>
  </div>
);
