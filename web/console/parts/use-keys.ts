import { useLayoutEffect, useState } from "preact/hooks";

/**
 * The entry of a list that the keys are about: j goes to the next, k to the one before. `act` gets other letters, and
 * says whether it has taken one. Gives the entry's number, and what goes to another.
 */
export function useKeys(
  length: number,
  act: (letter: string, n: number, event: KeyboardEvent) => boolean,
): [current: number, goTo: (n: number) => void] {
  const [wanted, setWanted] = useState(0);
  const current = Math.min(wanted, length - 1);
  // A layout effect runs with the page's first picture, so that no key is lost.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const typing = (event.target as Element).closest("input, select, textarea, dialog") !== null;
      if (typing || event.ctrlKey || event.metaKey || event.altKey || length === 0) return;
      const letter = letterOf(event);
      if (letter === "j") setWanted(Math.min(current + 1, length - 1));
      else if (letter === "k") setWanted(Math.max(current - 1, 0));
      else if (!act(letter, current, event)) return;
      event.preventDefault();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  });
  return [current, setWanted];
}

/** The Latin letter of a key, on a Russian keyboard too. */
const letterOf = ({ key, code }: KeyboardEvent): string =>
  /^[а-яё]$/.test(key) ? code.replace("Key", "").toLowerCase() : key;
