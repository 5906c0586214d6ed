/** Search among all pages: the sidebar shows those whose title or path has every word. */
export function startSearch(sidebar: HTMLElement): void {
  const field = sidebar.querySelector<HTMLInputElement>("#search")!;
  const found = sidebar.querySelector<HTMLElement>("#found")!;
  const groups = [...sidebar.querySelectorAll<HTMLElement>("section")].map((section) => ({
    section,
    entries: [...section.querySelectorAll<HTMLElement>(":scope > ul > li")].map((entry) => ({
      entry,
      text: `${section.querySelector("h2")!.textContent} ${entry.textContent} ${entry.querySelector("a")!.href}`.toLowerCase(),
    })),
  }));
  const search = (): void => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const { section, entries } of groups) {
      let inSection = 0;
      for (const { entry, text } of entries) {
        entry.hidden = !words.every((word) => text.includes(word));
        if (!entry.hidden) inSection++;
      }
      section.hidden = inSection === 0;
      count += inSection;
    }
    found.textContent = words.length === 0 ? "" : count === 0 ? "Nothing found" : `${count} found`;
  };
  field.addEventListener("input", search);
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    const first = [...sidebar.querySelectorAll<HTMLElement>("li")].find(
      (entry) => entry.offsetParent !== null,
    );
    if (field.value.trim() !== "") first?.querySelector("a")?.click();
  });
  field.closest<HTMLElement>(".search")!.hidden = false;
  search();
}
