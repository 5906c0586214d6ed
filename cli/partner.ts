import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { Config } from "#src/infrastructure/config.ts";
import type { Db } from "#src/infrastructure/db.ts";
import { usageDays, type UsageDay } from "#src/domain/usage.ts";
import { dayMs } from "#src/domain/units.ts";
import { createLog } from "#src/infrastructure/log.ts";
import { createRedis } from "#src/infrastructure/redis.ts";
import { pendingUsage, type PendingUsage } from "#src/limits/pending-usage.ts";
import { loadUsage } from "#src/limits/usage-rows.ts";
import { Command } from "commander";
import { actVerb } from "#cli/act-verb.ts";
import { id, integer, verb } from "#cli/command.ts";
import { withDb } from "#cli/instance.ts";
import { keyTable } from "#cli/key.ts";
import { card, readable, table, type Output } from "#cli/output.ts";
import { launchDefaults } from "#src/domain/harm-limits.ts";
import { databaseNow } from "#src/infrastructure/clock.ts";
import { listKeys } from "#src/keys/issued-keys.ts";
import {
  changePartner,
  createPartner,
  findPartner,
  listPartners,
  type Partner,
  setLaunch,
} from "#src/keys/partners.ts";
import { unknown } from "#src/operators/act.ts";

/** `operator partner create|list|show|update|launch`. */
export function partnerCommand(output: () => Output): Command {
  const command = new Command("partner").description("partners, their limits and switches");

  actVerb(command, output, createPartner, {
    name: "create",
    about: "create a new partner",
    examples: [
      'partner create --name "My app"',
      "partner create --name Maps --rpm 600 --daily 500000 --json",
    ],
    options: named,
    shown: readable,
  });

  verb(
    command,
    "list",
    "all partners with their limits, switches and today's usage",
    "partner list",
    "partner list --json",
  ).action(async () => {
    const partners = await withDb(output(), async (db, config) => {
      const all = await listPartners(db);
      const ids = all.map((partner) => partner.id);
      const used = await usageOf(db, config, ids, 1);
      return all.map((partner) => ({
        ...readable(partner),
        ...todayOf(partner, used.get(partner.id)),
      }));
    });
    output().result(partners, (list) =>
      table(list, "no partners yet: operator partner create --name …", inBrief),
    );
  });

  verb(
    command,
    "show",
    "one partner with its keys, its limits and its usage in the last days",
    "partner show 3",
    "partner show 3 --days 30 --json",
  )
    .argument("<id>", "the partner's id", id)
    .option("--days <n>", "days of usage, including today", integer(1, 365), 7)
    .action(async (partnerId: number, { days }: { days: number }) => {
      const value = await withDb(output(), async (db, config) => {
        const partner = await findPartner(db, partnerId);
        if (partner === null) return unknown("partner", partnerId);
        const used = (await usageOf(db, config, [partnerId], days)).get(partnerId);
        return {
          ...readable(partner),
          ...todayOf(partner, used),
          usage: used?.own ?? [],
          widget_usage: used?.widget ?? [],
          keys: (await listKeys(db, partnerId)).map(readable),
        };
      });
      output().result(value, ({ keys, usage, widget_usage: widget, ...rest }) =>
        [card(rest), keyTable(keys), usageTable(usage, widget)].join("\n\n"),
      );
    });

  const subject = ["<id>", "the partner's id"] as const;
  actVerb(command, output, changePartner, {
    name: "update",
    about: "change limits and switches; takes effect on every process within 15 s",
    examples: [
      "partner update 3 --rpm 600 --daily 500000",
      "partner update 3 --enabled false",
      "partner update 3 --cache-ttl default",
    ],
    options: {
      ...named,
      cache_ttl_s: [
        "--cache-ttl <seconds|default>",
        "how long rectangles for its pages are cached; 0: never",
      ],
      accept_remote: [
        "--accept-remote <true|false>",
        "accept marks without a position at the station",
      ],
      bind_ips: ["--bind-ips <true|false>", "restrict secret keys to their addresses"],
      new_users_daily: [
        "--new-users <n|default>",
        "new users in a day before further ones are refused",
      ],
      enabled: ["--enabled <true|false>", "false blocks the partner"],
    },
    ...{ subject, shown: readable },
  });

  actVerb(command, output, setLaunch, {
    name: "launch",
    about: "let many new users in and count more harmful marks until a date; or end that",
    examples: [
      "partner launch 3 --until 2027-01-15",
      "partner launch 3 --until 2027-01-15 --new-users 50000 --limit 200",
      "partner launch 3 --until now",
    ],
    options: {
      until: ["--until <time|now>", "UTC time or day when the usual limits hold again"],
      new_users: ["--new-users <n>", "new users in a day", { fallback: launchDefaults.newUsers }],
      limit: [
        "--limit <n>",
        "stations that its new users may harmfully change in an hour before further marks are held",
        { fallback: launchDefaults.limit },
      ],
    },
    ...{ subject, shown: readable },
  });

  return command;
}

/** Columns that fit a screen: the partner, its limits, today, and unusual settings. */
const inBrief = [
  ...(["id", "name", "enabled", "rpm", "daily", "used_today", "widget_today"] as const),
  ...(["bind_ips", "accept_remote", "cache_ttl_s", "created"] as const),
];

const named = {
  name: ["--name <name>", "its name"],
  rpm: ["--rpm <n>", "requests per minute"],
  daily: ["--daily <n>", "requests per UTC day"],
} as const;

const patienceMs = 2000;

/** A partner's latest days, the newest (today) first: requests of its servers, and of its pages. */
interface UsageSeen {
  own: UsageDay[];
  widget: UsageDay[];
}

/**
 * Usage of these partners, with the counts since the last flush. Without Redis only the durable part: at most a flush
 * interval behind.
 */
async function usageOf(
  db: Db,
  config: Config,
  partnerIds: readonly number[],
  days: number,
): Promise<Map<number, UsageSeen>> {
  const pending = await livePart(config, partnerIds);
  const today = Math.floor((await databaseNow(db)) / dayMs);
  const found = new Map<number, UsageSeen>();
  for (const id of partnerIds) {
    const own = pending.filter(({ partnerId }) => partnerId === id);
    const counts = await loadUsage(db, id, today - days + 1, own);
    found.set(id, {
      own: usageDays(counts, "partner", today, days),
      widget: usageDays(counts, "widget", today, days),
    });
  }
  return found;
}

/** The rest of today's quota, and the requests of a partner's pages, which use their viewers' quotas. */
function todayOf({ daily: quota }: Pick<Partner, "daily">, used: UsageSeen | undefined) {
  const requests = used?.own[0]?.requests ?? 0;
  return {
    used_today: requests,
    remaining_today: Math.max(0, quota - requests),
    widget_today: used?.widget[0]?.requests ?? 0,
  };
}

/** Days for people, a line each. */
const usageTable = (own: UsageSeen["own"], widget: UsageSeen["widget"]): string =>
  table(
    own.map(({ date, requests, not_modified, errors }, day) => ({
      date,
      requests,
      not_modified,
      errors,
      widget: widget[day]?.requests ?? 0,
    })),
    "",
  );

async function livePart(config: Config, partnerIds: readonly number[]): Promise<PendingUsage[]> {
  if (config.redisUrl === "") return [];
  const redis = createRedis(config, createLog({ logLevel: "silent" }, "operator"));
  try {
    await Promise.race([once(redis, "ready"), sleep(patienceMs, undefined, { ref: false })]);
    return await pendingUsage(redis, config.redisPrefix, partnerIds);
  } catch {
    return [];
  } finally {
    redis.disconnect();
  }
}
