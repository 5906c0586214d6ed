import type { Page } from "playwright-core";

/** Texts and names of what is seen on a page in Russian that its table has in English; none is the goal. */
export async function englishLeft(page: Page, table: Record<string, string>): Promise<string[]> {
  const seen = await page.evaluate<string[]>(`(() => {
    const found = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode())
      if (walker.currentNode.parentElement.closest("[lang=en], code") === null) found.push(walker.currentNode.data);
    for (const one of document.body.querySelectorAll("[aria-label]")) found.push(one.getAttribute("aria-label"));
    return found.map((text) => text.trim());
  })()`);
  // A text that is hardly more than what is put in would match anything.
  const telling = Object.keys(table).filter((text) =>
    /[A-Za-z]{3}/.test(text.replaceAll(/\{\w+\}/g, "")),
  );
  const english = telling.map(
    (text) =>
      new RegExp(
        `^${text
          .split(/\{\w+\}/)
          .map(plain)
          .join(".+")}$`,
        "s",
      ),
  );
  return seen.filter((text) => english.some((one) => one.test(text)));
}

const plain = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
