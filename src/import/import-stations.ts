import { setImmediate as nextTurn } from "node:timers/promises";
import type { StationRow } from "#src/feed/feed.ts";
import { rows, type Db } from "#src/infrastructure/db.ts";
import { gradesText } from "#src/domain/vocabulary.ts";
import { idsOfSource, saveListed, saveStations } from "#src/import/apply-stations.ts";
import { readAliases, servedBrands } from "#src/import/brand-aliases.ts";
import {
  brandSpellings,
  knownBrands,
  type Town,
  withoutTownBrands,
} from "#src/import/brand-names.ts";
import {
  type Collected,
  importFile,
  type ImportOptions,
  type ImportSummary,
  refuse,
  refuseRemovals,
  summaryOf,
} from "#src/import/file-import.ts";
import { guardPositions, guardShrinking, type GuardedImport } from "#src/import/guards.ts";
import { type ImportedStation, shownNames } from "#src/import/osm-station.ts";
import type { FileFault } from "#src/import/read-text.ts";
import { joinSources, saveDoubtful } from "#src/import/join-sources.ts";
import { giveIds, saveIds } from "#src/import/station-ids.ts";
import { showSource } from "#src/stations/shown-fields.ts";
import { readableHours } from "#src/stations/opening-hours.ts";
import { isNearCountry } from "#src/stations/territories.ts";
import { saveCredit } from "#src/import/source-credits.ts";
import { joinSame } from "#src/import/same-station.ts";

export const stationFormats = ["overpass", "geojson"] as const;
export type StationFormat = (typeof stationFormats)[number];

type Options = Omit<ImportOptions<string>, "format"> &
  GuardedImport & {
    /** Who must be named for these stations. */
    credit?: string | undefined;
  };
type Staged = Collected<ImportedStation> & { format: string };

/** Imports the stations that `read` finds, under the name `source`; `path` is what faults are about. */
export const importStationRows = (
  db: Db,
  options: Options,
  read: (onBytes: (bytes: number) => void) => Promise<Staged>,
): Promise<ImportSummary | FileFault> =>
  importFile(db, options, `stations of ${options.source}`, read, (staged) =>
    apply(db, { ...options, format: staged.format }, staged),
  );

const turnMs = 50;

async function apply(
  db: Db,
  options: Options & { format: string },
  staged: Staged,
): Promise<ImportSummary> {
  const { source, replaceSource, dryRun, progress } = options;
  const known = await idsOfSource(db, source);
  const { inService, closed } = known;
  const parts = new Set(known.parts.map(({ id }) => id));
  const given = await giveIds(db, source, staged.found, known, replaceSource);
  // A hundred bytes a station, for which the garbage collector would look again and again.
  known.places.numbers.clear();
  await guardPositions(db, options, staged.found);
  const listed = known.parts.filter((part) => part.listed).map(({ id }) => id);
  const size = inService.size + listed.length;
  const { stations, doubles, doubtful, refs } = await toSave(db, options, staged, {
    ...{ inService, parts, closed, size },
  });
  staged.found.length = 0;
  const kept = new Set(stations.map(({ id }) => id));
  const asked = new Set(given.asked.map(({ whole }) => whole));
  const leaving = replaceSource ? [...inService, ...closed, ...listed] : doubles;
  const left = new Set(leaving.filter((id) => !kept.has(id) && !asked.has(id)));
  const gone = [...left].filter((id) => inService.has(id) || closed.has(id));
  // Those that were closed or reopened by hand stay as they are.
  const byHand = new Set([...known.closed, ...known.reopened]);
  const removals = [...left].filter((id) => !byHand.has(id)).length;
  if (replaceSource) {
    const fresh = stations.filter(({ id }) => !inService.has(id) && !parts.has(id)).length;
    refuseRemovals(options, "stations", removals, size, { fresh, asked: asked.size });
  }
  // Before the first of them is shown.
  if (!dryRun) await saveCredit(db, source, options.credit);
  const applied = await saveStations(db, source, { stations, gone }, dryRun, (done) =>
    progress("saving", done, stations.length + gone.length),
  );
  const away = [...parts].filter((id) => left.has(id));
  if (!dryRun) {
    await saveIds(db, source, given);
    await saveListed(db, { listed: [...parts].filter((id) => kept.has(id)), gone: away });
    // Before stations are compared: what a part says no more is no fact of its whole. A join shows its fields itself.
    await showSource(db, source);
  }
  const across = await joinSources(db, source, { found: stations, refs, away }, dryRun);
  if (!dryRun) await saveDoubtful(db, given.asked, source);
  across.asked += given.asked.length;
  const { kept: kept_by_hand, removed, ...compared } = applied;
  const merged = doubles.length + staged.repeated;
  const renumbered = given.aliases.length;
  const counts = { ...compared, merged, removed, kept_by_hand, renumbered, ...across };
  return { ...summaryOf(options, staged, counts), doubtful };
}

/** The stations of a file as they are to be saved, each once; ids of those that are others; and ids in registers. */
async function toSave(
  db: Db,
  options: Options,
  staged: Staged,
  known: Parameters<typeof joinSame>[1] & { size: number },
) {
  const { source, replaceSource, country } = options;
  const cities = await rows<Town>(db, "select name, lat, lon from cities");
  const imported = withoutTownBrands(inCountry(staged, country), cities);
  guardShrinking(options, imported.length, known.size);
  const { groups, doubtful } = joinSame(imported, known, staged.rows);
  const found = new Set(replaceSource ? [] : imported.map(({ id }) => id));
  const stays = replaceSource ? [] : [...known.inService].filter((id) => !found.has(id));
  const brands = brandSpellings(await servedBrands(db, source, stays), imported);
  const knownBrand = knownBrands(await readAliases(db), country);
  const stations: StationRow[] = [];
  const doubles: string[] = [];
  const refs = new Map<string, readonly string[]>();
  let turnEnds = 0;
  for (const { station, doubles: others } of groups) {
    doubles.push(...others);
    if (station.refs !== undefined) refs.set(station.id, station.refs);
    const { id, own = id, lat, lon, addr, closed = "", place = "" } = station;
    // A text of hours may take a millisecond to read.
    if (stations.length % 100 === 0 && performance.now() > turnEnds) {
      await nextTurn();
      turnEnds = performance.now() + turnMs;
    }
    const opening_hours = readableHours(station.opening_hours);
    const grades_sold = gradesText(station.grades_sold ?? []);
    if (station.sells === "gas") refuse(staged, "lpg-only", 1, { place, id: own });
    else {
      const { brand, name } = shownNames(station, brands, knownBrand);
      stations.push({ id, lat, lon, brand, name, addr, grades_sold, opening_hours, closed });
    }
  }
  return { stations, doubles, doubtful, refs };
}

/** The stations of a file that are in the source's country; the others are refused by name. */
export const inCountry = (staged: Omit<Staged, "format">, country?: string): ImportedStation[] =>
  staged.found.filter((station) => {
    if (country === undefined || isNearCountry(station, country)) return true;
    const { id, own = id, place = "", lat, lon } = station;
    const about = { place, id: own, field: "lat, lon", value: `${lat} ${lon}` };
    refuse(staged, "other-country", 1, about);
    return false;
  });
