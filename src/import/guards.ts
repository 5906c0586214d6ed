import type { GuardName } from "#src/contract/console-imports.ts";
import { distanceM, type Point } from "#src/domain/geo.ts";
import type { Status } from "#src/domain/vocabulary.ts";
import { rows, type Db } from "#src/infrastructure/db.ts";
import { wrongFile } from "#src/import/read-text.ts";
import { isNearCountry, territoriesOf } from "#src/stations/territories.ts";

/** What a guard of whole files is told about an import. */
export interface GuardedImport {
  /** The name under which its rows are stored. */
  source: string;
  /** ISO code of the country or territory that the source is of; undefined if nobody says. */
  country?: string | undefined;
  /** True if each file is the whole source, and not a part of it. */
  isWhole?: boolean | undefined;
  /** Guards that are overridden, by name. */
  force?: readonly string[] | undefined;
}

type Placed = Point & { id: string };

const looked = 1000;
const movedM = 20_000;
/** Fewer stations than this prove nothing about their file. */
const enough = 5;

/**
 * Throws a wrong-file fault, with the figures and the name that overrides it, when a file's stations have moved far from
 * where they are stored, have latitude and longitude in the wrong order, or are in another country than the source or,
 * without one, than the stations of this instance. At most 1,000 stations are looked at.
 */
export async function guardPositions(
  db: Db,
  { source, country, force = [] }: GuardedImport,
  found: readonly Placed[],
): Promise<void> {
  const step = Math.ceil(found.length / looked);
  const some = found.filter((_, n) => n % step === 0);
  const refuse = (name: GuardName, what: string, why: string): void => {
    if (!force.includes(name)) throw wrongFile(what, overridable(why, name));
  };
  const stored = await storedPlaces(db, source, some);
  const known = some.filter(({ id }) => stored.has(id));
  const away = (one: Placed): boolean => distanceM(one, stored.get(one.id)!) > movedM;
  const moved = known.filter(away);
  if (known.length >= enough && moved.length > known.length / 2) {
    const figures = `${moved.length} of ${known.length} known stations would move by more than ${movedM / 1000} km`;
    if (share(moved, (one) => !away({ ...one, ...swapped(one) })) > 0.5)
      refuse("swapped", `latitude and longitude are swapped: ${figures}`, swap);
    else refuse("moved", figures, "The file may be of another region, or its ids of others.");
  }
  const expected = country === undefined ? await countriesOf(db) : [country];
  const isIn = (one: Point): boolean =>
    expected.length === 0
      ? codeOf(one) !== null
      : expected.some((code) => isNearCountry(one, code));
  const outside = some.filter((one) => !isIn(one));
  if (some.length < enough || outside.length <= some.length / 2) return;
  const where = expected.length === 0 ? "any country" : expected.join(", ");
  const figures = `${outside.length} of ${some.length} stations are not in ${where} (${commonest(outside)})`;
  if (share(outside, (one) => isIn(swapped(one))) > 0.5)
    refuse("swapped", `latitude and longitude are swapped: ${figures}`, swap);
  else refuse("country", figures, "The file may be of another country, or its positions wrong.");
}

/** Throws a wrong-file fault when a source that comes whole has fewer than half of the stations that it had. */
export function guardShrinking(
  { source, isWhole = false, force = [] }: GuardedImport,
  found: number,
  known: number,
): void {
  if (!isWhole || known < enough || found * 2 >= known || force.includes("half")) return;
  throw wrongFile(
    `it has ${found} stations, and the source "${source}" had ${known}`,
    overridable("The file may be a part, or cut off.", "half"),
  );
}

/**
 * Throws a wrong-file fault when nearly all statuses of a file say `no`, and those of its source in the last week did
 * not: a source that fails often says so of everything (decisions 14.38).
 */
export async function guardAllNo(
  db: Db,
  { source, force = [] }: GuardedImport,
  statuses: readonly { status: Status }[],
): Promise<void> {
  const none = statuses.filter(({ status }) => status === "no").length;
  const part = none / statuses.length;
  if (statuses.length < judgedFrom || part < allNo || force.includes("all-no")) return;
  const sql = `select count(*) as all, count(*) filter (where status = 'no') as none from (
       select distinct on (station_id) status from seeds
       where source = ? and imported_at > server_now() - interval '7 days'
       order by station_id, imported_at desc) s`;
  const [before] = await rows<{ all: number; none: number }>(db, sql, [source]);
  if (before!.all < judgedFrom || before!.none / before!.all > part - jump) return;
  throw wrongFile(
    `${none} of its ${statuses.length} statuses are "no", and only ${before!.none} of the last ${before!.all} of source "${source}" were`,
    overridable("The source may have failed.", "all-no"),
  );
}

/** Fewer statuses of a file, or of its source, say nothing about a country. */
const judgedFrom = 20;
/** Shares of `no`: refused from the one on, when it was this much lower before. */
const [allNo, jump] = [0.8, 0.4];

const swap = "Give each to its own field, in the file or in the source's description.";
const overridable = (why: string, name: GuardName): string =>
  `${why} If it is right, import it again with \`--force ${name}\`.`;

/** The territory, else the country: those of Hong Kong are not in China (decisions 14.50). */
const codeOf = (point: Point): string | null =>
  territoriesOf(point).find((code) => code.length === 2) ?? null;
const swapped = ({ lat, lon }: Point): Point => ({ lat: lon, lon: lat });
const share = <T>(all: readonly T[], is: (one: T) => boolean): number =>
  all.length === 0 ? 0 : all.filter(is).length / all.length;

function commonest(points: readonly Point[]): string {
  const counts = new Map<string, number>();
  for (const point of points) {
    const code = codeOf(point) ?? "the sea";
    counts.set(code, (counts.get(code) ?? 0) + 1);
  }
  const [first] = [...counts].sort(([, a], [, b]) => b - a);
  return `${first![1]} of them in ${first![0]}`;
}

async function storedPlaces(
  db: Db,
  source: string,
  some: readonly Placed[],
): Promise<ReadonlyMap<string, Point>> {
  const sql =
    "select id, lat, lon from stations where id = any(?::text[]) and source = ? and removed_at is null";
  const found = await rows<Placed>(db, sql, [some.map(({ id }) => id), source]);
  return new Map(found.map((one) => [one.id, one]));
}

/** The countries of the instance: those with at least a fiftieth of its stations. The demo's are not counted. */
async function countriesOf(db: Db): Promise<string[]> {
  const sql = `select lat, lon from stations where removed_at is null and source <> 'demo'
      order by hashtext(id) limit ?`;
  const some = await rows<Point>(db, sql, [looked]);
  const codes = some.map(codeOf);
  return [...new Set(codes)].filter(
    (code): code is string => code !== null && share(codes, (one) => one === code) >= 1 / 50,
  );
}
