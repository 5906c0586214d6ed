import type { Job } from "bullmq";
import webPush from "web-push";
import { type AlertMessage, alertText, stopLabel } from "#src/contract/alert-text.ts";
import { pauseUntilTold } from "#src/domain/wall-clock.ts";
import { distanceM } from "#src/domain/geo.ts";
import type { Grade } from "#src/domain/vocabulary.ts";
import { dayMs, hourS } from "#src/domain/units.ts";
import { view } from "#src/domain/view.ts";
import { pauseAfterFailure, takenBy } from "#src/domain/webhook-retry.ts";
import { readStations } from "#src/feed/feed.ts";
import { isUnavailable } from "#src/infrastructure/db.ts";
import type { AlertJob, Producer } from "#src/infrastructure/queues.ts";
import { openSubscription } from "#src/pushes/alerts/devices.ts";
import { localTime } from "#src/pushes/alerts/local-time.ts";
import { matchAlerts, wantedAt } from "#src/pushes/alerts/matches.ts";
import {
  type ClaimedDevice,
  type AlertVerdict,
  settleDevice,
  claimDevice,
  wakeDevices,
} from "#src/pushes/alerts/claims.ts";
import { pushContact, stopToken, vapidKeys } from "#src/pushes/alerts/vapid.ts";
import type { createReceivers } from "#src/pushes/receivers.ts";
import type { Attempt } from "#src/pushes/webhooks/claims.ts";
import { createFailingPlaces } from "#workers/failing-places.ts";
import { createQueueWorker, type RoleDeps } from "#workers/role.ts";
import { claimSpareMs, post } from "#workers/webhooks/post.ts";

/** The push service drops older notifications: fuel of this morning is no news in the evening. */
const ttlS = 4 * hourS;
/** The browser gets only the newest of the waiting notifications with the same topic. */
const topic = "fuel";
/** A push service that fails for this long is given up. */
const patienceMs = dayMs;

/**
 * Tells drivers of stations that have got their grade (decisions 15.25): jobs of the queue `alerts` name a device with
 * waiting notifications. The truth is in Postgres; `look` and the duty `alerts` find it.
 */
export function createAlertSender(
  deps: RoleDeps,
  producer: Producer,
  receivers: ReturnType<typeof createReceivers>,
) {
  const { db, config, log, clock, quarantine } = deps;
  const { reporterPepper: pepper, statusLifetimeMs: lifetimeMs } = config;
  const { webhookConcurrency: concurrency } = config;
  const claimMs = config.webhookTimeoutMs + claimSpareMs;
  const vapidDetails = { subject: pushContact(config), ...vapidKeys(pepper) };

  const inPlace = createFailingPlaces(concurrency);
  const tell = async ({ data: { deviceId } }: Job<AlertJob>): Promise<void> => {
    await producer.deviceTaken(deviceId);
    await inPlace(
      (mayFail) => claimDevice(db, deviceId, claimMs, mayFail),
      async (claimed) => {
        const verdict = await tryToSend(claimed).catch((error: unknown) => givenUp(claimed, error));
        return settleDevice(db, claimed, verdict);
      },
    );
  };

  /** For a browser's unusable stored data: tried again, and forgotten after a day, as with a failing push service. */
  const givenUp = (claimed: ClaimedDevice, error: unknown): AlertVerdict => {
    if (isUnavailable(error)) throw error;
    const { name: fault } = error as Error;
    quarantine.add("push_devices", new Map([[String(claimed.deviceId), fault]]));
    return afterFailure(claimed, { status: null, answer: null, fault, durationMs: 0 });
  };

  const tryToSend = async (claimed: ClaimedDevice): Promise<AlertVerdict> => {
    const { deviceId: device, timeZone, sentDay, sentCount } = claimed;
    const now = clock();
    const local = localTime(now, timeZone);
    const told = { day: sentDay, count: sentCount };
    const waitMs = pauseUntilTold(local, timeZone !== "", told, config.alertsPerDay);
    if (waitMs > 0) {
      log.debug({ browser: device, againInMs: waitMs }, "driver is told later");
      return { waitMs };
    }
    const subscription = openSubscription(pepper, device, claimed.sealed);
    if (subscription === null) {
      log.warn({ browser: device }, "the subscription cannot be read any more, forgotten");
      return "gone";
    }
    const found = await messageOf(claimed, now);
    if (found === null) return "outdated";
    const attempt = await send(subscription, found.message);
    if (takenBy(attempt.status) !== "taken") return afterFailure(claimed, attempt);
    log.info({ browser: device, status: attempt.status, ms: attempt.durationMs }, "driver told");
    return { told: { day: local.day, pauseMs: config.alertGapMs, grade: found.grade } };
  };

  /** The message of a grade with the stations as they are now; null when none of them has its grade any more. */
  const messageOf = async (
    claimed: ClaimedDevice,
    now: number,
  ): Promise<{ message: AlertMessage; grade: Grade } | null> => {
    const ids = [...new Set(claimed.matches.map(({ stationId }) => stationId))];
    const stations = new Map((await readStations(db, ids)).map((one) => [one.id, one]));
    const found = claimed.matches
      .flatMap((match) => {
        const station = stations.get(match.stationId);
        const isTrue =
          station !== undefined &&
          wantedAt(station, [match.wanted], now, lifetimeMs).includes(match.wanted);
        return isTrue ? [{ match, station, distanceM: distanceM(match, station) }] : [];
      })
      .sort((a, b) => a.distanceM - b.distanceM);
    const [nearest] = found;
    if (nearest === undefined) return null;
    const { match, station } = nearest;
    const others = new Set(
      found.filter((one) => one.match.grade === match.grade).map((one) => one.station.id),
    );
    const fuel = view(station.state, now, lifetimeMs);
    const named = { ...station, fuel, distanceM: nearest.distanceM };
    const message = {
      ...alertText(claimed.lang, match.grade, named, others.size - 1),
      lang: claimed.lang,
      path: `s/${encodeURIComponent(station.id)}?lang=${claimed.lang}`,
      tag: `fuel-${station.id}-${match.at}`,
      stop: {
        id: match.alertId,
        token: stopToken(pepper, match.alertId),
        label: stopLabel(claimed.lang),
      },
    };
    return { message, grade: match.grade };
  };

  const send = (
    subscription: webPush.PushSubscription,
    message: AlertMessage,
  ): Promise<Attempt> => {
    const { endpoint, headers, body } = webPush.generateRequestDetails(
      subscription,
      JSON.stringify(message),
      { vapidDetails, TTL: ttlS, urgency: "high", topic },
    );
    return post(receivers, config, endpoint, headers as Record<string, string>, body!);
  };

  const afterFailure = (
    { deviceId: device, failures, failingSince }: ClaimedDevice,
    { status, fault, durationMs: ms }: Attempt,
  ): AlertVerdict => {
    const line = { browser: device, status, ms };
    const now = clock();
    const pauseMs = isGone(status)
      ? null
      : pauseAfterFailure(
          { failures: failures + 1, since: failingSince ?? now },
          { now, firstPauseMs: config.webhookPauseMs, random: Math.random(), patienceMs },
        );
    if (pauseMs === null) {
      log.info({ ...line, err: fault }, "browser takes no more, forgotten");
      return "gone";
    }
    log[failures === 0 ? "info" : "debug"]({ ...line, err: fault }, "driver not told");
    return { failedMs: pauseMs };
  };

  const worker = createQueueWorker<AlertJob>(deps, "alerts", tell, { concurrency });
  return {
    run: worker.run,
    close: worker.close,
    /** Matches the changes with alerts, and wakes the workers for these devices. */
    async look(): Promise<void> {
      await matchAlerts(db, config, clock);
      await wakeDevices(db, producer);
    },
  };
}

/** True for a push service's answer that the driver has withdrawn the permission, or the browser is gone (RFC 8030). */
const isGone = (status: number | null): boolean => status === 404 || status === 410;
