import { saveSecrets, secretsOf } from "#demo/secrets.ts";
import { loadConfig } from "#src/infrastructure/config.ts";
import { createDb, inTransaction } from "#src/infrastructure/db.ts";
import { createOperator, credentialsFit, findOperator } from "#src/operators/operators.ts";
import { hashPassword, newPassword } from "#src/operators/passwords.ts";

export interface DemoOperator {
  name: string;
  password: string;
}

const name = "demo";

/**
 * The account that opens the console of a trial, made when there is none. Its password is kept with the secrets; null
 * when it is not good any more, because somebody has reset or disabled the account, which is then left alone.
 */
export async function demoOperator(
  env: NodeJS.ProcessEnv,
  dataDir: string,
): Promise<DemoOperator | null> {
  const db = createDb(loadConfig(env), "demo operator", 2);
  try {
    const kept = secretsOf(dataDir).operator;
    if ((await findOperator(db, name)) !== null) {
      const good = kept !== undefined && (await credentialsFit(db, kept));
      return good ? kept : null;
    }
    const made = { name, password: newPassword() };
    saveSecrets(dataDir, { ...secretsOf(dataDir), operator: made });
    const password = await hashPassword(made.password);
    await inTransaction(db, (tx) => createOperator(tx, { name, role: "operator", password }));
    return made;
  } finally {
    await db.destroy();
  }
}
