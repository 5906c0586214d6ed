import { readdir, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { asFault, inFile, isFault, type ReadProgress, wrongFile } from "#src/import/read-text.ts";
import { type FileRecord, type FileSpec, guessSpec, readRecords } from "#src/import/records.ts";
import { fileNamed, type Source, type SourceFile } from "#src/import/source.ts";
import { valueAt } from "#src/import/source-values.ts";

/** The files that were given, by their names in the description, and how each is read. */
export type FoundFiles = ReadonlyMap<string, { path: string; spec: FileSpec }>;

/** The files of a folder, or the file itself. Files that begin with a dot are not taken. */
export async function filesAt(path: string): Promise<string[]> {
  if (!(await stat(path)).isDirectory()) return [path];
  const names = (await readdir(path, { withFileTypes: true }))
    .filter((entry) => entry.isFile() && !entry.name.startsWith("."))
    .map(({ name }) => name);
  return names.sort().map((name) => join(path, name));
}

/**
 * Finds out which of the paths is which file of the description, by what their first records have. Throws a wrong-file
 * fault for a path that is none of them, and when the file with the stations is not there.
 */
export async function findFiles(source: Source, paths: readonly string[]): Promise<FoundFiles> {
  const [only] = source.files;
  const found = new Map<string, { path: string; spec: FileSpec }>();
  const given = (await Promise.all(paths.map(filesAt))).flat();
  for (const path of given) {
    const free = source.files.filter(({ name }) => !found.has(name));
    const isAlone = given.length === 1 && source.files.length === 1;
    const fit = isAlone
      ? { file: only!, spec: await specOf(path, source) }
      : await fitting(path, free);
    if (fit === null) throw strange(path, source, found.size);
    found.set(fit.file.name, { path, spec: fit.spec });
  }
  if (!found.has(only!.name))
    throw wrongFile(
      `the file "${only!.name}" of the source ${source.name} is not there`,
      `It has ${(only!.has ?? []).join(", ")}.`,
    );
  return found;
}

/** How the only file of a source is read. The formats of OpenStreetMap are known by their first bytes. */
async function specOf(path: string, { as, files }: Source): Promise<FileSpec> {
  const { read } = files[0]!;
  if (!Array.isArray(read)) return read;
  return as === "osm" ? guessSpec(path) : ((await fitting(path, files))?.spec ?? read[0]!);
}

/**
 * The records of the file that the description calls `name`. Throws a wrong-file fault, which names the file, for a
 * table without the columns that it must have.
 */
export async function* recordsIn(
  source: Source,
  name: string,
  files: FoundFiles,
  progress: ReadProgress,
): AsyncGenerator<FileRecord[]> {
  const { path, spec } = files.get(name)!;
  const { has = [] } = fileNamed(source, name);
  yield* inFile(path, readRecords(path, spec, progress, has));
}

/** The first of the files, and of its ways to be read, whose columns or keys the file has. */
export async function fitting(
  path: string,
  files: readonly SourceFile[],
): Promise<{ file: SourceFile; spec: FileSpec } | null> {
  for (const file of files)
    for (const spec of [file.read].flat())
      if (await isOf(path, spec, file.has ?? [])) return { file, spec };
  return null;
}

const recordsTried = 20;

/** True if one of the file's first records has all of these columns or keys. */
async function isOf(path: string, spec: FileSpec, has: readonly string[]): Promise<boolean> {
  const looked = await asFault(path, async () => {
    let tried = 0;
    for await (const some of readRecords(path, spec, () => undefined)) {
      const fits = some
        .slice(0, recordsTried - tried)
        .some(
          ({ value, refused }) =>
            refused === undefined && has.every((name) => valueAt(value, name) !== undefined),
        );
      if (fits) return { fits };
      if ((tried += some.length) >= recordsTried) break;
    }
    return { fits: false };
  });
  return !isFault(looked) && looked.fits;
}

function strange(path: string, { name, files }: Source, taken: number): Error {
  const rest = files.map(
    (file) => `${file.name}${file.has === undefined ? "" : ` (has ${file.has.join(", ")})`}`,
  );
  return wrongFile(
    taken === files.length
      ? `${basename(path)} is one file too many: all files of the source ${name} are there`
      : `${basename(path)} is no file of the source ${name}`,
    `Its files are ${rest.join("; ")}. \`operator source try FILE\` shows what a file has.`,
  );
}
