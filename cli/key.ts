import { Command } from "commander";
import { actVerb, byOf } from "#cli/act-verb.ts";
import { consent, id, verb, yesOption } from "#cli/command.ts";
import { withDb } from "#cli/instance.ts";
import { card, readable, table, type Output } from "#cli/output.ts";
import {
  alreadyRevoked,
  changeKey,
  findKey,
  issueKey,
  limitKey,
  listKeys,
  revokeKey,
  type IssuedKey,
} from "#src/keys/issued-keys.ts";
import { refuseAbsentPartner } from "#src/keys/partners.ts";
import { unknown } from "#src/operators/act.ts";

/** `operator key issue|list|update|revoke`. */
export function keyCommand(output: () => Output): Command {
  const command = new Command("key").description("keys of partners");

  actVerb(command, output, issueKey, {
    name: "issue",
    about: "create a new key; it is shown only once",
    examples: [
      "key issue --partner 3 --kind secret --ips 203.0.113.7,2001:db8::/32 --expires 2027-01-01",
      "key issue --partner 3 --kind publishable --domains maps.example --reports false",
    ],
    options: {
      ...settings,
      partner_id: ["--partner <id>", "the partner of the key"],
      kind: ["--kind <secret|publishable>", "secret: for servers, publishable: for web pages"],
    },
    shown({ key, text }) {
      const { id, ...rest } = readable(key);
      return { id, key: text, ...rest };
    },
    notes: ({ key, bound }) => [
      "Save the key now: only its hash is stored, and it cannot be shown again.",
      ...unbound(key),
      ...(key.ips.length > 0 && !bound
        ? [
            `Its addresses have no effect: this partner's keys are not bound to addresses (operator partner update ${key.partner_id} --bind-ips true)`,
          ]
        : []),
    ],
  });

  verb(command, "list", "all keys, or those of one partner", "key list", "key list --partner 3")
    .option("--partner <id>", "only keys of this partner", id)
    .action(async ({ partner }: { partner?: number }) => {
      const keys = await withDb(
        output(),
        async (db) => (await refuseAbsentPartner(db, partner)) ?? listKeys(db, partner),
      );
      output().result(keys.map(readable), keyTable);
    });

  const subject = ["<id>", "the key's id"] as const;
  actVerb(command, output, changeKey, {
    name: "update",
    about: "change a key's settings; takes effect on every process within 15 s",
    examples: ["key update 7 --expires never", 'key update 7 --ips ""'],
    ...{ subject, options: settings, shown: readable },
    notes: (key, { domains }) => (domains === undefined ? [] : unbound(key)),
  });
  actVerb(command, output, limitKey, {
    name: "limit",
    about:
      "limit how many stations a key may harmfully change in an hour, until a time; `now` ends that",
    examples: ["key limit 7 --to 2 --until 2027-01-15", "key limit 7 --until now"],
    ...{ subject, shown: readable },
    options: {
      to: ["--to <n>", "stations in an hour", { fallback: 1 }],
      until: ["--until <time|now>", "UTC time or day when its usual limit holds again"],
    },
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
      const key = await withDb(out, async (db, config) => {
        const before = await findKey(db, keyId);
        if (before === null) return unknown("key", keyId);
        if (before.revoked_at !== null) return alreadyRevoked(keyId);
        const question = `Revoke key ${keyId} (${before.prefix}…, ${before.kind}) permanently?`;
        await consent(out, yes, question, "not revoked");
        return revokeKey(await byOf(out, db, config), {}, keyId);
      });
      out.result(readable(key), card);
    });

  return command;
}

/** A publishable key works only on the pages of its domains: without any it seems broken to its holder. */
const unbound = ({ id, kind, domains }: IssuedKey): string[] =>
  kind === "publishable" && domains.length === 0
    ? [
        `No other website can use this key: it has no domains, so their pages get 403 (operator key update ${id} --domains maps.example)`,
      ]
    : [];

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

const settings = {
  domains: [
    "--domains <a,b>",
    "publishable keys: only pages of these domains and their subdomains",
  ],
  ips: ["--ips <c,d>", "secret keys: only from these addresses and CIDR blocks"],
  confirm_min: [
    "--confirm-min <n>",
    "devices needed to publish: 0 for the default rules, 1, or 3 and more",
  ],
  reports: ["--reports <true|false>", "whether it may send marks"],
  mass_no_limit: [
    "--mass-no-limit <n>",
    "stations that it may harmfully change in an hour before further marks are held",
  ],
  label: ["--label <text>", "a note for yourself"],
  expires: ["--expires <time|never>", "UTC time or day when it expires"],
} as const;
