import { minuteMs } from "#src/domain/units.ts";
import { integer, setting, shaped } from "#src/infrastructure/settings/setting.ts";

/** Alerts to drivers (decisions 15.25), and what drivers say of stations (15.47). The settings of webhooks give their addresses and pauses. */
export const alertSettings = {
  pushContact: setting(
    "PUSH_CONTACT",
    "",
    shaped(/^(mailto:[^\s@]+@[^\s@]+|https:\/\/\S+)$/, "an address like mailto:fuel@example.org"),
    "how push services can reach the operator: `mailto:` or an https address; by default BASE_URL",
  ),
  alertsPerDevice: setting(
    "ALERTS_PER_DEVICE",
    5,
    integer(1, 100),
    "grades and places that one driver's browser may wait for",
  ),
  alertsPerNetwork: setting(
    "ALERTS_PER_NETWORK",
    100,
    integer(1, 100_000),
    "the same of all browsers of one network",
  ),
  alertsPerDay: setting(
    "ALERTS_PER_DAY",
    3,
    integer(1, 100),
    "notifications that one driver gets in a day at most",
  ),
  alertGapMs: setting(
    "ALERT_GAP_MS",
    20 * minuteMs,
    integer(0, 1440 * minuteMs),
    "shortest time between two notifications of one driver",
  ),
  alertDays: setting(
    "ALERT_DAYS",
    14,
    integer(1, 365),
    "days after which a driver is not told any more",
  ),
  suggestionsPerDevice: setting(
    "SUGGESTIONS_PER_DEVICE",
    5,
    integer(1, 1000),
    "things that one driver may say of stations themselves (gone, closed, elsewhere, missing) in 24 hours",
  ),
  suggestionsPerNetwork: setting(
    "SUGGESTIONS_PER_NETWORK",
    50,
    integer(1, 100_000),
    "the same of all drivers of one network",
  ),
} as const;
