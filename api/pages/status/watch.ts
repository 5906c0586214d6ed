import { ageOf, isYoung } from "#src/domain/age.ts";
import { minuteMs } from "#src/domain/units.ts";
import { readServiceDays, sayWell, shownDays } from "#src/alarms/service/days.ts";
import { listIncidents } from "#src/alarms/service/incidents.ts";
import type { ConsoleIncident } from "#src/contract/console.ts";
import {
  type DayOfFeeds,
  daysOf,
  type FeedReport,
  type FeedState,
  judgeAll,
  judgeFeeds,
  withIncidents,
} from "#src/domain/service-state.ts";
import type { DutyWatch } from "#src/infrastructure/duty-times.ts";
import type { Peers } from "#src/infrastructure/peers.ts";
import { createPolled } from "#src/infrastructure/polled.ts";
import type { Quarantine } from "#src/infrastructure/quarantine.ts";
import type { Resources } from "#src/infrastructure/resources.ts";
import type { SharedFigures } from "#src/infrastructure/shared-figures.ts";
import { readBacklog } from "#src/marks/backlog.ts";

/** The content of `/status`. */
export interface ServiceState {
  /** ms. */
  now: number;
  state: FeedState;
  /** Whether this process reaches them. */
  postgres: boolean;
  redis: boolean;
  feeds: FeedReport[];
  /** Time of the last reading of days and incidents, ms; null before the first. */
  readAt: number | null;
  /** The oldest first; empty when they were never read. */
  days: DayOfFeeds[];
  incidents: readonly ConsoleIncident[];
}

interface Deps extends Resources {
  follower: { readAt(): number };
  /** The cursor, ms. */
  asOf(now: number): number;
  dumps: { ageMs(now: number): number | null; condition(now: number): { ok: boolean } };
  duties: Pick<DutyWatch, "lastSuccess" | "periods">;
  peers: Pick<Peers, "others">;
  meter: { readonly away: boolean };
  database: { refusal(): string | null };
  figuresOf: SharedFigures;
  quarantine: Quarantine;
}

/** A look for each so many polls of the change feed. */
const pollsBetween = 5;
/** Processes share a reading for this part of the time between two looks, so that each look finds a new one. */
const keptPart = 0.9;
const leastLateMs = 5000;
const lateSlots = 3;

/**
 * Keeps in memory what `/status` shows, so that it answers when Postgres and Redis are away. Says in Redis which feeds
 * this process finds well (decisions 16.33).
 */
export function createServiceWatch(needs: Deps) {
  const {
    config,
    log,
    clock,
    db,
    redis,
    follower,
    asOf,
    dumps,
    duties,
    peers,
    meter,
    figuresOf,
    database,
    quarantine,
  } = needs;
  const everyMs = pollsBetween * config.pollMs;
  let known: Awaited<ReturnType<typeof read>> | null = null;
  let isRead = false;
  // A process of `webhooks` that starts anew, or that Redis has forgotten, is no outage: it is missed after a minute.
  let senderAt = performance.now();

  const read = () =>
    figuresOf("service", keptPart * everyMs, async () => ({
      at: clock(),
      oldestMarkMs: ((await readBacklog(db)).oldestS ?? 0) * 1000,
      days: await readServiceDays(db, quarantine),
      incidents: await listIncidents(db, shownDays, quarantine),
    }));

  const measure = (at: number) => {
    const readMs = follower.readAt() === 0 ? null : ageOf(follower.readAt(), at);
    const readLateMs = Math.max(leastLateMs, pollsBetween * config.pollMs);
    const postgres = isRead && readMs !== null && isYoung(readMs, readLateMs);
    // The meter also notices a Redis that is there and does not answer.
    const isThere = redis.status === "ready" && !meter.away;
    if (peers.others().some(({ role }) => role === "webhooks")) senderAt = performance.now();
    const hasSender = performance.now() - senderAt < minuteMs;
    const webhooksAt = duties.lastSuccess().get("webhooks") ?? NaN;
    const feeds = judgeFeeds({
      ...{ postgres, sends: isThere && hasSender, readMs, readLateMs, lagMs: at - asOf(at) },
      writable: database.refusal() === null,
      dump: { ms: dumps.ageMs(at), ok: dumps.condition(at).ok },
      oldestMarkMs: known?.oldestMarkMs ?? null,
      webhooksMs: Number.isNaN(webhooksAt) ? null : ageOf(webhooksAt, at),
      webhooksLateMs: lateSlots * (duties.periods().get("webhooks") ?? 0) + leastLateMs,
    });
    return { postgres, redis: isThere, feeds };
  };

  const openIncidents = (): readonly ConsoleIncident[] =>
    known?.incidents.filter(({ closed }) => closed === null) ?? [];

  const now = (): ServiceState => {
    const at = clock();
    const { feeds: measured, ...reached } = measure(at);
    const feeds = withIncidents(measured, openIncidents());
    return {
      ...{ now: at, state: judgeAll(feeds), ...reached, feeds },
      readAt: known?.at ?? null,
      days: known === null ? [] : daysOf(known.days, shownDays, at),
      incidents: known?.incidents ?? [],
    };
  };

  const look = async (): Promise<void> => {
    try {
      known = await read();
      isRead = true;
    } catch (error) {
      // The follower has logged that Postgres is away.
      isRead = false;
      log.debug({ err: (error as Error).message }, "no look at the service's days");
    }
    const at = clock();
    // As measured: minutes are counted by what processes find, not by what operators tell.
    await sayWell(redis, config.redisPrefix, measure(at).feeds, at).catch(() => undefined);
  };

  const { start, stop } = createPolled({ everyMs, look });
  return {
    ...{ start, stop },
    /** The state from memory. */
    now,
    /** Open incidents, the newest first. */
    openIncidents,
  };
}
