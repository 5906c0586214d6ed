import type { Job } from "bullmq";
import { setTimeout as sleep } from "node:timers/promises";
import { pauseAfterFailure, takenBy } from "#src/domain/webhook-retry.ts";
import { isUnavailable } from "#src/infrastructure/db.ts";
import { listen, type Listener } from "#src/infrastructure/listen.ts";
import { createNextRun } from "#src/infrastructure/polled.ts";
import type { WebhookJob } from "#src/infrastructure/queues.ts";
import { createReceivers, type Resolve } from "#src/pushes/receivers.ts";
import { openWebhookSecret, sign } from "#src/pushes/webhooks/signature.ts";
import {
  type Attempt,
  settleDelivery,
  claimDelivery,
  type ClaimedDelivery,
  type Verdict,
  wakeDue,
  wokenAtOnce,
} from "#src/pushes/webhooks/claims.ts";
import { createFailingPlaces } from "#workers/failing-places.ts";
import { createQueueWorker, type Role, type RoleDeps } from "#workers/role.ts";
import { createAlertSender } from "#workers/webhooks/send-alerts.ts";
import { bodyOf, createStationReader } from "#workers/webhooks/event.ts";
import { claimSpareMs, post } from "#workers/webhooks/post.ts";

/** Pause between two looks for due webhooks, ms: marks come many times a second. */
const lookGapMs = 200;
/** Time for which a job claims deliveries, ms. The rest is a new job, behind those of other endpoints. */
const claimingMs = 5000;
const userAgent = "Fuelmark-Webhooks/1";

/**
 * The webhooks role: jobs of its queue name an endpoint with waiting events. NOTIFY, and the duty `webhooks` of upkeep,
 * find those endpoints; the events are only in Postgres (decisions 20.2). It also tells drivers (`alerts.ts`).
 * `resolve` is the DNS.
 */
export function createWebhooksRole(deps: RoleDeps, resolve?: Resolve): Role {
  const { db, config, log, clock, quarantine } = deps;
  const { webhookConcurrency: concurrency } = config;
  const producer = deps.producer();
  const receivers = createReceivers(config, resolve);
  const readShown = createStationReader(db, config, clock);
  const claimMs = config.webhookTimeoutMs + claimSpareMs;
  const stationsGapMs = config.webhookStationsGapMs;
  let listener: Listener | null = null;
  let stopped = false;

  const alerts = createAlertSender(deps, producer, receivers);
  const looks = createNextRun(async () => {
    await sleep(lookGapMs);
    if (stopped) return;
    // One of the two may fail without stopping the other.
    const [due, drivers] = await Promise.allSettled([
      wakeDue(db, producer, stationsGapMs),
      alerts.look(),
    ]);
    if (due.status === "fulfilled" && due.value >= wokenAtOnce) look();
    for (const one of [due, drivers]) if (one.status === "rejected") throw one.reason as Error;
  });
  const look = (): void =>
    void looks.run().catch((error: Error) => log.debug({ err: error.message }, "cannot look"));

  const inPlace = createFailingPlaces(concurrency);
  const deliver = async ({ data: { endpointId } }: Job<WebhookJob>): Promise<void> => {
    await producer.endpointTaken(endpointId);
    for (const end = performance.now() + claimingMs; performance.now() < end && !stopped;) {
      const goesOn = await inPlace(
        (mayFail) => claimDelivery(db, endpointId, { claimMs, stationsGapMs, mayFail }),
        async (claimed) => {
          const [attempt, verdict] = await attemptOf(claimed).then(
            (made) => [made, verdictOf(claimed, made)] as const,
            (error: unknown) => passedOver(claimed, error),
          );
          const isStored = await settleDelivery(db, claimed, attempt, verdict, clock());
          tell(claimed, attempt, verdict);
          // Those that found no place have waited for this one.
          if (claimed.failures > 0) look();
          return isStored && verdict === "taken";
        },
      );
      if (goesOn !== true) return;
    }
    await producer.wakeEndpoints([endpointId]);
  };

  /** For an unreadable delivery: this is no fault of the receiver, so it counts as taken and the next ones go on. */
  const passedOver = (
    { delivery }: ClaimedDelivery,
    error: unknown,
  ): readonly [Attempt, Verdict] => {
    if (isUnavailable(error)) throw error;
    const fault = `what it says cannot be read (${(error as Error).name})`;
    quarantine.add("webhook_deliveries", new Map([[String(delivery.id), fault]]));
    return [{ status: null, answer: null, fault, durationMs: 0 }, "taken"];
  };

  const attemptOf = async (claimed: ClaimedDelivery): Promise<Attempt> => {
    const { delivery, partnerId, url } = claimed;
    const secrets = claimed.secrets
      .map((sealed) => openWebhookSecret(config.reporterPepper, partnerId, sealed))
      .filter((secret) => secret !== null);
    if (secrets.length === 0) return lostSecret;
    const now = clock();
    const body = await bodyOf(db, config, readShown, claimed, now);
    const timestamp = String(Math.floor(now / 1000));
    const signatures = secrets.map((secret) => sign(secret, delivery.message_id, timestamp, body));
    const headers = {
      "Content-Type": "application/json",
      "User-Agent": userAgent,
      "webhook-id": delivery.message_id,
      "webhook-timestamp": timestamp,
      "webhook-signature": signatures.join(" "),
    };
    return post(receivers, config, url, headers, body);
  };

  const verdictOf = ({ failures, failingSince }: ClaimedDelivery, { status }: Attempt): Verdict => {
    const taken = takenBy(status);
    if (taken === "taken") return "taken";
    if (taken === "gone") return { off: "gone" };
    const now = clock();
    const pauseMs = pauseAfterFailure(
      { failures: failures + 1, since: failingSince ?? now },
      { now, firstPauseMs: config.webhookPauseMs, random: Math.random() },
    );
    return pauseMs === null ? { off: "failing" } : { pauseMs };
  };

  const tell = (
    claimed: ClaimedDelivery,
    { status, fault, durationMs: ms }: Attempt,
    verdict: Verdict,
  ): void => {
    const { endpointId: webhook, partnerId: partner, delivery, failures } = claimed;
    const line = { webhook, partner, delivery: delivery.id, type: delivery.type, status, ms };
    if (verdict === "taken") log.debug(line, "webhook delivered");
    else if ("off" in verdict) log.warn({ ...line, err: fault }, "webhook switched off");
    else log[failures === 0 ? "info" : "debug"]({ ...line, err: fault }, "webhook not delivered");
  };

  const worker = createQueueWorker<WebhookJob>(deps, "webhooks", deliver, { concurrency });
  return {
    start: async () => {
      worker.run();
      alerts.run();
      listener = listen(config, log, "changes", look);
      // Also after Redis has come back without its jobs.
      producer.onReady(look);
    },
    stop: async () => {
      stopped = true;
      await listener?.stop();
      await Promise.all([worker.close(), alerts.close()]);
      await looks.idle();
    },
  };
}

const lostSecret: Attempt = {
  ...{ status: null, answer: null, durationMs: 0 },
  fault: "the secret cannot be read any more: make a new one",
};
