import { common } from "#web/console/russian/common.ts";
import { decisions } from "#web/console/russian/decisions.ts";
import { feeds } from "#web/console/russian/feeds.ts";
import { partners } from "#web/console/russian/partners.ts";
import { review } from "#web/console/russian/review.ts";
import { shell } from "#web/console/russian/shell.ts";
import { stations } from "#web/console/russian/stations.ts";

/** The console's Russian texts by the English ones. A test compares their placeholders. */
export const russian = {
  ...{ ...common, ...decisions, ...feeds, ...shell },
  ...{ ...partners, ...review, ...stations },
};
