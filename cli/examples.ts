/** What stands below a command's `--help`: lines to be copied. */
export const examples = (...lines: readonly string[]): string =>
  `\nExamples:\n${lines.map((line) => `  npm run -s operator -- ${line}`).join("\n")}`;
