/**
 * Gives the buttons of bull-board's page names that a screen reader can say. It has none for those that are only an
 * icon, and no option for them. They are known by the beginning of their icon's path and called what their tooltip
 * shows; one that a later version brings is at least an action. Runs in the browser, behind the page's own scripts.
 */
export const buttonNamesScript = `"use strict";
const names = [
  ["M23.99314 6.28305", "Redis details"],
  ["M8 3H5a2 2 0 0 0-2 2v3", "Full screen"],
  ["M9.671 4.136", "Settings"],
  ["M7 20.662V19", "Links"],
  ["M3 12a9 9 0 0 1 9-9", "Retry"],
  ["M15 2h-4a2 2 0 0 0-2 2v11", "Duplicate"],
  ["M21.174 6.812", "Update data"],
  ["M10 11v6", "Clean"],
  ["M20 20v-7a4 4 0 0 0-4-4H4", "Promote"],
  ["M12 6v6l4 2", "Reschedule"],
  ["M4 16c-1.1 0-2-.9-2-2V4", "Copy"],
  ["M20 6 9 17l-5-5", "Copied"],
];

const nameOf = (button) => {
  const paths = [...button.querySelectorAll("path")].map((path) => path.getAttribute("d") ?? "");
  const entry = names.find(([start]) => paths.some((path) => path.startsWith(start)));
  if (entry !== undefined) return entry[1];
  return button.getAttribute("aria-haspopup") === "menu" ? "More actions" : "Action";
};

const isIcon = ({ childNodes: [icon, ...more] }) => icon?.localName === "svg" && more.length === 0;

const named = new WeakSet();
const nameAll = () => {
  for (const button of document.querySelectorAll("button")) {
    const hasName = button.hasAttribute("aria-label") || button.title !== "";
    if (!isIcon(button) || (hasName && !named.has(button))) continue;
    named.add(button);
    button.setAttribute("aria-label", nameOf(button));
    button.firstChild.setAttribute("aria-hidden", "true");
  }
};

// The page draws its buttons when it has its data, and anew as that changes.
new MutationObserver(nameAll).observe(document.body, { childList: true, subtree: true });
nameAll();
`;
