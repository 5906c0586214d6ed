import { Command } from "commander";
import { verb } from "#cli/command.ts";
import { withDb } from "#cli/instance.ts";
import { keyTable } from "#cli/key.ts";
import { card, readable, table, type Output } from "#cli/output.ts";
import { Refusal } from "#cli/refusal.ts";
import { todayOf, usageOf, usageTable } from "#cli/used-today.ts";
import { flag, id, integer, line, wordOr } from "#cli/values.ts";
import { listKeys } from "#src/keys/issued-keys.ts";
import {
  changePartner,
  createPartner,
  findPartner,
  listPartners,
  partnerBounds,
  partnerNameMax,
  type PartnerChanges,
} from "#src/keys/partners.ts";
import { unknown } from "#src/operators/act.ts";

const name = line("--name", partnerNameMax, "not empty");

/** `operator partner create|list|show|update`. */
export function partnerCommand(output: () => Output): Command {
  const command = new Command("partner").description("partners, their limits and switches");

  withLimits(
    verb(
      command,
      "create",
      "create a new partner",
      'partner create --name "My app"',
      "partner create --name Maps --rpm 600 --daily 500000 --json",
    ).requiredOption("--name <name>", "its name", name),
  ).action(async (options: { name: string; rpm?: number; daily?: number }) => {
    const out = output();
    const partner = await withDb(out, (db, config) =>
      createPartner(db, out.actor, options, config),
    );
    out.result(readable(partner), card);
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
    .argument("<id>", "the partner's id", id("partner"))
    .option("--days <n>", "days of usage, including today", integer("--days", 1, 365), 7)
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

  withLimits(
    verb(
      command,
      "update",
      "change limits and switches; takes effect on every process within 15 s",
      "partner update 3 --rpm 600 --daily 500000",
      "partner update 3 --enabled false",
      "partner update 3 --cache-ttl default",
    )
      .argument("<id>", "the partner's id", id("partner"))
      .option("--name <name>", "its name", name),
  )
    .option(
      "--cache-ttl <seconds|default>",
      "how long rectangles for its pages are cached; 0: never",
      wordOr("default", integer("--cache-ttl (seconds, or default)", ...partnerBounds.cache_ttl_s)),
    )
    .option(
      "--accept-remote <true|false>",
      "accept marks without a position at the station",
      flag("--accept-remote"),
    )
    .option(
      "--bind-ips <true|false>",
      "restrict secret keys to their addresses",
      flag("--bind-ips"),
    )
    .option("--enabled <true|false>", "false blocks the partner", flag("--enabled"))
    .action(async (partnerId: number, options: Changes) => {
      if (Object.keys(options).length === 0)
        throw new Refusal("nothing to change: give at least one option");
      const out = output();
      const { cacheTtl: ttl, acceptRemote, bindIps, ...others } = options;
      const switches = { accept_remote: acceptRemote, bind_ips: bindIps };
      const changes = { ...others, ...switches, cache_ttl_s: ttl === "default" ? null : ttl };
      const partner = await withDb(out, (db) => changePartner(db, out.actor, partnerId, changes));
      out.result(readable(partner), card);
    });

  return command;
}

/** A line that fits a screen: who, the limits, today, and what is not as usual. */
const inBrief = [
  ...(["id", "name", "enabled", "rpm", "daily", "used_today", "widget_today"] as const),
  ...(["bind_ips", "accept_remote", "cache_ttl_s", "created"] as const),
];

const withLimits = (command: Command): Command =>
  command
    .option("--rpm <n>", "requests per minute", integer("--rpm", ...partnerBounds.rpm))
    .option("--daily <n>", "requests per UTC day", integer("--daily", ...partnerBounds.daily));

interface Changes extends Pick<PartnerChanges, "name" | "rpm" | "daily" | "enabled"> {
  cacheTtl?: number | "default";
  acceptRemote?: boolean;
  bindIps?: boolean;
}
