import { advice, wrongFile } from "#src/import/read-text.ts";
import { guessSpec } from "#src/import/records.ts";
import { filesAt, fitting } from "#src/import/source-files.ts";
import { shippedSources, sourceNamed } from "#src/import/source-list.ts";
import type { Source } from "#src/import/source.ts";

/**
 * The shipped description that all of these files belong to; of several, the one with the most names that the files
 * have. Throws a wrong-file fault when there is none.
 */
export async function guessSource(paths: readonly string[]): Promise<Source> {
  const given = (await Promise.all(paths.map(filesAt))).flat();
  // First, because its formats are known by their beginnings.
  if (given.length === 1 && (await isOsm(given[0]!))) return sourceNamed("osm")!;
  const fits: { source: Source; names: number }[] = [];
  let lacking: Source | undefined;
  for (const source of shippedSources) {
    if (source.as === "osm" || given.length > source.files.length) continue;
    const found = await Promise.all(given.map((path) => fitting(path, source.files)));
    if (!found.every((fit) => fit !== null)) continue;
    const names = new Set(found.map(({ file }) => file.name));
    if (!names.has(source.files[0]!.name)) lacking = source;
    else if (names.size === given.length)
      fits.push({ source, names: found.flatMap(({ file }) => file.has ?? []).length });
  }
  const [best] = fits.sort((a, b) => b.names - a.names);
  if (best !== undefined) return best.source;
  if (lacking !== undefined)
    throw wrongFile(
      `it goes with the source ${lacking.name}, and its file "${lacking.files[0]!.name}" is missing`,
      `Give all files at once: the missing one has ${lacking.files[0]!.has!.join(", ")}.`,
    );
  throw wrongFile(
    "no description fits this file",
    `Say which it is with --source, or name its columns with --map. ${advice.kind}`,
  );
}

const isOsm = (path: string): Promise<boolean> =>
  guessSpec(path).then(
    () => true,
    () => false,
  );
