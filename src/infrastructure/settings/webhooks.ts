import { minuteMs } from "#src/domain/units.ts";
import {
  addresses,
  flag,
  integer,
  setting,
  settingsOf,
} from "#src/infrastructure/settings/setting.ts";

/** Webhooks of partners (decisions 20). */
export const webhookSettings = settingsOf({
  webhookEndpoints: setting(5, integer(1, 100))`
    highest number of webhooks of one partner`,
  webhookHttp: setting(false, flag)`
    whether webhooks may use http:// besides https://`,
  webhookNetworks: setting([] as string[], addresses)`
    private addresses and CIDR blocks that webhooks may be sent to, separated by commas; default: none`,
  webhookTimeoutMs: setting(10_000, integer(100, minuteMs))`
    longest time for one attempt to deliver a webhook`,
  webhookPauseMs: setting(5000, integer(10, 600_000))`
    first pause after a failed webhook; each further one is four times as long, four hours at most`,
  webhookStationsGapMs: setting(5000, integer(0, 600_000))`
    shortest time between two \`stations.changed\` of one webhook, unless a batch is full`,
  webhookConcurrency: setting(20, integer(1, 500))`
    webhooks that one process sends to at the same time`,
  webhookDays: setting(30, integer(1, 365))`
    days for which deliveries of webhooks are kept`,
});
