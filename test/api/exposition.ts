/** Samples of a Prometheus page, by name and labels as they are written: `name{a="b"}`. */
export type Samples = Map<string, number>;

const name = "[a-zA-Z_:][a-zA-Z0-9_:]*";
const label = `[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\\\\n]|\\\\["\\\\n])*"`;
// prom-client writes Nan; Prometheus reads it in any case.
const value = "(?:Na[Nn]|[+-]?Inf|[+-]?(?:\\d+(?:\\.\\d*)?|\\.\\d+)(?:[eE][+-]?\\d+)?)";
const sample = new RegExp(`^(${name})(\\{${label}(?:,${label})*\\})? (${value})$`);
const comment = new RegExp(
  `^# (HELP ${name} .*|TYPE (${name}) (counter|gauge|histogram|summary))$`,
);

/**
 * Reads the text format 0.0.4 strictly: throws on a line that is neither comment nor sample, on a sample without a
 * type before it, and on one that is there twice.
 */
export function readExposition(text: string): Samples {
  if (!text.endsWith("\n")) throw new Error("the last line is not ended");
  const samples: Samples = new Map();
  const types = new Map<string, string>();
  for (const line of text.split("\n")) {
    if (line === "") continue;
    if (line.startsWith("#")) {
      const [, , of, type] = comment.exec(line) ?? fail(line);
      if (of !== undefined) types.set(of, type as string);
      continue;
    }
    const [, of = "", labels = "", number = ""] = sample.exec(line) ?? fail(line);
    const family = types.has(of) ? of : of.replace(/_(bucket|sum|count)$/, "");
    if (!types.has(family)) throw new Error(`no type before ${line}`);
    if (samples.has(of + labels)) throw new Error(`twice: ${line}`);
    samples.set(of + labels, number.endsWith("Inf") ? Infinity : Number(number));
  }
  return samples;
}

/** Names of all families that a page shows. */
export const familiesOf = (text: string): string[] =>
  [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, of = ""]) => of);

function fail(line: string): never {
  throw new Error(`not of the text format: ${line}`);
}
