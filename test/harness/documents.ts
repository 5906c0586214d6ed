import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";

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

/** Where a newcomer starts to type: what stands before starts and stops the instance itself. */
export const newcomerBlocks = (): Block[] =>
  shellBlocks(readFileSync("README.md", "utf8")).filter(({ under }) =>
    under.includes("The first five minutes"),
  );
/** Runs blocks one after the other in one shell, and gives what each wrote, by its heading. Throws when a line fails. */
export function runBlocks(blocks: readonly Block[], folder: string): Promise<Map<string, string>> {
  const mark = (n: number): string => `::: block ${n} :::`;
  const script = blocks.map(({ text }, n) => `printf '${mark(n)}\\n'\n${text}`).join("\n");
  return new Promise((resolve, reject) => {
    const child = spawn("bash", ["-euo", "pipefail", "-s"], {
      cwd: folder,
      env: { PATH: process.env.PATH, HOME: process.env.HOME },
      stdio: ["pipe", "pipe", "pipe"],
    });
    let [out, err] = ["", ""];
    child.stdout.on("data", (piece: Buffer) => (out += piece.toString()));
    child.stderr.on("data", (piece: Buffer) => (err += piece.toString()));
    child.on("error", reject);
    child.on("close", (code) => {
      if (code !== 0) return reject(new Error(`code ${code}\n${err}\n${out.slice(-3000)}`));
      const found = new Map<string, string>();
      for (const [n, { under }] of blocks.entries()) {
        const from = out.indexOf(mark(n)) + mark(n).length + 1;
        const end = n + 1 < blocks.length ? out.indexOf(mark(n + 1)) : out.length;
        const heading = under.at(-1) ?? "";
        found.set(heading, (found.get(heading) ?? "") + out.slice(from, end));
      }
      resolve(found);
    });
    child.stdin.end(script);
  });
}
