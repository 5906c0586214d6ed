import { minuteMs } from "#src/domain/units.ts";
import { integer, setting, settingsOf, shaped } from "#src/infrastructure/settings/setting.ts";

/** Alerts to drivers (decisions 15.25), and what drivers say of stations (15.47). The settings of webhooks give their addresses and pauses. */
export const alertSettings = settingsOf({
  pushContact: setting(
    "",
    shaped(
      // Apple's push service refuses addresses that only this machine or network knows.
      /^(mailto:[^\s@]+@|https:\/\/)(?!localhost\b)[^\s@/:]+\.(?!local\b)[^\s@/:.]+([/:]\S*)?$/,
      "a public address like mailto:fuel@example.org or https://example.org",
    ),
  )`
    how push services can reach the operator: \`mailto:\` or an https address; by default BASE_URL`,
  alertsPerDevice: setting(5, integer(1, 100))`
    grades and places that one driver's browser may wait for`,
  alertsPerNetwork: setting(100, integer(1, 100_000))`
    the same of all browsers of one network`,
  alertsPerDay: setting(3, integer(1, 100))`
    notifications that one driver gets in a day at most`,
  alertGapMs: setting(20 * minuteMs, integer(0, 1440 * minuteMs))`
    shortest time between two notifications of one driver`,
  alertDays: setting(14, integer(1, 365))`
    days after which a driver is not told any more`,
  suggestionsPerDevice: setting(5, integer(1, 1000))`
    things that one driver may say of stations themselves (gone, closed, elsewhere, missing) in 24 hours`,
  suggestionsPerNetwork: setting(50, integer(1, 100_000))`
    the same of all drivers of one network`,
});
