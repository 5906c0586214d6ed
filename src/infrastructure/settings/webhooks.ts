import { minuteMs } from "#src/domain/units.ts";
import { addresses, flag, integer, setting } from "#src/infrastructure/settings/setting.ts";

/** Webhooks of partners (decisions 20). */
export const webhookSettings = {
  webhookEndpoints: setting(
    "WEBHOOK_ENDPOINTS",
    5,
    integer(1, 100),
    "highest number of webhooks of one partner",
  ),
  webhookHttp: setting(
    "WEBHOOK_HTTP",
    false,
    flag,
    "whether webhooks may use http:// besides https://",
  ),
  webhookNetworks: setting(
    "WEBHOOK_NETWORKS",
    [] as string[],
    addresses,
    "private addresses and CIDR blocks that webhooks may be sent to, separated by commas; default: none",
  ),
  webhookTimeoutMs: setting(
    "WEBHOOK_TIMEOUT_MS",
    10_000,
    integer(100, minuteMs),
    "longest time for one attempt to deliver a webhook",
  ),
  webhookPauseMs: setting(
    "WEBHOOK_PAUSE_MS",
    5000,
    integer(10, 600_000),
    "first pause after a failed webhook; each further one is four times as long, four hours at most",
  ),
  webhookStationsGapMs: setting(
    "WEBHOOK_STATIONS_GAP_MS",
    5000,
    integer(0, 600_000),
    "shortest time between two `stations.changed` of one webhook, unless a batch is full",
  ),
  webhookConcurrency: setting(
    "WEBHOOK_CONCURRENCY",
    20,
    integer(1, 500),
    "webhooks that one process sends to at the same time",
  ),
  webhookDays: setting(
    "WEBHOOK_DAYS",
    30,
    integer(1, 365),
    "days for which deliveries of webhooks are kept",
  ),
} as const;
