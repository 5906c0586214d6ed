import { Command } from "commander";
import { withDb } from "#cli/instance.ts";
import { keyTable, shownKey } from "#cli/key.ts";
import { card, table, time, type Output } from "#cli/output.ts";
import { Refusal } from "#cli/refusal.ts";
import { cacheTtl, flag, id, integer, line, type Given } from "#cli/values.ts";
import { inTransaction } from "#src/db.ts";
import { listKeys } from "#src/issued-keys.ts";
import { logAction } from "#src/operator-log.ts";
import {
  createPartner,
  findPartner,
  listPartners,
  updatePartner,
  type Partner,
  type PartnerChanges,
} from "#src/partners.ts";

const rpm = integer("--rpm", 1, 100_000);
const daily = integer("--daily", 1, 100_000_000);
const name = line("--name", 200, "not empty");

/** `operator partner create|list|show|update`. */
export function partnerCommand(output: () => Output): Command {
  const command = new Command("partner").description("partners: their limits and switches");

  command
    .command("create")
    .description("make a new partner")
    .requiredOption("--name <name>", "its name", name)
    .option("--rpm <n>", "requests per minute", rpm)
    .option("--daily <n>", "requests per UTC day", daily)
    .action(async (options: { name: string; rpm?: number; daily?: number }) => {
      const { actor, result } = output();
      const partner = await withDb((db, config) =>
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
    .description("all partners")
    .action(async () => {
      const partners = await withDb(listPartners);
      output().result(partners.map(shown), (list) =>
        table(list, "no partners yet: operator partner create --name …"),
      );
    });

  command
    .command("show")
    .description("one partner with its keys")
    .argument("<id>", "the partner's id", id("partner"))
    .action(async (partnerId: number) => {
      const found = await withDb(async (db) => ({
        partner: await findPartner(db, partnerId),
        keys: await listKeys(db, partnerId),
      }));
      if (found.partner === null) throw new Refusal(`there is no partner ${partnerId}`, 1);
      const value = { ...shown(found.partner), keys: found.keys.map(shownKey) };
      output().result(value, ({ keys, ...rest }) => `${card(rest)}\n\n${keyTable(keys)}`);
    });

  command
    .command("update")
    .description("change limits and switches; in force on every process within 15 s")
    .argument("<id>", "the partner's id", id("partner"))
    .option("--name <name>", "its name", name)
    .option("--rpm <n>", "requests per minute", rpm)
    .option("--daily <n>", "requests per UTC day", daily)
    .option(
      "--cache-ttl <seconds|default>",
      "how long rectangles of its pages are cached, 0 for never",
      cacheTtl,
    )
    .option("--accept-remote <true|false>", "take marks without GPS", flag("--accept-remote"))
    .option("--bind-ips <true|false>", "hold secret keys to their addresses", flag("--bind-ips"))
    .option("--enabled <true|false>", "false shuts the partner out", flag("--enabled"))
    .action(async (partnerId: number, options: UpdateOptions) => {
      const changes = changesFrom(options);
      if (Object.keys(changes).length === 0)
        throw new Refusal("nothing to change: give at least one option");
      const { actor, result } = output();
      const partner = await withDb((db) =>
        inTransaction(db, async (tx) => {
          const updated = await updatePartner(tx, partnerId, changes);
          if (updated === null) throw new Refusal(`there is no partner ${partnerId}`, 1);
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

const shown = ({ created_at, updated_at, ...partner }: Partner) => ({
  ...partner,
  created: time(created_at),
  updated: time(updated_at),
});
