/** What a role has logged. */
export interface Lines {
  /** Every line so far. */
  lines: string[];
  /** The first line that matches, past ones included. Throws after `timeoutMs` or when the role ends before. */
  waitForLine(pattern: RegExp, timeoutMs?: number): Promise<string>;
}

/** Collects lines; those of a process end when it has `exited`. */
export function createLines(
  exited: Promise<unknown> = new Promise(() => undefined),
): Lines & { add(line: string): void } {
  const lines: string[] = [];
  const watchers = new Set<(line: string) => void>();
  return {
    lines,
    add: (line) => {
      lines.push(line);
      for (const watch of watchers) watch(line);
    },
    waitForLine: async (pattern, timeoutMs = 120_000) => {
      const past = lines.find((line) => pattern.test(line));
      if (past !== undefined) return past;
      let watch: (line: string) => void = () => undefined;
      const found = new Promise<string>((resolve) => {
        watch = (line) => {
          if (pattern.test(line)) resolve(line);
        };
        watchers.add(watch);
      });
      const line = await within(timeoutMs, Promise.race([found, exited.then(() => null)]));
      watchers.delete(watch);
      if (typeof line === "string") return line;
      const why = line === late ? `within ${timeoutMs} ms` : "before it ended";
      throw new Error(`no line like ${String(pattern)} ${why}:\n${tail(lines)}`);
    },
  };
}

export const late = Symbol("late");

/** The work's result, or `late` after `timeoutMs`. */
export async function within<T>(timeoutMs: number, work: Promise<T>): Promise<T | typeof late> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<typeof late>((resolve) => {
    timer = setTimeout(() => resolve(late), timeoutMs);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

export const tail = (lines: readonly string[]): string => lines.slice(-20).join("\n");
