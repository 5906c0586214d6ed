import { recall, remember } from "#web/kit/storage.ts";
import { say } from "#web/docs/say.ts";

const stored = "docs-language";

/** Samples in several languages get tabs, and every block a button to copy it. */
export function startSamples(): void {
  const groups = [...document.querySelectorAll<HTMLElement>(".samples")]
    .map((group, n) => tabsOf(group, n))
    .filter((show) => show !== null);
  const showAll = (language: string): void => {
    for (const show of groups) show(language);
  };
  document.addEventListener("click", ({ target }) => {
    const tab = target instanceof Element ? target.closest<HTMLElement>("[role=tab]") : null;
    const language = tab?.dataset["language"];
    if (language === undefined) return;
    remember(stored, language);
    showAll(language);
  });
  showAll(recall(stored) ?? "sh");
  for (const block of document.querySelectorAll<HTMLElement>(".code")) addCopy(block);
}

/** Gives a group its tabs. Answers what shows a language, or the first one where it is missing; null: no choice. */
function tabsOf(group: HTMLElement, n: number): ((language: string) => void) | null {
  const panels = [...group.querySelectorAll<HTMLElement>(":scope > section")];
  if (panels.length < 2) return null;
  const list = document.createElement("div");
  list.setAttribute("role", "tablist");
  list.setAttribute("aria-label", say("Language", "Язык"));
  const tabs = panels.map((panel, i) => {
    const tab = document.createElement("button");
    tab.type = "button";
    tab.id = `sample-${n}-${i}`;
    tab.dataset["language"] = panel.dataset["language"];
    tab.textContent = panel.querySelector(".language")!.textContent;
    tab.setAttribute("role", "tab");
    panel.id = `${tab.id}-panel`;
    tab.setAttribute("aria-controls", panel.id);
    panel.setAttribute("role", "tabpanel");
    panel.setAttribute("aria-labelledby", tab.id);
    panel.querySelector(".language")!.remove();
    return tab;
  });
  list.append(...tabs);
  list.addEventListener("keydown", ({ key }) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
    if (step === undefined) return;
    const at = tabs.findIndex((tab) => tab === document.activeElement);
    const next = tabs[(at + step + tabs.length) % tabs.length]!;
    next.click();
    next.focus();
  });
  group.prepend(list);
  return (language) => {
    const chosen = Math.max(
      0,
      panels.findIndex((panel) => panel.dataset["language"] === language),
    );
    for (const [i, tab] of tabs.entries()) {
      tab.setAttribute("aria-selected", String(i === chosen));
      tab.tabIndex = i === chosen ? 0 : -1;
      panels[i]!.hidden = i !== chosen;
    }
  };
}

function addCopy(block: HTMLElement): void {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = say("Copy", "Копировать");
  button.addEventListener("click", () => {
    const text = block.querySelector("pre")!.textContent;
    navigator.clipboard.writeText(text).then(
      () => (button.textContent = say("Copied", "Скопировано")),
      () => (button.textContent = say("Not allowed", "Не разрешено")),
    );
  });
  block.prepend(button);
}
