import type { Fault } from "#src/contract/refusals.ts";

/** Longer names are not typing errors. */
const longest = 64;

/** The common form of all spellings of a name: case, separators, and brackets at the end do not count. */
function fold(name: string): string {
  const bare = name.endsWith("]") ? name.replace(/\[[^\]]*\]$/, "") : name;
  const joined = bare.includes("_") || bare.includes("-") ? bare.replaceAll(/[_-]/g, "") : bare;
  return joined.toLowerCase();
}

/**
 * Finds the known name of which another name is a spelling; undefined when there is none (decisions 3.17, 7.14).
 * `plurals`: `fuels` is a spelling of `fuel`, and `day` of `days`.
 */
export function createSpelling(
  known: Iterable<string>,
  plurals = false,
): (name: string) => string | undefined {
  const names = [...known];
  const byFold = new Map(names.map((name) => [fold(name), name]));
  const other = (name: string): string[] => {
    const folded = fold(name);
    return [`${folded}s`, `${folded}es`, ...(/..s$/.test(folded) ? [folded.slice(0, -1)] : [])];
  };
  if (plurals)
    for (const name of names)
      for (const spelling of other(name)) if (!byFold.has(spelling)) byFold.set(spelling, name);
  const exact = new Set(names);
  return (name) => (name.length > longest || exact.has(name) ? undefined : byFold.get(fold(name)));
}

/** The fault of a name in another spelling than the known one. */
export const misspelt = (where: "body" | "query", name: string, known: string): Fault => ({
  loc: [where, name],
  msg: `Unknown name; it is spelt ${known}`,
  type: "name_spelling",
  ctx: { known },
});
