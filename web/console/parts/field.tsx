import { useId } from "preact/hooks";

interface Common {
  label: string;
  hint?: string;
  disabled?: boolean;
}

interface TextProps extends Common {
  value: string;
  onChange: (value: string) => void;
  type?: "text" | "password" | "number" | "datetime-local" | "search";
  min?: number;
  max?: number;
  maxLength?: number;
  required?: boolean;
  autocomplete?: string;
  placeholder?: string;
}

/** A labelled line of text. */
export function TextField(props: TextProps) {
  const { label, hint, value, onChange, autocomplete, ...rest } = props;
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        {...(rest as object)}
        value={value}
        {...(autocomplete === undefined ? {} : { autoComplete: autocomplete })}
        {...(hint === undefined ? {} : { "aria-describedby": `${id}-hint` })}
        onInput={({ currentTarget }) => onChange(currentTarget.value)}
      />
      {hint !== undefined && <small id={`${id}-hint`}>{hint}</small>}
    </div>
  );
}

type AreaProps = Pick<TextProps, "label" | "value" | "onChange" | "maxLength" | "required">;

/** A labelled text of one paragraph, with room to read it: a new line becomes a space. */
export function TextArea({ label, value, onChange, ...rest }: AreaProps) {
  const id = useId();
  return (
    <div class="field wide">
      <label for={id}>{label}</label>
      <textarea
        id={id}
        rows={4}
        {...(rest as object)}
        value={value}
        onInput={({ currentTarget }) => onChange(currentTarget.value.replaceAll(/\s*\n\s*/g, " "))}
      />
    </div>
  );
}

interface SelectProps extends Common {
  value: string;
  options: readonly (readonly [value: string, text: string])[];
  onChange: (value: string) => void;
}

/** A labelled choice. */
export function SelectField({ label, hint, value, options, onChange, disabled }: SelectProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select
        id={id}
        value={value}
        disabled={disabled}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      >
        {options.map(([one, text]) => (
          <option key={one} value={one}>
            {text}
          </option>
        ))}
      </select>
      {hint !== undefined && <small>{hint}</small>}
    </div>
  );
}

interface SwitchProps extends Common {
  checked: boolean;
  onChange: (checked: boolean) => void;
}

/** A switch with its meaning. */
export function SwitchField({ label, hint, checked, onChange, disabled }: SwitchProps) {
  return (
    <label class="switch">
      <input
        type="checkbox"
        checked={checked}
        disabled={disabled}
        onChange={({ currentTarget }) => onChange(currentTarget.checked)}
      />
      <span>
        {label}
        {hint !== undefined && <small>{hint}</small>}
      </span>
    </label>
  );
}
