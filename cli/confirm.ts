import { createInterface } from "node:readline/promises";
import type { Output } from "#cli/output.ts";

/** Asks before what cannot be undone, on a terminal only; elsewhere, and with --json, the command is the consent. */
export async function confirmed(
  { json, stdin: input, stderr: output }: Pick<Output, "json" | "stdin" | "stderr">,
  question: string,
): Promise<boolean> {
  if (json || !input.isTTY || !output.isTTY) return true;
  const terminal = createInterface({ input, output });
  try {
    return /^(y|yes)$/i.test((await terminal.question(`${question} [y/N] `)).trim());
  } finally {
    terminal.close();
  }
}
