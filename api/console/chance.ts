import { LRUCache } from "lru-cache";
import { consoleCall, type ConsoleCall, idOf } from "#api/console/operator-gate.ts";
import type { ConsoleDeps } from "#api/console/deps.ts";
import { orThrow } from "#api/http/errors.ts";
import type { ConsoleChance, ConsoleLies } from "#src/contract/console-review.ts";
import type { SharedBeliefs } from "#src/domain/chance/chances.ts";
import { shippedNumbers } from "#src/domain/chance/numbers.ts";
import { createShares } from "#src/domain/chance/shares.ts";
import { trailOf } from "#src/domain/chance/trail.ts";
import { runsWithin } from "#src/domain/view.ts";
import { dayMs, minuteMs } from "#src/domain/units.ts";
import { zoneAheadMs } from "#src/domain/wall-clock.ts";
import { type Db, rows } from "#src/infrastructure/db.ts";
import { feedSources, heardMs, marksOfStations } from "#src/marks/chance-marks.ts";
import { loadRuns } from "#src/marks/stored-runs.ts";
import { unknown } from "#src/operators/act.ts";
import { stationId } from "#src/operators/inputs.ts";
import { zoneOf } from "#src/stations/territories.ts";
import { createChanceStore } from "#snapshots/dumps/chance-snapshot.ts";

const shownMs = 2 * dayMs;
const everyMs = 20 * minuteMs;
const reportersShown = 50;
/** What one mark of a reporter looks like says little. */
const judgedLeast = 2;

/** The chances as operators see them: what marks did to a station's, and who lies. */
export const chanceCalls = (services: ConsoleDeps): ConsoleCall[] => [
  consoleCall("GET", "/stations/{id}/chance", { role: "viewer" }, async (ctx) => {
    const id = idOf(stationId, ctx.params["id"]);
    ctx.body = orThrow((await chanceOf(services, id)) ?? unknown("station", id));
  }),
  consoleCall("GET", "/lies", { role: "viewer" }, async (ctx) => {
    ctx.body = await liesIn(services.db, await liesOf(services));
  }),
];

interface Lies {
  shared: SharedBeliefs;
  shares: ReturnType<typeof createShares>;
}

/** It is stored each five minutes, and reading that of 300,000 reporters holds this process up for 0.2 s. */
const liesLately = new LRUCache<string, Lies>({ max: 1, ttl: minuteMs });

/** What the process that follows the marks has last stored of lies; undefined without it, and while Redis is away. */
async function liesOf({ config, redis }: ConsoleDeps): Promise<Lies | undefined> {
  const { redisPrefix } = config;
  const known = liesLately.get(redisPrefix);
  if (known !== undefined) return known;
  const shared = await createChanceStore(redis, redisPrefix)
    .loadShared()
    .catch(() => null);
  if (shared === null) return undefined;
  const lies = { shared, shares: createShares(shippedNumbers.shares, shared) };
  liesLately.set(redisPrefix, lies);
  return lies;
}

/** The share of lies that is believed of a mark; undefined while nothing is known. */
export const shareOfLies = async (services: ConsoleDeps) =>
  (await liesOf(services))?.shares.shareOf;

async function chanceOf(services: ConsoleDeps, id: string): Promise<ConsoleChance | null> {
  const { db, config, clock } = services;
  const until = clock();
  const from = until - shownMs;
  const [place] = await rows<{ lat: number; lon: number }>(
    db,
    "select lat, lon from stations where id = ?",
    [id],
  );
  const runs = await loadRuns(db, id, from, config);
  if (place === undefined || runs === null) return null;
  const [marks, lies] = await Promise.all([
    marksOfStations(db, new Map([[id, from - heardMs]]), until),
    liesOf(services),
  ]);
  const trail = trailOf(
    shippedNumbers,
    lies?.shared,
    marks.get(id) ?? [],
    zoneAheadMs(until, zoneOf(place)),
    { from, until, everyMs },
  );
  return {
    ...{ from, until },
    points: trail.points.map(({ at, chance }) => ({ at, chance: percent(chance) })),
    marks: trail.marks.map(({ before, after, ...mark }) => ({
      ...mark,
      before: before === null ? null : percent(before),
      after: percent(after),
    })),
    runs: runsWithin(runs, from, until),
  };
}

/** The most lies first; of reporters only the first. */
async function liesIn(db: Db, lies: Lies | undefined): Promise<ConsoleLies> {
  const { told, shareOf } = lies?.shares ?? createShares(shippedNumbers.shares);
  const { classes, sources, reporters } = told();
  const feeds = new Map(await feedSources(db));
  const ofSource = (sourceId: number, fuel: boolean, newcomer: boolean): number =>
    percent(shareOf({ sourceId, fuel, newcomer, remote: sourceId < 0, reporterId: 0 }));
  return {
    kinds: classes
      .map(({ share, ...kind }) => ({ ...kind, lies: percent(share) }))
      .sort((a, b) => b.lies - a.lies),
    sources: sources
      .map(({ sourceId, fuel, judged }) => ({
        ...{ key_id: sourceId < 0 ? null : sourceId, feed: feeds.get(sourceId) ?? "" },
        ...{ fuel, judged },
        known: ofSource(sourceId, fuel, false),
        newcomers: ofSource(sourceId, fuel, true),
      }))
      .sort((a, b) => b.newcomers - a.newcomers),
    reporters: reporters
      .filter(({ reporterId, judged }) => reporterId > 0 && judged >= judgedLeast)
      .map(({ reporterId: id, share, judged }) => ({ id, lies: percent(share), judged }))
      .sort((a, b) => b.lies - a.lies)
      .slice(0, reportersShown),
  };
}

const percent = (share: number): number => Math.round(100 * share);
