import {
  addresses,
  flag,
  integer,
  setting,
  settingsOf,
  shaped,
} from "#src/infrastructure/settings/setting.ts";

/** Webhooks of partners (decisions 20), and notifications of drivers (decisions 15.25). */
export const webhookSettings = settingsOf({
  webhookEndpoints: setting(5, integer(1, 100))`
    highest number of webhooks of one partner`,
  webhookHttp: setting(false, flag)`
    whether webhooks may use http:// besides https://`,
  webhookNetworks: setting([] as string[], addresses)`
    private addresses and CIDR blocks that webhooks may be sent to, separated by commas; default: none`,
  webhookConcurrency: setting(20, integer(1, 500))`
    webhooks that one process sends to at the same time`,
  webhookDays: setting(30, integer(1, 365))`
    days for which deliveries of webhooks are kept`,
  pushContact: setting(
    "",
    shaped(
      // Apple's push service refuses addresses that only this machine or network knows.
      /^(mailto:[^\s@]+@|https:\/\/)(?!localhost\b)[^\s@/:]+\.(?!local\b)[^\s@/:.]+([/:]\S*)?$/,
      "a public address like mailto:fuel@example.org or https://example.org",
    ),
  )`
    how push services can reach the operator: \`mailto:\` or an https address; by default BASE_URL`,
});
