import { randomBytes } from "node:crypto";
import { Command } from "commander";
import { confirmed } from "#cli/confirm.ts";
import { examples } from "#cli/examples.ts";
import { instanceConfig, withDb } from "#cli/instance.ts";
import { card, table, time, type Output } from "#cli/output.ts";
import { Refusal, unknown } from "#cli/refusal.ts";
import {
  choice,
  confirmMin,
  domains,
  expiry,
  flag,
  id,
  integer,
  ips,
  line,
  type Given,
} from "#cli/values.ts";
import { inTransaction, type Db } from "#src/infrastructure/db.ts";
import {
  findKey,
  listKeys,
  revokeKey,
  storeKey,
  updateKey,
  type IssuedKey,
  type KeySettings,
} from "#src/keys/issued-keys.ts";
import { hashKey, keyPrefix, newKey, type KeyKind } from "#src/keys/key-text.ts";
import { logAction } from "#src/operators/operator-log.ts";
import { findPartner } from "#src/keys/partners.ts";

const kind = choice("--kind", ["secret", "publishable"]);

/** `operator key issue|list|update|revoke`. */
export function keyCommand(output: () => Output): Command {
  const command = new Command("key").description("keys of partners");

  withSettings(command.command("issue"))
    .description("create a new key; it is shown only once")
    .requiredOption("--partner <id>", "the partner of the key", id("partner"))
    .requiredOption(
      "--kind <secret|publishable>",
      "secret: for servers, publishable: for web pages",
      kind,
    )
    .addHelpText(
      "after",
      examples(
        "key issue --partner 3 --kind secret --ips 203.0.113.7,2001:db8::/32 --expires 2027-01-01",
        "key issue --partner 3 --kind publishable --domains maps.example --reports false",
      ),
    )
    .action(
      async ({
        partner,
        kind: keyKind,
        ...options
      }: SettingOptions & { partner: number; kind: KeyKind }) => {
        const settings = {
          mass_no_limit: instanceConfig(output().env).massNoLimit,
          ...settingsFrom(options),
        };
        refuseMisplaced(keyKind, settings);
        const { actor, result, note } = output();
        const key = newKey(keyKind, randomBytes(32));
        const { stored, bound } = await withDb(output(), (db) =>
          inTransaction(db, async (tx) => {
            const owner = await findPartner(tx, partner);
            if (owner === null) throw unknown("partner", partner, "partner list");
            const row = {
              partner_id: partner,
              kind: keyKind,
              prefix: keyPrefix(key),
              hash: hashKey(key),
            };
            const made = await storeKey(tx, row, settings);
            const details = { partner, kind: keyKind, prefix: row.prefix, ...settings };
            await logAction(tx, { actor, action: "key.issue", subject: `key ${made.id}`, details });
            return { stored: made, bound: owner.bind_ips };
          }),
        );
        const { id: keyId, ...rest } = shownKey(stored);
        result({ id: keyId, key, ...rest }, card);
        note("Save the key now: only its hash is stored, and it cannot be shown again.");
        if (stored.ips.length > 0 && !bound)
          note(
            `Its addresses have no effect: this partner's keys are not bound to addresses (operator partner update ${partner} --bind-ips true)`,
          );
      },
    );

  command
    .command("list")
    .description("all keys, or those of one partner")
    .option("--partner <id>", "only keys of this partner", id("partner"))
    .addHelpText("after", examples("key list", "key list --partner 3 --json"))
    .action(async (options: { partner?: number }) => {
      const keys = await withDb(output(), (db) => listKeys(db, options.partner));
      output().result(keys.map(shownKey), keyTable);
    });

  withSettings(command.command("update"))
    .description("change a key's settings; takes effect on every process within 15 s")
    .argument("<id>", "the key's id", id("key"))
    .addHelpText("after", examples("key update 7 --expires never", 'key update 7 --ips ""'))
    .action(async (keyId: number, options: SettingOptions) => {
      const settings = settingsFrom(options);
      if (Object.keys(settings).length === 0)
        throw new Refusal("nothing to change: give at least one option");
      const { actor, result } = output();
      const key = await withDb(output(), async (db) => {
        const before = await inForce(db, keyId);
        refuseMisplaced(before.kind, settings);
        return inTransaction(db, async (tx) => {
          const updated = await updateKey(tx, keyId, settings);
          if (updated === null) throw new Refusal(`key ${keyId} was revoked meanwhile`, 1);
          await logAction(tx, {
            actor,
            action: "key.update",
            subject: `key ${keyId}`,
            details: { ...settings },
          });
          return updated;
        });
      });
      result(shownKey(key), card);
    });

  command
    .command("revoke")
    .description(
      "revoke a key permanently and end its sessions; takes effect on every process within 15 s",
    )
    .argument("<id>", "the key's id", id("key"))
    .option("--yes", "do not ask for confirmation")
    .addHelpText("after", examples("key revoke 7", "key revoke 7 --json"))
    .action(async (keyId: number, options: { yes?: boolean }) => {
      const out = output();
      const key = await withDb(output(), async (db) => {
        const before = await inForce(db, keyId);
        const question = `Revoke key ${keyId} (${before.prefix}…, ${before.kind}) permanently?`;
        if (!options.yes && !(await confirmed(out, question))) throw new Refusal("not revoked", 1);
        const revoked = await revokeKey(db, keyId, out.actor);
        if (revoked === null) throw new Refusal(`key ${keyId} was revoked meanwhile`, 1);
        return revoked;
      });
      out.result(shownKey(key), card);
    });

  return command;
}

/** A key for people and JSON; its text is not among what is known. */
export const shownKey = ({
  expires_at,
  revoked_at,
  last_used_at,
  created_at,
  ...key
}: IssuedKey) => ({
  ...key,
  expires: time(expires_at),
  revoked: time(revoked_at),
  last_used: time(last_used_at),
  created: time(created_at),
});

/** Keys for people, a line each. */
export const keyTable = (keys: readonly ReturnType<typeof shownKey>[]): string =>
  table(
    keys.map(
      ({
        id,
        partner_id,
        kind,
        prefix,
        label,
        domains,
        ips,
        confirm_min,
        reports,
        expires,
        revoked,
        last_used,
      }) => ({
        id,
        partner: partner_id,
        kind,
        prefix,
        label,
        bound_to: [...domains, ...ips],
        confirm_min,
        reports,
        last_used: last_used ?? "never",
        ends: revoked === null ? expires : `revoked ${revoked}`,
      }),
    ),
    "no keys yet: operator key issue --partner ID --kind secret",
  );

const withSettings = (command: Command): Command =>
  command
    .option(
      "--domains <a,b>",
      "publishable keys: only pages of these domains and their subdomains",
      domains,
    )
    .option("--ips <c,d>", "secret keys: only from these addresses and CIDR blocks", ips)
    .option(
      "--confirm-min <n>",
      "devices needed to publish: 0 for the default rules, 1, or 3 and more",
      confirmMin,
    )
    .option("--reports <true|false>", "whether it may send marks", flag("--reports"))
    .option(
      "--mass-no-limit <n>",
      "`no` marks of newcomers in an hour before further ones are held",
      integer("--mass-no-limit", 1, 1_000_000),
    )
    .option("--label <text>", "a note for yourself", line("--label", 200, "may be empty"))
    .option("--expires <time|never>", "UTC time or day when it expires", expiry(Date.now));

interface SettingOptions {
  domains?: string[];
  ips?: string[];
  confirmMin?: number;
  reports?: boolean;
  massNoLimit?: number;
  label?: string;
  expires?: Given<Date | null>;
}

function settingsFrom(options: SettingOptions): Partial<KeySettings> {
  const {
    domains: hosts,
    ips: addresses,
    confirmMin: devices,
    reports,
    massNoLimit,
    label,
    expires,
  } = options;
  const given = {
    domains: hosts,
    ips: addresses,
    confirm_min: devices,
    reports,
    mass_no_limit: massNoLimit,
    label,
    expires_at: expires?.value,
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

function refuseMisplaced(keyKind: KeyKind, settings: Partial<KeySettings>): void {
  if (keyKind === "secret" && settings.domains?.length) {
    throw new Refusal("--domains is for publishable keys: use --ips for a secret key");
  }
  if (keyKind === "publishable" && settings.ips?.length) {
    throw new Refusal("--ips is for secret keys: use --domains for a publishable key");
  }
}

async function inForce(db: Db, keyId: number): Promise<IssuedKey> {
  const key = await findKey(db, keyId);
  if (key === null) throw unknown("key", keyId, "key list");
  if (key.revoked_at !== null)
    throw new Refusal(
      `key ${keyId} is revoked permanently: \`operator key issue\` creates a new one`,
      1,
    );
  return key;
}
