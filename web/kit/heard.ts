/**
 * The values in a sentence: `{duty} is late` and `dump is late` give `{ duty: "dump" }`. Null when `text` is another
 * sentence.
 */
export function heardIn(form: string, text: string): Record<string, string> | null {
  const pattern = form
    .split(/[{}]/)
    .map((part, n) =>
      n % 2 === 0 ? part.replaceAll(/[$()*+.?[\\\]^|]/g, "\\$&") : `(?<${part}>.+)`,
    )
    .join("");
  const match = new RegExp(`^${pattern}$`).exec(text);
  return match === null ? null : { ...match.groups };
}
