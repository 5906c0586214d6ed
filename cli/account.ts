import { randomBytes } from "node:crypto";
import { text } from "node:stream/consumers";
import { Command } from "commander";
import { examples } from "#cli/examples.ts";
import { withDb } from "#cli/instance.ts";
import { card, table, time, type Output } from "#cli/output.ts";
import { Refusal, unknown } from "#cli/refusal.ts";
import { choice, line } from "#cli/values.ts";
import { inTransaction, type Tx } from "#src/infrastructure/db.ts";
import { newKey } from "#src/keys/key-text.ts";
import { logAction } from "#src/operators/operator-log.ts";
import {
  changeOperator,
  createOperator,
  findOperator,
  listOperators,
  type Operator,
  type OperatorRole,
  operatorRoles,
  type OperatorSecrets,
} from "#src/operators/operators.ts";
import { hashPassword, newPassword, passwordMax, passwordMin } from "#src/operators/passwords.ts";
import { endSessionsOf } from "#src/operators/sessions.ts";

const name = line("the name", 80, "not empty");
const role = choice("--role", operatorRoles);

/** `operator account create|list|set-role|reset|disable|enable`: who may sign in to the console. */
export function accountCommand(output: () => Output): Command {
  const command = new Command("account").description("accounts of the console at /console/");

  withSecrets(command.command("create"))
    .description("create an account; its password or key is shown only once")
    .requiredOption("--name <name>", "name of the person or program", name)
    .requiredOption(
      "--role <viewer|operator>",
      "viewer: can see everything and change nothing",
      role,
    )
    .addHelpText(
      "after",
      examples(
        "account create --name olga --role operator",
        "account create --name oleg --role viewer --key",
        "account create --name ivan --role viewer --password-stdin < password.txt",
      ),
    )
    .action(async (options: SecretOptions & { name: string; role: OperatorRole }) => {
      const out = output();
      const { stored, shown: secrets } = await secretsFrom(output(), options);
      const made = await withDb(output(), (db) =>
        inTransaction(db, async (tx) => {
          const { name: given, role: asked } = options;
          const account = await createOperator(tx, { name: given, role: asked, ...stored });
          if (account === null) throw new Refusal(`an account ${given} already exists`, 1);
          await note(tx, out, "create", account, { role: asked, ...kinds(secrets) });
          return account;
        }),
      );
      out.result({ ...shown(made), ...secrets }, card);
      out.note("Save it now: only a hash is stored, and it cannot be shown again.");
    });

  command
    .command("list")
    .description("all accounts")
    .addHelpText("after", examples("account list", "account list --json"))
    .action(async () => {
      const accounts = await withDb(output(), (db) => listOperators(db));
      output().result(accounts.map(shown), (list) =>
        table(list, "no accounts: operator account create --name NAME --role operator"),
      );
    });

  command
    .command("set-role")
    .description("change the role of an account; takes effect at once")
    .argument("<name>", "the account's name", name)
    .argument("<viewer|operator>", "its new role", choice("the role", operatorRoles))
    .addHelpText("after", examples("account set-role oleg operator"))
    .action(async (who: string, to: OperatorRole) => {
      const out = output();
      await change(out, "set-role", who, { role: to }, { role: to });
    });

  withSecrets(command.command("reset"))
    .description(
      "replace the password and the key of an account with a new password or key; ends its sessions",
    )
    .argument("<name>", "the account's name", name)
    .addHelpText("after", examples("account reset olga", "account reset olga --key"))
    .action(async (who: string, options: SecretOptions) => {
      const out = output();
      const { stored, shown: secrets } = await secretsFrom(output(), options);
      const replaced = { password: null, key: null, ...stored };
      await change(out, "reset", who, replaced, kinds(secrets), secrets);
      out.note("Save it now: only a hash is stored, and it cannot be shown again.");
    });

  for (const [verb, disabled] of [
    ["disable", true],
    ["enable", false],
  ] as const) {
    command
      .command(verb)
      .description(
        disabled
          ? "disable an account and end its sessions at once"
          : "enable a disabled account again",
      )
      .argument("<name>", "the account's name", name)
      .addHelpText("after", examples(`account ${verb} oleg`))
      .action(async (who: string) => change(output(), verb, who, { disabled }, {}));
  }
  return command;
}

interface SecretOptions {
  passwordStdin?: boolean;
  key?: boolean;
}

const withSecrets = (command: Command): Command =>
  command
    .option("--password-stdin", `read the password from stdin, ${passwordMin} characters or more`)
    .option("--key", "create an operator key instead of a password");

/** What is stored of an account's secret, and what is shown of it once: a password that was typed in is not. */
async function secretsFrom(
  { stdin }: Output,
  { passwordStdin = false, key: asksKey = false }: SecretOptions,
): Promise<{
  stored: OperatorSecrets;
  shown: { password?: string; key?: string };
}> {
  if (passwordStdin && asksKey) throw new Refusal("use either --password-stdin or --key, not both");
  if (asksKey) {
    const key = newKey("operator", randomBytes(32));
    return { stored: { key }, shown: { key } };
  }
  const password = passwordStdin ? await typedPassword(stdin) : newPassword();
  const stored = { password: await hashPassword(password) };
  return { stored, shown: passwordStdin ? {} : { password } };
}

async function typedPassword(stdin: Output["stdin"]): Promise<string> {
  const typed = (await text(stdin)).replace(/\r?\n$/, "");
  const { length } = [...typed];
  if (length < passwordMin || length > passwordMax)
    throw new Refusal(`the password must have ${passwordMin} to ${passwordMax} characters`);
  return typed;
}

/** Changes one account; its sessions end unless only its role changes. */
async function change(
  out: Output,
  verb: string,
  who: string,
  changes: Parameters<typeof changeOperator>[2],
  details: object,
  secrets: object = {},
): Promise<void> {
  const changed = await withDb(out, (db) =>
    inTransaction(db, async (tx) => {
      const found = await findOperator(tx, who);
      if (found === null) throw unknown("account", who, "account list");
      const account = await changeOperator(tx, found.id, changes);
      if (account === null) throw new Error("an account is gone");
      if (verb !== "set-role") await endSessionsOf(tx, "operator", account.id);
      await note(tx, out, verb, account, details);
      return account;
    }),
  );
  out.result({ ...shown(changed), ...secrets }, card);
}

/** Which kind of secret was given; never the secret itself. */
const kinds = (secrets: object): object => ({ given: Object.keys(secrets)[0] ?? "password" });

const note = (
  tx: Tx,
  { actor }: Output,
  verb: string,
  account: Operator,
  details: object,
): Promise<void> =>
  logAction(tx, {
    actor,
    action: `account.${verb}`,
    subject: `account ${account.name}`,
    details: { ...details },
  });

const shown = ({
  has_password,
  key_prefix,
  disabled_at,
  last_sign_in_at,
  ...account
}: Operator) => ({
  id: account.id,
  name: account.name,
  role: account.role,
  signs_in_with: has_password ? "password" : key_prefix === null ? null : `${key_prefix}…`,
  disabled: time(disabled_at),
  last_sign_in: time(last_sign_in_at),
  created: time(account.created_at),
});
