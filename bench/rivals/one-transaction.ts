import type { ReportOutput } from "#src/contract/present.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { type Db, inTransaction, rows, type Tx } from "#src/infrastructure/db.ts";
import {
  admit,
  type AdmitFacts,
  type Admitted,
  type IncomingMark,
  externalKey,
  type PastMark,
  type ReporterFacts,
} from "#src/domain/admit.ts";
import { decide } from "#src/domain/decide.ts";
import { boxAround, distanceM, type Point } from "#src/domain/geo.ts";
import { type Refusal, refuse } from "#src/contract/refusals.ts";
import type { ParsedReport } from "#src/contract/report.ts";
import { emptyState, type Mark, type StationState } from "#src/domain/state.ts";
import { transitions, view } from "#src/domain/view.ts";
import type { Status } from "#src/domain/vocabulary.ts";
import type { KeyInfo } from "#src/keys/key-store.ts";
import { firstIdOfDay, fromMs, msOf, partnerReporter } from "#src/marks/marks.ts";

export interface Forwarded {
  parsed: ParsedReport;
  key: KeyInfo;
  userRef: string;
  externalId: string | null;
}

const dayMs = 86_400_000;

interface Locked {
  id: number;
  now: number;
  state: StationState | null;
  opinions: { mark: Mark; seen: number }[];
}

/**
 * A mark's whole way in one transaction: lock the station and the reporter, read, check with the same rules, store
 * the mark with its outcome, its opinion and the station's new state, commit. It takes none of the locks that make
 * the product's caps exact and its feed ordered by commit: it promises less, and is the faster for it.
 */
export async function markInOneTransaction(
  { db, config }: { db: Db; config: Config },
  stationId: string,
  forwarded: Forwarded,
): Promise<ReportOutput | Refusal> {
  const [station] = await rows<Point>(
    db,
    "select lat, lon from stations where id = ? and removed_at is null",
    [stationId],
  );
  if (station === undefined) return refuse("station-not-found", "There is no such station.");
  return inTransaction(db, async (tx) => {
    const locked = await lockStation(tx, stationId);
    const { now } = locked;
    const incomingMark = await candidateOf(tx, stationId, station, forwarded, config);
    const known = await lockReporter(tx, incomingMark);
    const facts = await readFacts(tx, incomingMark, known, now, config);
    const admission = admit(facts, incomingMark, locked.id, config);
    if (admission.kind === "refused") return admission.problem;
    if (admission.kind === "duplicate")
      return answerOf(locked.state ?? emptyState, now, config, { id: admission.of });
    const reporterId = known?.first_seen != null ? known.id : await storeReporter(tx, incomingMark);
    const mark = markOf(admission, reporterId);
    const seen = new Map(locked.opinions.map((one) => [one.mark.reporterId, one.seen]));
    seen.set(reporterId, known?.first_seen ?? now);
    const decision = decide(
      {
        state: locked.state ?? emptyState,
        opinions: locked.opinions.map((one) => one.mark),
        history: null,
      },
      { marks: [mark], seeds: [] },
      (id) => seen.get(id) ?? 0,
      now,
      config,
    );
    const outcome = decision.outcomes.get(mark.id)!;
    await storeMark(tx, admission, reporterId, now, outcome);
    await tx.raw(
      "insert into mark_keys (partner_id, external_id, mark_id, station_id, at) values (?, ?, ?, ?, server_now())",
      [incomingMark.partnerId, incomingMark.externalId, mark.id, stationId],
    );
    await tx.raw(
      `insert into opinions (station_id, reporter_id, mark_id, effective_at, mark) values (?, ?, ?, ${fromMs}, ?::jsonb)
       on conflict (station_id, reporter_id) do update
         set mark_id = excluded.mark_id, effective_at = excluded.effective_at, mark = excluded.mark`,
      [stationId, reporterId, mark.id, mark.at, JSON.stringify(mark)],
    );
    const next =
      transitions(decision.state, config.statusLifetimeMs).find((at) => at > now) ?? null;
    await tx.raw(
      `update station_status set state = ?::jsonb, status = ?, updated_at = server_now(), next_at = ${fromMs}
       where station_id = ?`,
      [JSON.stringify(decision.state), outcome.status, next, stationId] as never,
    );
    await tx.raw(
      `insert into changes (station_id, seq, at) values (?, nextval('change_seq'), server_now())
       on conflict (station_id) do update set seq = excluded.seq, at = excluded.at`,
      [stationId],
    );
    return answerOf(decision.state, now, config, {
      id: mark.id,
      admitted: admission,
      outcome: outcome.outcome,
      have: outcome.have,
    });
  });
}

/** The station's row first, then what is read under its lock. */
async function lockStation(tx: Tx, stationId: string): Promise<Locked> {
  const lock = (): Promise<unknown[]> =>
    rows(tx, "select from station_status where station_id = ? for no key update", [stationId]);
  if ((await lock()).length === 0) {
    await tx.raw("insert into station_status (station_id) values (?) on conflict do nothing", [
      stationId,
    ]);
    await lock();
  }
  const [found] = await rows<Omit<Locked, "opinions"> & { opinions: Locked["opinions"] | null }>(
    tx,
    `select ${msOf("server_now()")} as now, next_mark_id(server_now()) as id, s.state,
       (select jsonb_agg(jsonb_build_object('mark', o.mark, 'seen', ${msOf("r.first_seen")}))
        from opinions o join reporters r on r.id = o.reporter_id where o.station_id = s.station_id) as opinions
     from station_status s where s.station_id = ?`,
    [stationId],
  );
  return { ...found!, opinions: found!.opinions ?? [] };
}

async function candidateOf(
  tx: Tx,
  stationId: string,
  station: Point,
  { parsed, key, userRef, externalId }: Forwarded,
  config: Config,
): Promise<IncomingMark> {
  return {
    ...parsed,
    stationId,
    station,
    nearbyIds: parsed.status === "no" ? await stationsNear(tx, station, config.nearbyNoM) : [],
    medians: {},
    reporter: partnerReporter(config.reporterPepper, key.partnerId, userRef),
    partnerId: key.partnerId,
    keyId: key.id,
    viewer: null,
    confirms: false,
    externalId,
    confirmMin: key.confirmMin,
    reports: key.reports,
    acceptRemote: key.partner.acceptRemote,
    newUsersLimit: config.newReportersDaily,
  };
}

async function stationsNear(tx: Tx, centre: Point, radiusM: number): Promise<string[]> {
  const { south, north, west, east } = boxAround(centre, radiusM);
  const found = await rows<Point & { id: string }>(
    tx,
    "select id, lat, lon from stations where lat between ? and ? and lon between ? and ? and removed_at is null",
    [south, north, west, east],
  );
  return found.filter((one) => distanceM(centre, one) <= radiusM).map((one) => one.id);
}

interface Known {
  id: number;
  first_seen: number | null;
}

const lockReporter = async (tx: Tx, { reporter }: IncomingMark): Promise<Known | undefined> =>
  (
    await rows<Known>(
      tx,
      `select id, ${msOf("first_seen")} as first_seen from reporters where hash = decode(?, 'hex') for no key update`,
      [reporter],
    )
  )[0];

async function readFacts(
  tx: Tx,
  mark: IncomingMark,
  known: Known | undefined,
  now: number,
  config: Config,
): Promise<AdmitFacts> {
  const reporter: ReporterFacts = {
    identity: String(known?.id ?? mark.reporter),
    firstSeen: known?.first_seen ?? null,
    recent: [],
    located: [],
  };
  const facts: AdmitFacts = {
    now,
    reporters: new Map([[mark.reporter, reporter]]),
    externalIds: new Map(),
    newReporters: new Map(),
    nearby: new Map(),
    sharedNetworks: new Set(),
    blocked: new Set(),
    pendingStatus: new Map(),
  };
  const [first] = await rows<{ mark_id: number; station_id: string }>(
    tx,
    `select mark_id, station_id from mark_keys where partner_id = ? and external_id = ? and at > ${fromMs}`,
    [mark.partnerId, mark.externalId, now - config.externalIdDays * dayMs],
  );
  if (first !== undefined)
    facts.externalIds.set(externalKey(mark.partnerId!, mark.externalId!), {
      id: first.mark_id,
      stationId: first.station_id,
    });
  if (known !== undefined) await readPast(tx, reporter, known.id, now);
  if (reporter.firstSeen === null) {
    const [fresh] = await rows<{ count: number }>(
      tx,
      `select count(*) as count from reporters where partner_id = ? and first_seen > ${fromMs}`,
      [mark.partnerId, now - dayMs],
    );
    facts.newReporters.set(mark.partnerId!, { count: fresh!.count, freeAt: now });
  }
  if (mark.status === "no") {
    const since = now - config.statusLifetimeMs;
    const near = await rows<{ station_id: string; reporter_id: number }>(
      tx,
      `select distinct station_id, reporter_id from marks
       where station_id = any(?::text[]) and id >= ? and id < ? and effective_at > ${fromMs}
         and review in ('none', 'approved') limit 2`,
      [mark.nearbyIds, firstIdOfDay(since), firstIdOfDay(now + dayMs), since],
    );
    for (const row of near) {
      const here = facts.nearby.get(row.station_id) ?? new Set<string>();
      facts.nearby.set(row.station_id, here.add(String(row.reporter_id)));
    }
  }
  return facts;
}

/** The reporter's marks of the last days, for cooldown, caps and movement. */
async function readPast(
  tx: Tx,
  reporter: ReporterFacts,
  reporterId: number,
  now: number,
): Promise<void> {
  const past = await rows<PastMark & { lat: number | null; lon: number | null; status: Status }>(
    tx,
    `select id, station_id as "stationId", status, ${msOf("received_at")} as "receivedAt",
       ${msOf("effective_at")} as "effectiveAt", lat, lon
     from marks where reporter_id = ? and id >= ? and id < ? and review <> 'expired'`,
    [reporterId, firstIdOfDay(now - 5 * dayMs), firstIdOfDay(now + dayMs)],
  );
  for (const { lat, lon, ...mark } of past) {
    if (now - mark.receivedAt < dayMs) reporter.recent.push(mark);
    if (lat !== null && lon !== null)
      reporter.located.push({ id: mark.id, lat, lon, at: mark.effectiveAt });
  }
}

const storeReporter = async (tx: Tx, mark: IncomingMark): Promise<number> =>
  (
    await rows<{ id: number }>(
      tx,
      `insert into reporters (hash, partner_id, first_seen) values (decode(?, 'hex'), ?, server_now())
       on conflict (hash) do update set first_seen = coalesce(reporters.first_seen, excluded.first_seen) returning id`,
      [mark.reporter, mark.partnerId],
    )
  )[0]!.id;

function markOf(admitted: Admitted, reporterId: number): Mark {
  const { incomingMark, id, effectiveAt, remote, needed, rule } = admitted;
  const mark: Mark = {
    at: effectiveAt,
    id,
    reporterId,
    status: incomingMark.status,
    remote,
    needed,
    rule,
  };
  if (incomingMark.fuels) mark.fuels = incomingMark.fuels;
  if (incomingMark.fuelsNo) mark.fuelsNo = incomingMark.fuelsNo;
  if (incomingMark.queue) mark.queue = incomingMark.queue;
  if (incomingMark.prices) mark.prices = incomingMark.prices;
  return mark;
}

async function storeMark(
  tx: Tx,
  admitted: Admitted,
  reporterId: number,
  now: number,
  outcome: { outcome: string; status: string; reason: string; have: number },
): Promise<void> {
  const { incomingMark: mark } = admitted;
  await tx.raw(
    `insert into marks (id, station_id, reporter_id, partner_id, key_id, source, external_id, status, received_at,
       effective_at, lat, lon, acc_m, express, fuels, fuels_no, queue, prices, comment, remote, needed, rule, newcomer,
       review, processed_at, outcome, outcome_status, outcome_reason, outcome_have)
     values (?, ?, ?, ?, ?, 'partner', ?, ?, ${fromMs}, ${fromMs}, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
       server_now(), ?, ?, ?, ?)`,
    [
      ...[admitted.id, mark.stationId, reporterId, mark.partnerId, mark.keyId, mark.externalId],
      ...[mark.status, now, admitted.effectiveAt, mark.lat, mark.lon, mark.accM, mark.express],
      ...[mark.fuels ?? null, mark.fuelsNo ?? null, mark.queue ?? null],
      ...[mark.prices ? JSON.stringify(mark.prices) : null, mark.comment, admitted.remote],
      ...[admitted.needed, admitted.rule, admitted.newcomer, admitted.review],
      ...[outcome.outcome, outcome.status, outcome.reason, outcome.have],
    ] as never,
  );
}

function answerOf(
  state: StationState,
  now: number,
  config: Config,
  is: {
    id: number;
    admitted?: Admitted;
    outcome?: ReportOutput["published"]["outcome"];
    have?: number;
  },
): ReportOutput {
  const fuel = view(state, now, config.statusLifetimeMs);
  return {
    report_id: String(is.id),
    accepted: true,
    remote: is.admitted?.remote ?? false,
    published: {
      outcome: is.outcome ?? "queued",
      status: fuel.status,
      resolution_reason: fuel.resolution_reason,
      needed: is.admitted?.needed ?? null,
      have: is.have ?? null,
      rule: is.admitted?.rule ?? null,
    },
    fuel,
    duplicate: is.admitted === undefined,
  };
}
