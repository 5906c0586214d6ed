import { createInterface } from "node:readline/promises";
import type { Output } from "#cli/output.ts";

/** Where a question is asked: stdin and stderr, and in tests what looks like them. */
interface Terminal {
  input: NodeJS.ReadableStream & { isTTY?: boolean };
  output: NodeJS.WritableStream & { isTTY?: boolean };
}

/** Asks before what cannot be undone, on a terminal only; elsewhere, and with --json, the command is the consent. */
export async function confirmed(
  { json }: Pick<Output, "json">,
  question: string,
  { input, output }: Terminal = { input: process.stdin, output: process.stderr },
): Promise<boolean> {
  if (json || !input.isTTY || !output.isTTY) return true;
  const terminal = createInterface({ input, output });
  try {
    return /^(y|yes)$/i.test((await terminal.question(`${question} [y/N] `)).trim());
  } finally {
    terminal.close();
  }
}
