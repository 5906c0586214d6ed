import { Command } from "commander";
import { examples } from "#cli/examples.ts";
import { withDb } from "#cli/instance.ts";
import { keyTable, shownKey } from "#cli/key.ts";
import { card, table, time, type Output } from "#cli/output.ts";
import { Refusal, unknown } from "#cli/refusal.ts";
import { todayOf, usageOf, usageTable } from "#cli/used-today.ts";
import { cacheTtl, flag, id, integer, line, type Given } from "#cli/values.ts";
import { inTransaction } from "#src/infrastructure/db.ts";
import { listKeys } from "#src/keys/issued-keys.ts";
import { logAction } from "#src/operators/operator-log.ts";
import {
  createPartner,
  findPartner,
  listPartners,
  updatePartner,
  type Partner,
  type PartnerChanges,
} from "#src/keys/partners.ts";

const rpm = integer("--rpm", 1, 100_000);
const daily = integer("--daily", 1, 100_000_000);
const name = line("--name", 200, "not empty");

/** `operator partner create|list|show|update`. */
export function partnerCommand(output: () => Output): Command {
  const command = new Command("partner").description("partners, their limits and switches");

  command
    .command("create")
    .description("create a new partner")
    .requiredOption("--name <name>", "its name", name)
    .option("--rpm <n>", "requests per minute", rpm)
    .option("--daily <n>", "requests per UTC day", daily)
    .addHelpText(
      "after",
      examples(
        'partner create --name "My app"',
        "partner create --name Maps --rpm 600 --daily 500000 --json",
      ),
    )
    .action(async (options: { name: string; rpm?: number; daily?: number }) => {
      const { actor, result } = output();
      const partner = await withDb(output(), (db, config) =>
        inTransaction(db, async (tx) => {
          const limits = {
            rpm: options.rpm ?? config.defaultRpm,
            daily: options.daily ?? config.defaultDaily,
          };
          const made = await createPartner(tx, { name: options.name, ...limits });
          await logAction(tx, {
            actor,
            action: "partner.create",
            subject: `partner ${made.id}`,
            details: { name: made.name, ...limits },
          });
          return made;
        }),
      );
      result(shown(partner), card);
    });

  command
    .command("list")
    .description("all partners with their limits, switches and today's usage")
    .addHelpText("after", examples("partner list", "partner list --json"))
    .action(async () => {
      const partners = await withDb(output(), async (db, config) => {
        const all = await listPartners(db);
        const ids = all.map(({ id: one }) => one);
        const used = await usageOf(db, config, ids, 1);
        return all.map((one) => ({ ...shown(one), ...todayOf(one, used.get(one.id)) }));
      });
      output().result(partners, (list) =>
        table(list.map(inBrief), "no partners yet: operator partner create --name …"),
      );
    });

  command
    .command("show")
    .description("one partner with its keys, its limits and its usage in the last days")
    .argument("<id>", "the partner's id", id("partner"))
    .option("--days <n>", "days of usage, including today", integer("--days", 1, 365), 7)
    .addHelpText("after", examples("partner show 3", "partner show 3 --days 30 --json"))
    .action(async (partnerId: number, { days }: { days: number }) => {
      const value = await withDb(output(), async (db, config) => {
        const partner = await findPartner(db, partnerId);
        if (partner === null) throw unknownPartner(partnerId);
        const used = (await usageOf(db, config, [partnerId], days)).get(partnerId);
        return {
          ...shown(partner),
          ...todayOf(partner, used),
          usage: used?.own ?? [],
          widget_usage: used?.widget ?? [],
          keys: (await listKeys(db, partnerId)).map(shownKey),
        };
      });
      output().result(value, ({ keys, usage, widget_usage: widget, ...rest }) =>
        [card(rest), keyTable(keys), usageTable(usage, widget)].join("\n\n"),
      );
    });

  command
    .command("update")
    .description("change limits and switches; takes effect on every process within 15 s")
    .argument("<id>", "the partner's id", id("partner"))
    .option("--name <name>", "its name", name)
    .option("--rpm <n>", "requests per minute", rpm)
    .option("--daily <n>", "requests per UTC day", daily)
    .option(
      "--cache-ttl <seconds|default>",
      "how long rectangles for its pages are cached; 0: never",
      cacheTtl,
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
    .addHelpText(
      "after",
      examples(
        "partner update 3 --rpm 600 --daily 500000",
        "partner update 3 --enabled false",
        "partner update 3 --cache-ttl default",
      ),
    )
    .action(async (partnerId: number, options: UpdateOptions) => {
      const changes = changesFrom(options);
      if (Object.keys(changes).length === 0)
        throw new Refusal("nothing to change: give at least one option");
      const { actor, result } = output();
      const partner = await withDb(output(), (db) =>
        inTransaction(db, async (tx) => {
          const updated = await updatePartner(tx, partnerId, changes);
          if (updated === null) throw unknownPartner(partnerId);
          await logAction(tx, {
            actor,
            action: "partner.update",
            subject: `partner ${partnerId}`,
            details: { ...changes },
          });
          return updated;
        }),
      );
      result(shown(partner), card);
    });

  return command;
}

interface UpdateOptions {
  name?: string;
  rpm?: number;
  daily?: number;
  cacheTtl?: Given<number | null>;
  acceptRemote?: boolean;
  bindIps?: boolean;
  enabled?: boolean;
}

function changesFrom(options: UpdateOptions): PartnerChanges {
  const { name, rpm, daily, enabled, cacheTtl: ttl, acceptRemote, bindIps } = options;
  const given = {
    name,
    rpm,
    daily,
    enabled,
    cache_ttl_s: ttl?.value,
    accept_remote: acceptRemote,
    bind_ips: bindIps,
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

const unknownPartner = (partnerId: number): Refusal =>
  unknown("partner", partnerId, "partner list");

/** A line that fits a screen: who, the limits, today, and what is not as usual. */
const inBrief = (one: ReturnType<typeof shown> & ReturnType<typeof todayOf>) => ({
  id: one.id,
  name: one.name,
  enabled: one.enabled,
  rpm: one.rpm,
  daily: one.daily,
  used_today: one.used_today,
  widget_today: one.widget_today,
  bind_ips: one.bind_ips,
  accept_remote: one.accept_remote,
  cache_ttl_s: one.cache_ttl_s,
  created: one.created,
});

const shown = ({ created_at, updated_at, ...partner }: Partner) => ({
  ...partner,
  created: time(created_at),
  updated: time(updated_at),
});
