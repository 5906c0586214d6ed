import { text } from "node:stream/consumers";
import { Command } from "commander";
import { choice, line, verb } from "#cli/command.ts";
import { withDb } from "#cli/instance.ts";
import { card, ExitError, type Output, table, time } from "#cli/output.ts";
import {
  createAccount,
  disableAccount,
  disableTotp,
  enableTotp,
  type MadeAccount,
  resetAccount,
  type SecretWish,
  setAccountRole,
} from "#src/operators/accounts.ts";
import {
  listOperators,
  type Operator,
  type OperatorRole,
  operatorRoles,
} from "#src/operators/operators.ts";
import { passwordMin } from "#src/operators/passwords.ts";

const name = line(80, "not empty");

/** `operator account create|list|set-role|reset|disable|enable|totp`: accounts of the console. */
export function accountCommand(output: () => Output): Command {
  const command = new Command("account").description("accounts of the console at /console/");

  const show = ({ account, secret }: MadeAccount): void => {
    output().result({ ...shown(account), ...secret }, card);
    output().note("Save it now: only a hash is stored, and it cannot be shown again.");
  };

  withSecrets(
    verb(
      command,
      "create",
      "create an account; its password or key is shown only once",
      "account create --name olga --role operator",
      "account create --name oleg --role viewer --key",
      "account create --name ivan --role viewer --password-stdin < password.txt",
    ),
  )
    .requiredOption("--name <name>", "name of the person or program", name)
    .requiredOption(
      "--role <viewer|operator>",
      "viewer: can see everything and change nothing",
      choice(operatorRoles),
    )
    .action(async ({ name, role, ...options }: Secrets & { name: string; role: OperatorRole }) => {
      const out = output();
      const secret = await secretFrom(out, options);
      show(await withDb(out, (db) => createAccount(db, out.actor, { name, role, secret })));
    });

  verb(command, "list", "all accounts", "account list", "account list --json").action(async () => {
    const accounts = await withDb(output(), (db) => listOperators(db));
    output().result(accounts.map(shown), (list) =>
      table(list, "no accounts: operator account create --name NAME --role operator"),
    );
  });

  verb(
    command,
    "set-role",
    "change the role of an account; takes effect at once",
    "account set-role oleg operator",
  )
    .argument("<name>", "the account's name", name)
    .argument("<viewer|operator>", "its new role", choice(operatorRoles))
    .action(async (who: string, role: OperatorRole) => {
      const out = output();
      const account = await withDb(out, (db) => setAccountRole(db, out.actor, who, role));
      out.result(shown(account), card);
    });

  withSecrets(
    verb(
      command,
      "reset",
      "replace the password and the key of an account with a new password or key; ends its sessions; TOTP stays unless it gets a key",
      "account reset olga",
      "account reset olga --key",
    ),
  )
    .argument("<name>", "the account's name", name)
    .action(async (who: string, options: Secrets) => {
      const out = output();
      const secret = await secretFrom(out, options);
      show(await withDb(out, (db) => resetAccount(db, out.actor, who, secret)));
    });

  for (const [word, disabled, description] of [
    ["disable", true, "disable an account and end its sessions at once"],
    ["enable", false, "enable a disabled account again"],
  ] as const) {
    verb(command, word, description, `account ${word} oleg`)
      .argument("<name>", "the account's name", name)
      .action(async (who: string) => {
        const out = output();
        const account = await withDb(out, (db) => disableAccount(db, out.actor, who, disabled));
        out.result(shown(account), card);
      });
  }
  command.addCommand(totpCommand(output));
  return command;
}

/** `operator account totp enable|disable`: a code of an authenticator app beside the password. */
function totpCommand(output: () => Output): Command {
  const command = new Command("totp").description(
    "codes of an authenticator app (TOTP) beside a password",
  );
  verb(
    command,
    "enable",
    "ask an account for a code at each sign-in; what the app needs is shown only once; ends its sessions",
    "account totp enable olga",
  )
    .argument("<name>", "the account's name", name)
    .action(async (who: string) => {
      const out = output();
      const made = await withDb(out, async (db, { reporterPepper }) => {
        if (reporterPepper === "")
          throw new ExitError(
            "set REPORTER_PEPPER to that of the service: it encrypts the secret",
            1,
          );
        return enableTotp(db, out.actor, who, reporterPepper);
      });
      const { account, secret, address } = made;
      out.result({ ...shown(account), secret, address }, card);
      out.note(
        "Enter the secret into the app, or make a QR code of the address. Then clear the screen.",
      );
    });
  verb(
    command,
    "disable",
    "ask an account for no code any more, for example when the app is lost; ends its sessions",
    "account totp disable olga",
  )
    .argument("<name>", "the account's name", name)
    .action(async (who: string) => {
      const out = output();
      out.result(shown(await withDb(out, (db) => disableTotp(db, out.actor, who))), card);
    });
  return command;
}

interface Secrets {
  passwordStdin?: boolean;
  key?: boolean;
}

const withSecrets = (command: Command): Command =>
  command
    .option("--password-stdin", `read the password from stdin, ${passwordMin} characters or more`)
    .option("--key", "create an operator key instead of a password");

async function secretFrom(
  { stdin }: Output,
  { passwordStdin = false, key = false }: Secrets,
): Promise<SecretWish> {
  if (passwordStdin && key) throw new ExitError("use either --password-stdin or --key, not both");
  if (passwordStdin) return { password: (await text(stdin)).replace(/\r?\n$/, "") };
  return key ? "key" : "password";
}

const shown = (account: Operator) => ({
  id: account.id,
  name: account.name,
  role: account.role,
  signs_in_with: account.has_password ? "password" : account.key_prefix && `${account.key_prefix}…`,
  totp: account.has_totp,
  disabled: time(account.disabled_at),
  last_sign_in: time(account.last_sign_in_at),
  created: time(account.created_at),
});
