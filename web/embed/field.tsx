import type { ComponentChildren } from "preact";
import { type Choices, choices, choose, faults } from "#web/embed/choices.ts";

type TextName = "key" | "site" | "city" | "lat" | "lon" | "zoom" | "accent" | "width" | "height";
type ChoiceName = "theme" | "fuel" | "gestures" | "lang";
type SwitchName = "noFilter" | "noSearch" | "themeLock";

interface FieldProps {
  name: TextName;
  label: string;
  hint?: string;
  placeholder?: string;
  mode?: "text" | "decimal" | "numeric" | "url";
  invalid?: boolean;
  children?: ComponentChildren;
}

/** A line of text with its label; below it its fault, else a hint. */
export const Field = (props: FieldProps) => {
  const { name, label, hint = "", placeholder, mode = "text", children } = props;
  const fault = faults.value[name] ?? "";
  return (
    <div class="field">
      <label for={name}>{label}</label>
      <input
        id={name}
        type="text"
        inputMode={mode}
        autoComplete="off"
        autoCapitalize="none"
        spellcheck={false}
        maxLength={300}
        placeholder={placeholder}
        value={choices.value[name]}
        aria-invalid={fault !== "" || props.invalid === true}
        aria-describedby={`${name}-said`}
        onInput={({ currentTarget: { value } }) => choose({ [name]: value })}
      />
      <div id={`${name}-said`} class="said" aria-live="polite">
        {fault !== "" ? <p class="fault">{fault}</p> : hint !== "" ? <p>{hint}</p> : null}
        {children}
      </div>
    </div>
  );
};

/** One of a few. */
export const Choice = <N extends ChoiceName>({
  name,
  label,
  options,
  onChoose = (value) => choose({ [name]: value }),
}: {
  name: N;
  label: string;
  options: readonly (readonly [value: Choices[N], text: string])[];
  onChoose?: (value: Choices[N]) => void;
}) => (
  <div class="field">
    <label for={name}>{label}</label>
    <select
      id={name}
      value={choices.value[name]}
      onChange={({ currentTarget: { value } }) => onChoose(value as Choices[N])}
    >
      {options.map(([value, text]) => (
        <option key={value} value={value}>
          {text}
        </option>
      ))}
    </select>
  </div>
);

export const Switch = ({ name, label }: { name: SwitchName; label: string }) => (
  <label class="check">
    <input
      type="checkbox"
      checked={choices.value[name]}
      onChange={({ currentTarget: { checked } }) => choose({ [name]: checked })}
    />
    {label}
  </label>
);
