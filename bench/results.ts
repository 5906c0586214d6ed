import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const file = fileURLToPath(new URL("results.md", import.meta.url));
const head = `# Benchmark results

Written by \`npm run bench\`, a section for each benchmark. Ratios are of one run; absolute numbers differ from run to run, also on one machine.
`;

/** Writes the section called `name`, in place of an older one; the others stay. */
export function writeSection(name: string, text: string): void {
  const old = existsSync(file) ? readFileSync(file, "utf8") : head;
  const [first = head, ...sections] = old.split(/^(?=## )/m);
  const section = `## ${name}\n\n${text.trim()}\n`;
  const at = sections.findIndex((one) => one.startsWith(`## ${name}\n`));
  if (at < 0) sections.push(section);
  else sections[at] = section;
  writeFileSync(file, [first, ...sections].map((part) => part.trim()).join("\n\n") + "\n");
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

export const verdict = (reached: boolean): string => (reached ? "reached" : "**not reached**");
