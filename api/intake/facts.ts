import { createClock } from "#src/clock.ts";
import type { Config } from "#src/config.ts";
import { rows, type Tx } from "#src/db.ts";
import {
  type AdmitFacts,
  type Candidate,
  externalKey,
  massNoSource,
  newcomerScope,
  type ReporterFacts,
} from "#src/domain/admit.ts";
import type { Status } from "#src/domain/words.ts";
import { firstIdOfDay, fromMs, idAfter, msOf } from "#src/marks.ts";
import { readStanding } from "#api/intake/standing.ts";

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

interface First {
  now: number;
  sequences: number[];
  reporters: { hash: string; id: number; first_seen: number | null }[] | null;
  named: NamedRow[] | null;
  past: PastRow[] | null;
}

interface NamedRow {
  partner_id: number;
  external_id: string;
  id: number;
  station_id: string;
  at: number;
}

interface PastRow {
  id: number;
  reporter_id: number;
  station_id: string;
  status: Status;
  received_at: number;
  effective_at: number;
  lat: number | null;
  lon: number | null;
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
  const first = await readFirst(tx, batch, config);
  const { now, sequences, reporters: known, named } = first;
  const reporters = new Map<string, ReporterFacts>();
  const byId = new Map<number, ReporterFacts>();
  for (const { hash, id, first_seen: firstSeen } of known ?? []) {
    const reporter = { identity: String(id), firstSeen, recent: [], located: [] };
    reporters.set(hash, reporter);
    byId.set(id, reporter);
  }
  for (const row of first.past ?? []) remember(byId.get(row.reporter_id)!, row, now);
  const facts: AdmitFacts = {
    now,
    reporters,
    externalIds: new Map(
      (named ?? [])
        .filter((row) => row.at > now - config.externalIdDays * dayMs)
        .map((row) => [
          externalKey(row.partner_id, row.external_id),
          { id: row.id, stationId: row.station_id },
        ]),
    ),
    ...(await readSecond(tx, batch, reporters, now, config)),
    standing: await readStanding(tx, batch, now, config),
  };
  const reporterIds = new Map((known ?? []).map(({ hash, id }) => [hash, id]));
  return { facts, sequences, reporterIds };
}

/** Half the equator: no two places are further apart. */
const halfwayKm = 20_038;

/**
 * All that needs nothing else to be known, in one statement: a batch is as fast as its statements are few. Of each
 * reporter the marks of the last day, and located ones for as long as a movement from them may be impossible.
 */
async function readFirst(tx: Tx, batch: readonly Candidate[], config: Config): Promise<First> {
  const asked = batch.filter((mark) => mark.externalId !== null && mark.partnerId !== null);
  // Only which partitions are looked into follows from this process's clock, with days to spare.
  const now = createClock(config)();
  const hashes = [...new Set(batch.map((mark) => mark.reporter))];
  const reachMs = 2 * dayMs + (halfwayKm / config.speedMaxKmh) * 3_600_000;
  const [first] = await rows<First>(
    tx,
    `select ${msOf("server_now()")} as now,
       array(select nextval('mark_seq')::float8 from generate_series(1, ?::int)) as sequences,
       (select json_agg(json_build_object('hash', encode(r.hash, 'hex'), 'id', r.id, 'first_seen', ${msOf("r.first_seen")}))
        from reporters r where r.hash = any(select decode(h, 'hex') from unnest(?::text[]) as h)) as reporters,
       (select json_agg(json_build_object('partner_id', k.partner_id, 'external_id', k.external_id, 'id', k.mark_id,
          'station_id', k.station_id, 'at', ${msOf("k.at")}))
        from unnest(?::int[], ?::text[]) as a(partner_id, external_id) cross join lateral (
          -- The limit makes it one probe of the index each, where a join would read the whole table.
          select * from mark_keys where partner_id = a.partner_id and external_id = a.external_id limit 1) k) as named,
       (select json_agg(p) from (
          select m.id, m.reporter_id, m.station_id, m.status, ${msOf("m.received_at")} as received_at,
            ${msOf("m.effective_at")} as effective_at, m.lat, m.lon
          from reporters r join marks m on m.reporter_id = r.id
          where r.hash = any(select decode(h, 'hex') from unnest(?::text[]) as h)
            and m.id >= ? and m.id < ? and m.review <> 'expired') p) as past`,
    [
      batch.length,
      hashes,
      asked.map((mark) => mark.partnerId),
      asked.map((mark) => mark.externalId),
      hashes,
      firstIdOfDay(now - reachMs),
      idAfter(now),
    ],
  );
  return first!;
}

function remember(reporter: ReporterFacts, row: PastRow, now: number): void {
  const { id, effective_at: at, received_at: receivedAt } = row;
  if (receivedAt > now - dayMs) {
    reporter.recent.push({
      id,
      stationId: row.station_id,
      status: row.status,
      receivedAt,
      effectiveAt: at,
    });
  }
  if (row.lat !== null && row.lon !== null)
    reporter.located.push({ id, lat: row.lat, lon: row.lon, at });
}

/** A part of a statement; null when there is nothing to ask. */
type Question = { sql: string; bindings: unknown[] } | null;

/** What follows from who is known, in one statement too; none when nobody is new and nobody says `no`. */
async function readSecond(
  tx: Tx,
  batch: readonly Candidate[],
  reporters: ReadonlyMap<string, ReporterFacts>,
  now: number,
  config: Config,
): Promise<Pick<AdmitFacts, "newReporters" | "massNo" | "nearby">> {
  const seenOf = (mark: Candidate): number | null =>
    reporters.get(mark.reporter)?.firstSeen ?? null;
  const fresh = batch.filter((mark) => seenOf(mark) === null);
  const suspects = batch.filter((mark) => {
    const seen = seenOf(mark);
    return mark.status === "no" && (seen === null || now - seen < config.newcomerMs);
  });
  const asked = {
    partners: askPartners(fresh, now),
    viewers: askViewers(fresh, now),
    mass_no: askMassNo(suspects, now, config),
    nearby: askNearby(batch, now, config),
  };
  const parts = Object.entries(asked).flatMap(([name, question]) =>
    question === null
      ? []
      : [{ ...question, sql: `(select json_agg(q) from (${question.sql}) q) as ${name}` }],
  );
  const [found = {}] =
    parts.length === 0
      ? []
      : await rows<Partial<Second>>(
          tx,
          `select ${parts.map(({ sql }) => sql).join(", ")}`,
          parts.flatMap(({ bindings }) => bindings),
        );
  const scopes = new Set(fresh.map(newcomerScope));
  const sources = new Set(suspects.map(massNoSource));
  return {
    newReporters: new Map(
      [...(found.partners ?? []), ...(found.viewers ?? [])]
        .filter(({ scope }) => scopes.has(scope))
        .map(({ scope, count, oldest }) => [scope, { count, oldest }]),
    ),
    massNo: new Map(
      (found.mass_no ?? [])
        .filter(({ source }) => sources.has(source))
        .map(({ source, count }) => [source, count]),
    ),
    nearby: new Map(
      (found.nearby ?? []).map(({ station_id, first, last }) => [
        station_id,
        new Set([String(first), String(last)]),
      ]),
    ),
  };
}

interface Newcomers {
  scope: string;
  count: number;
  oldest: number;
}

interface Second {
  partners: Newcomers[] | null;
  viewers: Newcomers[] | null;
  mass_no: { source: string; count: number }[] | null;
  nearby: { station_id: string; first: number; last: number }[] | null;
}

function askPartners(fresh: readonly Candidate[], now: number): Question {
  const partners = new Set(
    fresh.flatMap((mark) => (mark.viewer === null ? (mark.partnerId ?? []) : [])),
  );
  if (partners.size === 0) return null;
  return {
    sql: `select 'p' || partner_id as scope, count(*) as count, ${msOf("min(first_seen)")} as oldest from reporters
      where partner_id = any(?::int[]) and viewer is null and first_seen > ${fromMs} group by partner_id`,
    bindings: [[...partners], now - dayMs],
  };
}

function askViewers(fresh: readonly Candidate[], now: number): Question {
  const viewers = new Set(fresh.flatMap((mark) => mark.viewer ?? []));
  if (viewers.size === 0) return null;
  return {
    sql: `select 'v' || encode(viewer, 'hex') as scope, count(*) as count, ${msOf("min(first_seen)")} as oldest from reporters
      where viewer = any(select decode(v, 'hex') from unnest(?::text[]) as v) and first_seen > ${fromMs} group by viewer`,
    bindings: [[...viewers], now - dayMs],
  };
}

function askMassNo(
  suspects: readonly Candidate[],
  now: number,
  { massNoWindowMs }: Config,
): Question {
  if (suspects.length === 0) return null;
  return {
    sql: `select coalesce('v' || encode(viewer, 'hex'), 'k' || key_id) as source, count(*) as count from marks
      where newcomer and status = 'no' and received_at > ${fromMs} and id >= ? and id < ? and review <> 'expired' group by 1`,
    bindings: [now - massNoWindowMs, firstIdOfDay(now - massNoWindowMs), idAfter(now)],
  };
}

/** The first and the last reporter with a live mark at each station: two are enough to know whether there is another. */
function askNearby(batch: readonly Candidate[], now: number, config: Config): Question {
  const stations = new Set(
    batch.flatMap((mark) => (mark.status === "no" && mark.confirmMin === 0 ? mark.nearbyIds : [])),
  );
  if (stations.size === 0) return null;
  const since = now - config.statusLifetimeMs;
  return {
    sql: `select station_id, min(reporter_id) as first, max(reporter_id) as last from marks
      where station_id = any(?::text[]) and id >= ? and id < ? and effective_at > ${fromMs}
        and review in ('none', 'approved')
      group by station_id`,
    bindings: [[...stations], firstIdOfDay(since), idAfter(now), since],
  };
}
