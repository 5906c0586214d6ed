/** Lines that a document tells its reader to type. */
export interface Block {
  /** The headings that it stands under, outermost first. */
  under: string[];
  text: string;
}

/** The ```sh blocks of a Markdown text. What is not meant to be typed as it stands is fenced as text. */
export function shellBlocks(markdown: string): Block[] {
  const blocks: Block[] = [];
  const headings: string[] = [];
  let fence: { shell: boolean; lines: string[] } | null = null;
  for (const line of markdown.split("\n")) {
    if (fence !== null) {
      if (line.startsWith("```")) {
        if (fence.shell)
          blocks.push({ under: headings.filter(Boolean), text: fence.lines.join("\n") });
        fence = null;
      } else fence.lines.push(line);
      continue;
    }
    if (line.startsWith("```")) fence = { shell: line.trim() === "```sh", lines: [] };
    const [, level, title] = /^(#+) (.*)$/.exec(line) ?? [];
    if (level === undefined || title === undefined) continue;
    headings.length = level.length - 1;
    headings[level.length - 1] = title;
  }
  return blocks;
}
