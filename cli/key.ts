import { Command } from "commander";
import { consent, verb, yesOption } from "#cli/command.ts";
import { withDb } from "#cli/instance.ts";
import { card, readable, table, type Output } from "#cli/output.ts";
import { ExitError, exitErrorOf } from "#cli/exit-error.ts";
import { choice, entries, flag, id, integer, line, moment, wordOr } from "#cli/values.ts";
import { databaseNow } from "#src/infrastructure/clock.ts";
import {
  alreadyRevoked,
  changeKey,
  findKey,
  issueKey,
  keyBounds,
  keyLabelMax,
  type KeyWish,
  limitKey,
  listKeys,
  revokeKey,
  type IssuedKey,
} from "#src/keys/issued-keys.ts";
import type { KeyKind } from "#src/keys/key-text.ts";
import { refuseAbsentPartner } from "#src/keys/partners.ts";
import { unknown } from "#src/operators/act.ts";

const kind = choice(["secret", "publishable"]);

/** `operator key issue|list|update|revoke`. */
export function keyCommand(output: () => Output): Command {
  const command = new Command("key").description("keys of partners");

  withSettings(
    verb(
      command,
      "issue",
      "create a new key; it is shown only once",
      "key issue --partner 3 --kind secret --ips 203.0.113.7,2001:db8::/32 --expires 2027-01-01",
      "key issue --partner 3 --kind publishable --domains maps.example --reports false",
    ),
  )
    .requiredOption("--partner <id>", "the partner of the key", id)
    .requiredOption(
      "--kind <secret|publishable>",
      "secret: for servers, publishable: for web pages",
      kind,
    )
    .action(
      async ({ partner, kind, ...options }: Settings & { partner: number; kind: KeyKind }) => {
        const out = output();
        const { key, text, bound } = await withDb(out, async (db, config) => {
          const context = { now: await databaseNow(db), massNoLimit: config.massNoLimit };
          return issueKey(db, out.actor, { ...wish(options), partner_id: partner, kind }, context);
        });
        const { id: keyId, ...rest } = readable(key);
        out.result({ id: keyId, key: text, ...rest }, card);
        out.note("Save the key now: only its hash is stored, and it cannot be shown again.");
        noteUnbound(out, key);
        if (key.ips.length > 0 && !bound)
          out.note(
            `Its addresses have no effect: this partner's keys are not bound to addresses (operator partner update ${partner} --bind-ips true)`,
          );
      },
    );

  verb(command, "list", "all keys, or those of one partner", "key list", "key list --partner 3")
    .option("--partner <id>", "only keys of this partner", id)
    .action(async ({ partner }: { partner?: number }) => {
      const keys = await withDb(
        output(),
        async (db) => (await refuseAbsentPartner(db, partner)) ?? listKeys(db, partner),
      );
      output().result(keys.map(readable), keyTable);
    });

  withSettings(
    verb(
      command,
      "update",
      "change a key's settings; takes effect on every process within 15 s",
      "key update 7 --expires never",
      'key update 7 --ips ""',
    ),
  )
    .argument("<id>", "the key's id", id)
    .action(async (keyId: number, options: Settings) => {
      if (Object.keys(options).length === 0)
        throw new ExitError("nothing to change: give at least one option");
      const out = output();
      const key = await withDb(out, async (db) =>
        changeKey(db, out.actor, keyId, wish(options), await databaseNow(db)),
      );
      out.result(readable(key), card);
      if (options.domains !== undefined) noteUnbound(out, key);
    });

  verb(
    command,
    "limit",
    "limit how many stations a key may harmfully change in an hour, until a time; `now` ends that",
    "key limit 7 --to 2 --until 2027-01-15",
    "key limit 7 --until now",
  )
    .argument("<id>", "the key's id", id)
    .option("--to <n>", "stations in an hour", integer(...keyBounds.mass_no_limit), 1)
    .requiredOption(
      "--until <time|now>",
      "UTC time or day when its usual limit holds again",
      wordOr("now", moment),
    )
    .action(async (keyId: number, { to, until }: { to: number; until: number | "now" }) => {
      const out = output();
      const key = await withDb(out, async (db) => {
        const limit = until === "now" ? null : { to, until };
        return limitKey(db, out.actor, keyId, limit, await databaseNow(db));
      });
      out.result(readable(key), card);
    });

  verb(
    command,
    "revoke",
    "revoke a key permanently and end its sessions; takes effect on every process within 15 s",
    "key revoke 7",
    "key revoke 7 --json",
  )
    .argument("<id>", "the key's id", id)
    .option(...yesOption)
    .action(async (keyId: number, { yes }: { yes?: boolean }) => {
      const out = output();
      const key = await withDb(out, async (db) => {
        const before = await findKey(db, keyId);
        if (before === null) return unknown("key", keyId);
        if (before.revoked_at !== null) throw exitErrorOf(alreadyRevoked(keyId));
        const question = `Revoke key ${keyId} (${before.prefix}…, ${before.kind}) permanently?`;
        await consent(out, yes, question, "not revoked");
        return revokeKey(db, out.actor, keyId);
      });
      out.result(readable(key), card);
    });

  return command;
}

/** A publishable key works on the pages of its domains only: without any it looks broken to who gets it. */
function noteUnbound({ note }: Output, { id, kind, domains }: IssuedKey): void {
  if (kind === "publishable" && domains.length === 0)
    note(
      `No other website can use this key: it has no domains, so their pages get 403 (operator key update ${id} --domains maps.example)`,
    );
}

/** Keys for people, a line each. */
export const keyTable = (keys: readonly ReturnType<typeof readable<IssuedKey>>[]): string =>
  table(
    keys.map((key) => ({
      id: key.id,
      partner: key.partner_id,
      kind: key.kind,
      prefix: key.prefix,
      label: key.label,
      bound_to: [...key.domains, ...key.ips],
      confirm_min: key.confirm_min,
      reports: key.reports,
      last_used: key.last_used ?? "never",
      ends: key.revoked === null ? key.expires : `revoked ${key.revoked}`,
    })),
    "no keys yet: operator key issue --partner ID --kind secret",
  );

const withSettings = (command: Command): Command =>
  command
    .option(
      "--domains <a,b>",
      "publishable keys: only pages of these domains and their subdomains",
      entries,
    )
    .option("--ips <c,d>", "secret keys: only from these addresses and CIDR blocks", entries)
    .option(
      "--confirm-min <n>",
      "devices needed to publish: 0 for the default rules, 1, or 3 and more",
      integer(...keyBounds.confirm_min),
    )
    .option("--reports <true|false>", "whether it may send marks", flag)
    .option(
      "--mass-no-limit <n>",
      "`no` marks of newcomers in an hour before further ones are held",
      integer(...keyBounds.mass_no_limit),
    )
    .option("--label <text>", "a note for yourself", line(keyLabelMax, "may be empty"))
    .option("--expires <time|never>", "UTC time or day when it expires", wordOr("never", moment));

interface Settings extends Pick<KeyWish, "domains" | "ips" | "reports" | "label"> {
  confirmMin?: number;
  massNoLimit?: number;
  expires?: number | "never";
}

const wish = ({ confirmMin, massNoLimit, expires, ...others }: Settings): KeyWish => ({
  ...others,
  confirm_min: confirmMin,
  mass_no_limit: massNoLimit,
  expires: expires === "never" ? null : expires,
});
