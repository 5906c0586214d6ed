import { common } from "#web/console/russian/common.ts";
import { partners } from "#web/console/russian/partners.ts";
import { review } from "#web/console/russian/review.ts";
import { shell } from "#web/console/russian/shell.ts";
import { stations } from "#web/console/russian/stations.ts";

/** What the console says, in Russian by the English. Its test compares what is put in. */
export const russian = { ...common, ...shell, ...partners, ...review, ...stations };
