type Table = Readonly<Record<string, string>>;
const patterns = new Map<string, RegExp>();
/** The English text with groups in place of its placeholders. */
function patternOf(text: string): RegExp {
  let pattern = patterns.get(text);
  if (pattern === undefined) {
    const parts = text.split(/\{\d\}/).map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
    patterns.set(text, (pattern = new RegExp(`^${parts.join("(.+?)")}$`, "s")));
  }
  return pattern;
}

/** The text by the table, and what varies in it too; null for one that it does not have. The one with most words of its own fits best. */
export function translated(text: string, table: Table): string | null {
  const said = (one: string): number => one.replaceAll(/\{\d\}/g, "").length;
  const fitting = Object.keys(table).filter((one) => patternOf(one).test(text));
  const [best] = fitting.sort((x, y) => said(y) - said(x));
  if (best === undefined) return null;
  const values = patternOf(best).exec(text)!.slice(1);
  return table[best]!.replace(/\{(\d)\}/g, (_, n: string) => {
    const value = values[Number(n) - 1] ?? "";
    return translated(value, table) ?? value;
  });
}

/** Sentences of advice, one after the other. */
function advice(text: string, table: Table): string {
  const ends = [...text.matchAll(/[.?](?= |$)/g)].map(({ index }) => index + 1).reverse();
  for (const end of ends) {
    const said = translated(text.slice(0, end), table);
    if (said !== null) return `${said} ${advice(text.slice(end).trim(), table)}`.trim();
  }
  return text;
}

/** A fault of an import or feed in Russian: place, matter and remedy. What the table does not have stays as it is. */
export function russianFault(fault: string, table: Table): string {
  const whole = translated(fault, table);
  if (whole !== null) return whole;
  const [, before = "", after = ""] = /^(.*?); nothing was changed\.(.*)$/s.exec(fault) ?? [];
  if (before === "") return fault;
  const colons = [...before.matchAll(/: /g)].map(({ index }) => index);
  const at = colons.find((index) => translated(before.slice(index + 2), table) !== null);
  const [place, what] =
    at === undefined ? ["", before] : [before.slice(0, at + 2), before.slice(at + 2)];
  const where = place.replace(/, line (\d+): $/, ", строка $1: ");
  return `${where}${translated(what, table) ?? what}; ничего не изменено. ${advice(after.trim(), table)}`.trim();
}
