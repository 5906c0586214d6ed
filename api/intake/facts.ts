import type { Config } from "#src/config.ts";
import { rows, type Tx } from "#src/db.ts";
import {
  type AdmitFacts,
  type Candidate,
  externalKey,
  massNoSource,
  newcomerScope,
  type PastMark,
  type ReporterFacts,
} from "#src/domain/admit.ts";
import type { Located } from "#src/domain/judge.ts";
import type { Status } from "#src/domain/words.ts";
import { firstIdOfDay, fromMs, msOf } from "#src/marks.ts";

const dayMs = 86_400_000;
const intakeLock = 7_166_736;

/** Locks the batch's scopes, one per partner and one for the widget, in an order that is the same everywhere. */
export async function lockScopes(tx: Tx, batch: readonly Candidate[]): Promise<void> {
  const scopes = [...new Set(batch.map((mark) => mark.partnerId ?? 0))].sort((a, b) => a - b);
  await tx.raw("select pg_advisory_xact_lock(?, scope) from unnest(?::int[]) as scope", [
    intakeLock,
    scopes,
  ]);
}

/**
 * What the database knows about a batch, read after the scopes are locked: in the statement that waits for a lock
 * the snapshot would be from before the wait. Also one sequence number for each mark.
 */
export async function readFacts(
  tx: Tx,
  batch: readonly Candidate[],
  config: Config,
): Promise<{ facts: AdmitFacts; sequences: number[]; reporterIds: Map<string, number> }> {
  const [first] = await rows<{ now: number; sequences: number[] }>(
    tx,
    `select ${msOf("server_now()")} as now,
       array(select nextval('mark_seq')::float8 from generate_series(1, ?::int)) as sequences`,
    [batch.length],
  );
  const { now, sequences } = first!;
  const known = await readReporters(tx, batch);
  const ids = [...known.values()].map((row) => row.id);
  const idOf = new Map([...known].map(([hash, row]) => [hash, row.id]));
  const reporters = new Map<string, ReporterFacts>(
    [...known].map(([hash, row]) => [
      hash,
      { identity: String(row.id), firstSeen: row.first_seen, recent: [], located: [] },
    ]),
  );
  const byId = new Map([...known].map(([hash, row]) => [row.id, reporters.get(hash)!]));
  await readRecent(tx, ids, byId, now, config);
  const facts: AdmitFacts = {
    now,
    reporters,
    externalIds: await readExternalIds(tx, batch, now, config),
    newReporters: await readNewReporters(tx, batch, reporters, now),
    massNo: await readMassNo(tx, batch, reporters, now, config),
    nearby: await readNearby(tx, batch, now, config),
  };
  return { facts, sequences, reporterIds: idOf };
}

async function readReporters(
  tx: Tx,
  batch: readonly Candidate[],
): Promise<Map<string, { id: number; first_seen: number | null }>> {
  const found = await rows<{ hash: string; id: number; first_seen: number | null }>(
    tx,
    `select encode(r.hash, 'hex') as hash, r.id, ${msOf("r.first_seen")} as first_seen
     from reporters r where r.hash = any(select decode(h, 'hex') from unnest(?::text[]) as h)`,
    [[...new Set(batch.map((mark) => mark.reporter))]],
  );
  return new Map(found.map((row) => [row.hash, row]));
}

/** Accepted marks of the last day, and of the time before it the last located one: older movement is always possible. */
async function readRecent(
  tx: Tx,
  ids: readonly number[],
  byId: Map<number, ReporterFacts>,
  now: number,
  config: Config,
): Promise<void> {
  if (ids.length === 0) return;
  interface Row {
    id: number;
    reporter_id: number;
    station_id: string;
    status: Status;
    received_at: number;
    effective_at: number;
    lat: number | null;
    lon: number | null;
  }
  const columns = `id, reporter_id, station_id, status, ${msOf("received_at")} as received_at,
    ${msOf("effective_at")} as effective_at, lat, lon`;
  const recent = await rows<Row>(
    tx,
    `select ${columns} from marks
     where reporter_id = any(?::bigint[]) and id >= ? and received_at > ${fromMs} and review <> 'expired'`,
    [ids, firstIdOfDay(now - dayMs), now - dayMs],
  );
  for (const row of recent) {
    const reporter = byId.get(row.reporter_id)!;
    reporter.recent.push({
      id: row.id,
      stationId: row.station_id,
      status: row.status,
      receivedAt: row.received_at,
      effectiveAt: row.effective_at,
    } satisfies PastMark);
    if (row.lat !== null && row.lon !== null)
      reporter.located.push({ id: row.id, lat: row.lat, lon: row.lon, at: row.effective_at });
  }
  const halfway = 20_038_000;
  const reachMs = dayMs + (halfway / 1000 / config.speedMaxKmh) * 3_600_000;
  const earlier = await rows<Located & { id: number; reporter_id: number }>(
    tx,
    `select m.id, r.reporter_id, m.lat, m.lon, m.at
     from unnest(?::bigint[]) as r(reporter_id) cross join lateral (
       select id, lat, lon, ${msOf("effective_at")} as at from marks
       where marks.reporter_id = r.reporter_id and id >= ? and received_at <= ${fromMs} and lat is not null and review <> 'expired'
       order by effective_at desc, id desc limit 1) m`,
    [ids, firstIdOfDay(now - reachMs), now - dayMs],
  );
  for (const { reporter_id, ...located } of earlier) byId.get(reporter_id)!.located.push(located);
}

async function readExternalIds(
  tx: Tx,
  batch: readonly Candidate[],
  now: number,
  config: Config,
): Promise<AdmitFacts["externalIds"]> {
  const asked = batch.filter((mark) => mark.externalId !== null && mark.partnerId !== null);
  if (asked.length === 0) return new Map();
  const found = await rows<{
    partner_id: number;
    external_id: string;
    mark_id: number;
    station_id: string;
  }>(
    tx,
    `select k.partner_id, k.external_id, k.mark_id, k.station_id
     from unnest(?::int[], ?::text[]) as a(partner_id, external_id)
     join mark_keys k on k.partner_id = a.partner_id and k.external_id = a.external_id and k.at > ${fromMs}`,
    [
      asked.map((mark) => mark.partnerId),
      asked.map((mark) => mark.externalId),
      now - config.externalIdDays * dayMs,
    ],
  );
  return new Map(
    found.map((row) => [
      externalKey(row.partner_id, row.external_id),
      { id: row.mark_id, stationId: row.station_id },
    ]),
  );
}

async function readNewReporters(
  tx: Tx,
  batch: readonly Candidate[],
  reporters: ReadonlyMap<string, ReporterFacts>,
  now: number,
): Promise<AdmitFacts["newReporters"]> {
  const fresh = batch.filter((mark) => (reporters.get(mark.reporter)?.firstSeen ?? null) === null);
  const partners = [
    ...new Set(fresh.flatMap((mark) => (mark.viewer === null ? (mark.partnerId ?? []) : []))),
  ];
  const viewers = [...new Set(fresh.flatMap((mark) => mark.viewer ?? []))];
  const since = now - dayMs;
  const counts = new Map<string, { count: number; oldest: number }>();
  const add = (found: { scope: string; count: number; oldest: number }[]): void =>
    found.forEach(({ scope, count, oldest }) => counts.set(scope, { count, oldest }));
  if (partners.length > 0) {
    add(
      await rows(
        tx,
        `select 'p' || partner_id as scope, count(*) as count, ${msOf("min(first_seen)")} as oldest from reporters
         where partner_id = any(?::int[]) and viewer is null and first_seen > ${fromMs} group by partner_id`,
        [partners, since],
      ),
    );
  }
  if (viewers.length > 0) {
    add(
      await rows(
        tx,
        `select 'v' || encode(viewer, 'hex') as scope, count(*) as count, ${msOf("min(first_seen)")} as oldest from reporters
         where viewer = any(select decode(v, 'hex') from unnest(?::text[]) as v) and first_seen > ${fromMs} group by viewer`,
        [viewers, since],
      ),
    );
  }
  const wanted = new Set(fresh.map(newcomerScope));
  return new Map([...counts].filter(([scope]) => wanted.has(scope)));
}

async function readMassNo(
  tx: Tx,
  batch: readonly Candidate[],
  reporters: ReadonlyMap<string, ReporterFacts>,
  now: number,
  config: Config,
): Promise<AdmitFacts["massNo"]> {
  const isNewcomer = (mark: Candidate): boolean => {
    const seen = reporters.get(mark.reporter)?.firstSeen ?? null;
    return seen === null || now - seen < config.newcomerMs;
  };
  const suspects = batch.filter((mark) => mark.status === "no" && isNewcomer(mark));
  if (suspects.length === 0) return new Map();
  const sources = new Set(suspects.map(massNoSource));
  const found = await rows<{ source: string; count: number }>(
    tx,
    `select coalesce('v' || encode(viewer, 'hex'), 'k' || key_id) as source, count(*) as count from marks
     where newcomer and status = 'no' and received_at > ${fromMs} and id >= ? and review <> 'expired' group by 1`,
    [now - config.massNoWindowMs, firstIdOfDay(now - config.massNoWindowMs)],
  );
  return new Map(
    found.filter((row) => sources.has(row.source)).map((row) => [row.source, row.count]),
  );
}

/** The first and the last reporter with a live mark at each station: two are enough to know whether there is another. */
async function readNearby(
  tx: Tx,
  batch: readonly Candidate[],
  now: number,
  config: Config,
): Promise<AdmitFacts["nearby"]> {
  const stations = new Set(
    batch.flatMap((mark) => (mark.status === "no" && mark.confirmMin === 0 ? mark.nearbyIds : [])),
  );
  if (stations.size === 0) return new Map();
  const since = now - config.statusLifetimeMs;
  const found = await rows<{ station_id: string; first: number; last: number }>(
    tx,
    `select station_id, min(reporter_id) as first, max(reporter_id) as last from marks
     where station_id = any(?::text[]) and id >= ? and effective_at > ${fromMs} and review in ('none', 'approved')
     group by station_id`,
    [[...stations], firstIdOfDay(since), since],
  );
  return new Map(
    found.map((row) => [row.station_id, new Set([String(row.first), String(row.last)])]),
  );
}
