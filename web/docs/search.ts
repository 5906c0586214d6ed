import { language, say } from "#web/docs/say.ts";

const before = 30;
const shown = 110;

interface Entry {
  item: HTMLElement;
  /** Its title and address, in lower case. */
  name: string;
  path: string;
}

/**
 * Search among all pages: the sidebar shows those that have every word, in the title, the address or the text. For
 * a word in the text, its place stands below the title.
 */
export function startSearch(sidebar: HTMLElement, home: string): void {
  const field = sidebar.querySelector<HTMLInputElement>("#search")!;
  const found = sidebar.querySelector<HTMLElement>("#found")!;
  const root = home.replace(/docs$/, "");
  const groups = [...sidebar.querySelectorAll<HTMLElement>("section")].map((section) => ({
    section,
    entries: [...section.querySelectorAll<HTMLElement>(":scope > ul > li")].map((item): Entry => {
      const { pathname } = item.querySelector("a")!;
      const title = section.querySelector("h2")!.textContent;
      return {
        item,
        name: `${title} ${item.textContent} ${pathname}`.toLowerCase(),
        path: `/${pathname.slice(root.length)}`,
      };
    }),
  }));
  /** Texts by the page's path; empty until they are loaded. */
  let texts: Readonly<Record<string, string>> = {};
  let asked: Promise<void> | undefined;
  /** The entry that Enter opens: a hit in a title before hits in texts. */
  let best: HTMLElement | undefined;

  const search = (): void => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    const inTitles: HTMLElement[] = [];
    const inTexts: HTMLElement[] = [];
    for (const { section, entries } of groups) {
      let inSection = 0;
      for (const { item, name, path } of entries) {
        const text = texts[path] ?? "";
        const lower = text.toLowerCase();
        item.hidden = !words.every((word) => name.includes(word) || lower.includes(word));
        item.querySelector(".place")?.remove();
        if (item.hidden) continue;
        inSection++;
        const inText = words.find((word) => !name.includes(word));
        (inText === undefined ? inTitles : inTexts).push(item);
        if (inText !== undefined) item.append(placeOf(text, lower.indexOf(inText), inText.length));
      }
      section.hidden = inSection === 0;
      count += inSection;
    }
    best = inTitles[0] ?? inTexts[0];
    found.textContent =
      words.length === 0
        ? ""
        : count === 0
          ? say("Nothing found", "Ничего не найдено")
          : say(`${count} found`, `Найдено: ${count}`);
  };
  /** Reads the texts when somebody searches; without them the search still finds titles. */
  const readTexts = async (): Promise<void> => {
    const response = await fetch(`${home}/search.json?lang=${language}`);
    if (!response.ok) return;
    texts = (await response.json()) as Record<string, string>;
    search();
  };
  field.addEventListener("focus", () => {
    asked ??= readTexts().catch(() => {
      asked = undefined;
    });
  });
  field.addEventListener("input", search);
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && field.value.trim() !== "") best?.querySelector("a")?.click();
  });
  field.closest<HTMLElement>(".search")!.hidden = false;
  search();
}

/** The words around a hit, which is marked. */
function placeOf(text: string, at: number, length: number): HTMLElement {
  const from = at <= before ? 0 : text.indexOf(" ", at - before) + 1;
  const start = from > at ? at : from;
  const place = document.createElement("small");
  place.className = "place";
  const mark = document.createElement("mark");
  mark.textContent = text.slice(at, at + length);
  const end = start + shown;
  place.append(
    `${start === 0 ? "" : "… "}${text.slice(start, at)}`,
    mark,
    `${text.slice(at + length, end)}${end < text.length ? " …" : ""}`,
  );
  return place;
}
