import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { say } from "#web/console/words.ts";

export interface PickerOption {
  value: string;
  text: string;
  /** A text that tells it from options of the same text. */
  detail?: string;
}

/** The options that fit the typed text, at most some tens; null when they cannot be found at the moment. */
export type Found = readonly PickerOption[] | null;

interface Props {
  label: string;
  /** Null for any. */
  value: string | null;
  /** The name of `value`. */
  text: string;
  /** Finds options. A new function is asked again. */
  find: (typed: string) => Found | Promise<Found>;
  /** Turns the typed text into a value that no list holds; null when it is none. */
  accept?: (typed: string) => string | null;
  onChange: (option: PickerOption | null) => void;
  hint?: string;
}

const pauseMs = 200;

/**
 * Chooses one of many by its name: a line of text with a list of options that fit (the combobox of ARIA). Text without
 * an option keeps its form from being sent, because without the condition more would be selected.
 */
export function Picker({ label, value, text, find, accept, onChange, hint }: Props) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  // The typed text before a choice; null: the chosen option's name is shown.
  const [typed, setTyped] = useState<string | null>(null);
  const [open, setOpen] = useState(false);
  const [found, setFound] = useState<Found | undefined>(undefined);
  const [active, setActive] = useState(-1);
  const isLoose = typed !== null && typed.trim() !== "";

  useEffect(() => {
    if (!open) return undefined;
    let isCurrent = true;
    const look = async (): Promise<void> => {
      const some = await find((typed ?? "").trim());
      if (!isCurrent) return;
      setFound(some);
      setActive(-1);
    };
    const timer = setTimeout(() => void look(), pauseMs);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [open, typed, find]);
  useLayoutEffect(() => {
    input.current?.setCustomValidity(isLoose ? say("Choose one of the list, or clear this.") : "");
  }, [isLoose]);
  useEffect(() => {
    if (active >= 0)
      document.getElementById(`${id}-${active}`)?.scrollIntoView({ block: "nearest" });
  }, [id, active]);

  const choose = (option: PickerOption | null): void => {
    onChange(option);
    setTyped(null);
    setOpen(false);
    setFound(undefined);
  };
  const settleWith = (wanted: string, some: Found): void => {
    const same = (one: string): boolean => one.toLowerCase() === wanted.toLowerCase();
    const exact = some?.filter((one) => same(one.value) || same(one.text)) ?? [];
    if (exact.length === 1) return choose(exact[0]!);
    const own = accept?.(wanted) ?? null;
    if (own !== null) choose({ value: own, text: own });
  };
  /** Takes the typed text when it names one option. */
  const settle = async (): Promise<void> => {
    setOpen(false);
    if (typed === null) return;
    const wanted = typed.trim();
    if (wanted === "") return choose(null);
    const some = find(wanted);
    // A list that is here already must be asked before the form is sent.
    settleWith(wanted, some instanceof Promise ? await some : some);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const last = (found?.length ?? 0) - 1;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const step = event.key === "ArrowDown" ? 1 : -1;
      if (open) setActive(Math.max(0, Math.min(last, active + step)));
      else setOpen(true);
    } else if (event.key === "Enter" && (open || isLoose)) {
      const option = found?.[active];
      if (open && option !== undefined) choose(option);
      else void settle();
    } else if (event.key === "Escape" && open) setOpen(false);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const hasList = open && found !== null && found !== undefined && found.length > 0;
  return (
    <div class="field picker">
      <label for={id}>{label}</label>
      <input
        ref={input}
        id={id}
        type="text"
        role="combobox"
        autoComplete="off"
        spellcheck={false}
        maxLength={200}
        placeholder={say("any")}
        aria-autocomplete="list"
        aria-expanded={hasList}
        aria-invalid={isLoose && !open}
        {...(hasList ? { "aria-controls": `${id}-list` } : {})}
        {...(hasList && active >= 0 ? { "aria-activedescendant": `${id}-${active}` } : {})}
        {...(hint === undefined ? {} : { "aria-describedby": `${id}-hint` })}
        value={typed ?? (value === null ? "" : text)}
        onInput={({ currentTarget }) => {
          setTyped(currentTarget.value);
          setOpen(true);
          if (value !== null) onChange(null);
        }}
        onClick={() => setOpen(true)}
        onFocus={({ currentTarget }) => currentTarget.select()}
        onBlur={() => void settle()}
        onKeyDown={onKeyDown}
      />
      {open && found !== undefined && (
        <div class="found" onMouseDown={(event) => event.preventDefault()}>
          {hasList ? (
            <ul id={`${id}-list`} role="listbox" aria-label={label}>
              {found.map((option, n) => (
                <li
                  key={option.value}
                  id={`${id}-${n}`}
                  role="option"
                  aria-selected={n === active}
                  onClick={() => choose(option)}
                >
                  {option.text}
                  {option.detail !== undefined && <small>{option.detail}</small>}
                </li>
              ))}
            </ul>
          ) : (
            <p role="status">
              {found === null
                ? say("The list cannot be read at the moment.")
                : say("Nothing fits.")}
            </p>
          )}
        </div>
      )}
      {hint !== undefined && <small id={`${id}-hint`}>{hint}</small>}
    </div>
  );
}

const shown = 50;

/** The options of a loaded list that contain the text; those that begin with it come first. */
export function fitting(all: readonly PickerOption[], typed: string): PickerOption[] {
  const wanted = typed.toLowerCase();
  const starts = ({ text }: PickerOption): boolean => text.toLowerCase().startsWith(wanted);
  const holds = all.filter(({ text }) => text.toLowerCase().includes(wanted));
  return [...holds.filter(starts), ...holds.filter((one) => !starts(one))].slice(0, shown);
}
